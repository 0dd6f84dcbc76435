package import Ingest
package import Logging
package import Market
package import NIOCore
import TLS

/// Finnhub's service as a feed: one connection, opened again and again, for a ``FinnhubClient``.
///
/// Belongs to the tape's event loop.
package final class FinnhubFeed: Feed {
    private let client: FinnhubClient
    let link: ReconnectingConnection

    /// - Parameters:
    ///   - connector: the way to the service.
    ///   - takeover: why this feed takes the place of another program's; `nil` where it does not.
    init(_ client: FinnhubClient, connector: any Connecting, takeover: String? = nil) {
        self.client = client
        var keeping = ReconnectingConnection.Settings(connector: connector, backoff: client.settings.backoff)
        keeping.secret = client.settings.key
        keeping.holding = client.settings.holding
        keeping.takeover = takeover
        self.link = ReconnectingConnection(keeping, client.context)
        self.link.delegate = self
    }

    /// Makes a feed with a client of its own, for a key that no other program has.
    package convenience init(
        _ settings: FinnhubSettings,
        _ tape: TapeWriter,
        connector: any Connecting,
        _ context: FeedContext
    ) {
        self.init(FinnhubClient(settings, tape, context), connector: connector)
    }

    package var status: FeedStatus { self.client.status }

    package var finished: EventLoopFuture<Void> { self.link.finished.futureResult }

    package func start() {
        self.client.followMarks(until: self.finished)
        self.client.publishChanges()
        self.link.start()
    }

    package func stop() { self.link.stop() }

    package func abandon() { self.link.abandon() }

    package func setReading(_ isReading: Bool) { self.link.setReading(isReading) }

    package func renew() -> ConnectionRenewal { self.link.renew() }

    package func subscriptionsChanged(_ changes: [SubscriptionChange]) { self.client.subscriptionsChanged(changes) }
}

extension FinnhubFeed: ReconnectingConnectionDelegate {
    package func connectionOpened(_ channel: any Channel, isRelay: Bool) throws -> any KeptConnection {
        let settings = self.client.settings
        return try self.client.connectionOpened(
            channel,
            address: settings.key.redacted("\(settings.upstream)"),
            isRelayed: isRelay,
            link: self.link
        )
    }

    package func connectionReported(_ phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause?) {
        self.client.connectionReported(phase, reason: reason, cause: cause)
    }
}

extension FinnhubFeed {
    /// Makes the feed of a key, which has not begun: one that shares the key where other programs may have it, too.
    ///
    /// - Parameters:
    ///   - tape: where the trades go; the feed belongs to its loop.
    ///   - wallClock: ns since 1970.
    ///   - chance: drawn evenly from 0 to 1, for the jitter.
    /// - Throws: ``TLSError`` when the trust roots cannot be used.
    package static func make(
        _ settings: FinnhubSettings,
        into tape: NIOLoopBound<TapeWriter>,
        loop: any EventLoop,
        logger: Logger,
        wallClock: @escaping @Sendable () -> Int64,
        chance: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
    ) async throws -> FeedService {
        let connector = try UpstreamConnector(settings.connector, wallClock: wallClock)
        return try await loop.submit {
            let context = FeedContext(loop: loop, wallClock: wallClock, chance: chance, logger: logger)
            guard let lock = settings.holding.ownership else {
                return FeedService(FinnhubFeed(settings, tape.value, connector: connector, context), on: loop)
            }
            let client = FinnhubClient(settings, tape.value, context)
            let feed = SharedKeyFeed(client, lock: lock, connector: connector) { relay, path in
                try UpstreamConnector(settings.connector(to: relay, path: path), wallClock: wallClock)
            }
            return FeedService(feed, on: loop)
        }.get()
    }
}
