import Ingest
import Market
package import NIOCore
import ServiceLifecycle
package import Wire

/// A feed as a service of the program. Its methods may be called on any thread, unless they say otherwise.
package final class FeedService: Service, FlowControl {
    /// The event loop to which the feed belongs.
    package let loop: any EventLoop
    private let feed: NIOLoopBound<any Feed>
    private let finished: EventLoopFuture<Void>

    /// Takes a feed that has not started; called on its loop.
    package init(_ feed: any Feed, on loop: any EventLoop) {
        self.loop = loop
        self.feed = NIOLoopBound(feed, eventLoop: loop)
        self.finished = feed.finished
    }

    /// The feed; only on the loop.
    package var value: any Feed { self.feed.value }

    /// Runs until the task is cancelled or shut down, a replay is over, or only a person can correct a failure.
    ///
    /// - Throws: ``UpstreamFailure``, for example with the disposition `keyRejected`.
    package func run() async throws {
        let feed = self.feed
        let loop = self.loop
        loop.execute { feed.value.start() }
        try await self.wait(for: self.finished) { self.stop() }
    }

    /// Stops the feed. ``run()`` then returns within the time limit of the closing handshake.
    package func stop() {
        let feed = self.feed
        self.loop.execute { feed.value.stop() }
    }

    /// Replaces the connection by a new one, or makes the next attempt now, unless the service has asked for a pause.
    package func reconnect() async -> ConnectionRenewal {
        let feed = self.feed
        return (try? await self.loop.submit { feed.value.renew() }.get()) ?? .over
    }

    /// Notes the symbol whose missing trades matter most, the one on a screen; `nil` for none.
    package func prefer(_ symbol: String?) {
        let feed = self.feed
        self.loop.execute { feed.value.prefer(symbol) }
    }

    /// Changes to another key. Of several calls on one thread the last one counts.
    ///
    /// - Parameter ended: called once, on the loop, when the present or the new key is settled, which may take minutes.
    package func change(to access: KeyAccess, ended: @escaping @Sendable (KeyChange) -> Void) {
        let feed = self.feed
        self.loop.execute { feed.value.change(to: access, ended: ended) }
    }

    /// Ends a change of the key that is under way.
    package func keepKey() {
        let feed = self.feed
        self.loop.execute { feed.value.keepKey() }
    }

    /// Stops reading from the service until ``resume()``.
    package func pause() {
        let feed = self.feed
        self.loop.execute { feed.value.setReading(false) }
    }

    /// Resumes reading from the service.
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

extension Service {
    /// Waits for the end of this service, and stops it when the task is cancelled or shut down.
    func wait(for end: EventLoopFuture<Void>, stop: @escaping @Sendable () -> Void) async throws {
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                try await end.get()
            } onGracefulShutdown: {
                stop()
            }
        } onCancel: {
            stop()
        }
    }
}
