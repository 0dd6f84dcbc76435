package import TLS
package import Logging
package import Market
package import NIOCore
import ServiceLifecycle
import WebSocket
package import Wire

/// A running relay's prices as a feed: what `watch` shows.
///
/// It tells two states apart: the relay's own word of its upstream while the link to the relay stands, and the link's
/// state while it does not. After a break it goes on where it left off (``StreamReading``).
package final class StreamFeed: Service {
    /// What the feed is told when it is made.
    package struct Settings: Sendable {
        /// The relay's address; the path is `/v1/stream` where it is only `/`.
        package var relay: UpstreamAddress
        /// The symbols to watch; none means all that the relay has.
        package var symbols: [String]
        /// Whether every trade of a break is wanted, each as a snapshot with its age, and not only the newest.
        package var takesEveryTrade = false
        package var dial = DialSettings()
        /// What the relay wants to be shown, if anything.
        package var token: Secret?
        package var upgradeTimeout = FinnhubSettings.Options().upgradeTimeout
        package var backoff: ReconnectBackoff.Settings

        package init(relay: UpstreamAddress, symbols: [String]) {
            self.relay = relay
            self.symbols = symbols
            self.backoff = ReconnectBackoff.Settings()
            // The relay is near and ours: no need to wait a minute for it.
            self.backoff.limit = 5_000_000_000
            // An attempt that comes to nothing carries nothing for 0 ns, and must climb.
            self.backoff.settled = 1_000_000_000
            // How short a relay's connections are says nothing about a key.
            self.backoff.briefLimit = .max
        }
    }

    /// What the feed tells; called on its loop, in order.
    package enum Event: Sendable {
        /// A message of the relay, as far as it is news. An error of the relay comes as what it means: the state of a symbol,
        /// or a status with it as its reason.
        case message(StreamMessage)
        /// There is no link to the relay, or one that has said nothing yet.
        case lost(FeedStatus)
    }

    private let loop: any EventLoop
    private let link: NIOLoopBound<Link>
    private let finished: EventLoopFuture<Void>

    /// The connection, and who is told of it.
    private final class Link: StreamConnectionDelegate {
        let connection: StreamConnection
        private var status: RelayStatus
        private let wallClock: @Sendable () -> Int64
        private let event: @Sendable (Event) -> Void

        init(
            _ connection: StreamConnection,
            status: RelayStatus,
            wallClock: @escaping @Sendable () -> Int64,
            event: @escaping @Sendable (Event) -> Void
        ) {
            self.connection = connection
            self.status = status
            self.wallClock = wallClock
            self.event = event
            connection.delegate = self
        }

        func messageArrived(_ message: StreamMessage) {
            switch message {
            case .hello(_, _, _, let status, _), .status(let status):
                self.status.relaySays(status)
            case .error(let text):
                self.status.relayComplains(text)
                return self.event(.message(.status(self.status.status)))
            case .snapshot, .price, .trades, .trade, .gap, .resumed, .symbol, .released, .replay, .unknown, .malformed:
                break
            }
            self.event(.message(message))
        }

        func linkChanged(_ phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause?) {
            self.status.linkChanged(phase, reason: reason, cause: cause, at: self.wallClock())
            self.event(.lost(self.status.status))
        }
    }

    /// Makes a feed that has not begun.
    ///
    /// - Throws: ``TLSError`` when the trust roots cannot be used.
    package static func make(
        settings: Settings,
        loop: any EventLoop,
        logger: Logger,
        wallClock: @escaping @Sendable () -> Int64,
        chance: @escaping @Sendable () -> Double = { Double.random(in: 0...1) },
        event: @escaping @Sendable (Event) -> Void
    ) async throws -> StreamFeed {
        var connectorSettings =
            ConnectorSettings(
                address: settings.relay,
                target: settings.relay.path == "/" ? "/v1/stream" : settings.relay.path,
                dial: settings.dial,
                upgradeTimeout: settings.upgradeTimeout,
                webSocket: WebSocketSettings(role: .client)
            )
        connectorSettings.relayToken = settings.token
        let connector = try UpstreamConnector(connectorSettings, wallClock: wallClock)
        return try await loop.submit {
            let connection = StreamConnection(
                StreamReading(symbols: settings.symbols, takesEveryTrade: settings.takesEveryTrade),
                connector: connector,
                backoff: settings.backoff,
                FeedContext(loop: loop, wallClock: wallClock, chance: chance, logger: logger)
            )
            let status = RelayStatus(
                FeedStatus(source: .live, phase: .connecting, since: wallClock()),
                relay: "\(settings.relay)"
            )
            return StreamFeed(
                loop: loop,
                link: Link(connection, status: status, wallClock: wallClock, event: event)
            )
        }.get()
    }

    private init(loop: any EventLoop, link: Link) {
        self.loop = loop
        self.link = NIOLoopBound(link, eventLoop: loop)
        self.finished = link.connection.finished
    }

    /// Runs until it is told to stop.
    package func run() async throws {
        let link = self.link
        self.loop.execute { link.value.connection.start() }
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

    /// Asks for a symbol beside the others, on this connection and on later ones. From any thread.
    ///
    /// What becomes of it comes as messages: its price, its state, or an error. The relay asks its upstream for one that it
    /// does not have.
    package func subscribe(_ symbol: String) {
        let link = self.link
        self.loop.execute { link.value.connection.subscribe(symbol) }
    }

    /// Asks for a symbol as ``subscribe(_:)`` does, and waits a little for what the relay says.
    ///
    /// - Returns: why it cannot be had, in the relay's words; then it is not asked for any more. `nil` where it was taken, or
    ///   where nothing was heard within seconds.
    package func retain(_ symbol: String) async -> String? {
        let link = self.link
        let answer = self.loop.flatSubmit { link.value.connection.retain(symbol) }
        guard let problem = try? await answer.get() else { return nil }
        self.unsubscribe(symbol)
        return problem
    }

    /// Gives a symbol up, on this connection and on later ones, also where all were asked for. From any thread.
    ///
    /// Nothing more is told of it once this has been done on the feed's loop.
    package func unsubscribe(_ symbol: String) {
        let link = self.link
        self.loop.execute { link.value.connection.unsubscribe(symbol) }
    }

    /// Gives up the link to the relay for a new one, or makes the next attempt now.
    package func reconnect() async -> ConnectionRenewal {
        let link = self.link
        return (try? await self.loop.submit { link.value.connection.renew() }.get()) ?? .over
    }

    /// Ends the feed.
    package func stop() {
        let link = self.link
        self.loop.execute { link.value.connection.stop() }
    }
}
