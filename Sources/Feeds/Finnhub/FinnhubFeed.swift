package import Ingest
package import Logging
import Market
package import NIOCore
import ServiceLifecycle
import TLS
package import Wire

/// Finnhub's trades as a service: one connection, kept for as long as it runs.
///
/// Everything of it lives on one event loop; the methods here may be called from anywhere.
package final class FinnhubFeed: Service, FlowControl {
    /// The loop on which everything of it lives.
    package let loop: any EventLoop
    private let supervisor: NIOLoopBound<FinnhubSupervisor>
    private let finished: EventLoopFuture<Void>

    /// Makes a feed that has not begun.
    ///
    /// - Parameters:
    ///   - loop: the loop on which the socket, the parser, the tape and all readers' calls are.
    ///   - epoch: names this run's numbers.
    ///   - wallClock: ns since 1970.
    ///   - chance: drawn evenly from 0 to 1, for the jitter.
    /// - Throws: ``TLSError`` when the trust roots cannot be used.
    package static func make(
        settings: FinnhubSettings,
        loop: any EventLoop,
        epoch: UInt64,
        readers: [any TapeReader],
        logger: Logger,
        wallClock: @escaping @Sendable () -> Int64,
        chance: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
    ) async throws -> FinnhubFeed {
        let connector = try UpstreamConnector(settings.connector, wallClock: wallClock)
        return try await loop.submit {
            let supervisor = FinnhubSupervisor(
                settings: settings,
                tape: TapeWriter(epoch: epoch, readers: readers),
                loop: loop,
                wallClock: wallClock,
                logger: logger
            )
            let finished = supervisor.supervise(
                with: connector,
                relays: { relay, path in
                    try UpstreamConnector(settings.connector(to: relay, path: path), wallClock: wallClock)
                },
                chance: chance
            )
            return FinnhubFeed(loop: loop, supervisor: supervisor, finished: finished)
        }.get()
    }

    private init(loop: any EventLoop, supervisor: FinnhubSupervisor, finished: EventLoopFuture<Void>) {
        self.loop = loop
        self.supervisor = NIOLoopBound(supervisor, eventLoop: loop)
        self.finished = finished
    }

    /// Runs until it is told to stop, a replay is over, or only a person can mend what is wrong.
    ///
    /// - Throws: ``UpstreamFailure`` with the disposition `keyRejected`.
    package func run() async throws {
        let supervisor = self.supervisor
        let loop = self.loop
        loop.execute { supervisor.value.start() }
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
        let supervisor = self.supervisor
        self.loop.execute { supervisor.value.stop() }
    }

    /// Gives up the connection for a new one, or makes the next attempt now; not while the service wants to be left alone.
    package func reconnect() async -> ConnectionRenewal {
        let supervisor = self.supervisor
        return (try? await self.loop.submit { supervisor.value.renew() }.get()) ?? .over
    }

    /// Holds the service back: nothing is read until ``resume()``.
    package func pause() {
        let supervisor = self.supervisor
        self.loop.execute { supervisor.value.setReading(false) }
    }

    /// Lets the service go on.
    package func resume() {
        let supervisor = self.supervisor
        self.loop.execute { supervisor.value.setReading(true) }
    }
}

extension FinnhubFeed: SubscribingFeed {
    /// Asks the service for what is subscribed to, now and after every reconnect, and no more for the rest.
    package func subscriptionsChanged(_ changes: [SubscriptionChange]) {
        self.supervisor.value.subscriptionsChanged(changes)
    }
}
