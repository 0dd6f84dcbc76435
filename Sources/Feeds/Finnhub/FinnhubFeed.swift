package import Ingest
package import Logging
package import Market
package import NIOCore
import TLS

/// Finnhub's service as a feed: the connection of a ``FinnhubClient``, opened again after each end.
///
/// Belongs to the tape's event loop.
package final class FinnhubFeed: ClientFeed<FinnhubClient> {
    /// - Parameter takeover: the reason why this feed replaces another program's connection; `nil` if it does not.
    init(_ client: FinnhubClient, _ access: KeyAccess, takeover: String? = nil) {
        super.init(client, access.settings(client.settings, takeover: takeover), client.context)
        self.link.delegate = self
    }

    /// Takes a connection with the client's key that is being opened, or is open.
    override init(_ client: FinnhubClient, taking link: ReconnectingConnection) {
        super.init(client, taking: link)
        self.link.delegate = self
    }

    /// Creates a feed with its own client, for a key that no other program uses.
    package convenience init(
        _ settings: FinnhubSettings,
        _ tape: TapeWriter,
        connector: any Connecting,
        _ context: FeedContext
    ) {
        let access = KeyAccess(key: settings.key, holding: settings.holding, connector: connector)
        self.init(FinnhubClient(settings, tape, context), access)
    }

    /// Ends the connection with a closing handshake and without a status, because a feed with another key has taken its
    /// place.
    func yield() {
        self.link.delegate = nil
        self.link.stop()
    }

    package override func start() {
        self.client.followMarks(until: self.finished)
        super.start()
    }
}

extension FinnhubFeed: ReconnectingConnectionDelegate {
    package func connectionOpened(_ channel: any Channel, isRelay: Bool) throws -> any KeptConnection {
        try self.client.connectionOpened(
            channel,
            address: self.client.redacted("\(self.client.settings.upstream)"),
            isRelayed: isRelay,
            link: self.link
        )
    }

    package func connectionReported(_ phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause?) {
        self.client.connectionReported(phase, reason: reason, cause: cause)
    }
}

extension FinnhubFeed {
    /// Creates the feed of a key, which has not started. If other programs may use the key, the feed shares it.
    ///
    /// - Parameters:
    ///   - tape: takes the trades; the feed belongs to its loop.
    ///   - wallClock: ns since 1970.
    ///   - chance: uniformly distributed from 0 to 1, for the jitter.
    /// - Throws: ``TLSError`` if the trust roots cannot be used.
    package static func make(
        _ settings: FinnhubSettings,
        into tape: NIOLoopBound<TapeWriter>,
        loop: any EventLoop,
        logger: Logger,
        wallClock: @escaping @Sendable () -> Int64,
        chance: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
    ) async throws -> FeedService {
        let access = try KeyAccess(settings, wallClock: wallClock)
        return try await loop.submit {
            let context = FeedContext(loop: loop, wallClock: wallClock, chance: chance, logger: logger)
            let client = FinnhubClient(settings, tape.value, context)
            guard settings.holding.ownership != nil else { return FeedService(FinnhubFeed(client, access), on: loop) }
            let feed = SharedKeyFeed(client, access) { relay, path in
                try UpstreamConnector(settings.connector(to: relay, path: path), wallClock: wallClock)
            }
            return FeedService(feed, on: loop)
        }.get()
    }
}
