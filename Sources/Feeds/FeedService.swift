package import Ingest
import Market
package import NIOCore
import ServiceLifecycle
import Wire

/// A feed as a service of the program; its methods may be called from anywhere.
package final class FeedService: Service, FlowControl {
    /// The loop on which everything of it lives.
    package let loop: any EventLoop
    private let feed: NIOLoopBound<any Feed>
    private let finished: EventLoopFuture<Void>

    /// Takes a feed that has not begun; on its loop.
    package init(_ feed: any Feed, on loop: any EventLoop) {
        self.loop = loop
        self.feed = NIOLoopBound(feed, eventLoop: loop)
        self.finished = feed.finished
    }

    /// Runs until it is told to stop, a replay is over, or only a person can mend what is wrong.
    ///
    /// - Throws: ``UpstreamFailure`` with the disposition `keyRejected`.
    package func run() async throws {
        let feed = self.feed
        let loop = self.loop
        loop.execute { feed.value.start() }
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                try await self.finished.get()
            } onGracefulShutdown: {
                self.stop()
            }
        } onCancel: {
            self.stop()
        }
    }

    /// Ends the feed; ``run()`` then returns within the closing handshake's limit.
    package func stop() {
        let feed = self.feed
        self.loop.execute { feed.value.stop() }
    }

    /// Gives up the connection for a new one, or makes the next attempt now; not while the service wants to be left alone.
    package func reconnect() async -> ConnectionRenewal {
        let feed = self.feed
        return (try? await self.loop.submit { feed.value.renew() }.get()) ?? .over
    }

    /// Holds the service back: nothing is read until ``resume()``.
    package func pause() {
        let feed = self.feed
        self.loop.execute { feed.value.setReading(false) }
    }

    /// Lets the service go on.
    package func resume() {
        let feed = self.feed
        self.loop.execute { feed.value.setReading(true) }
    }
}

extension FeedService: SubscribingFeed {
    package func subscriptionsChanged(_ changes: [SubscriptionChange]) {
        self.feed.value.subscriptionsChanged(changes)
    }
}
