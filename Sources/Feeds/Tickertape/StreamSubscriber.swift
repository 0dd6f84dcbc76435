package import TLS
package import Logging
package import Market
package import NIOCore
import ServiceLifecycle
import WebSocket
package import Wire

/// A subscriber of a running relay's prices, for `watch`.
///
/// It distinguishes two statuses: the relay's own status of its upstream while the link to the relay is open, and the
/// status of the link otherwise. After a break it continues where it stopped (``StreamReading``).
package final class StreamSubscriber: Service {
    /// The settings of the subscriber.
    package struct Settings: Sendable {
        /// The relay's address; a path of `/` stands for `/v1/stream`.
        package var relay: UpstreamAddress
        /// The symbols to watch; an empty list means all symbols of the relay.
        package var symbols: [String]
        /// Whether to get every trade of a break, each as a snapshot with its age, and not only the newest price.
        package var takesEveryTrade = false
        package var dial = DialSettings()
        /// The token for the relay, if it requires one.
        package var token: Secret?
        package var backoff: ReconnectBackoff.Settings

        package init(relay: UpstreamAddress, symbols: [String]) {
            self.relay = relay
            self.symbols = symbols
            self.backoff = .ofRelayClient
        }
    }

    /// An event of the subscriber; events come on its loop, in order.
    package enum Event: Sendable {
        /// A message of the relay that tells something new. An error of the relay comes as its meaning: the state of a
        /// symbol, or a status with the error as its reason.
        case message(StreamMessage)
        /// The status of the link to the relay: it is broken, or has just opened and brought no message.
        case lost(FeedStatus)
    }

    private let loop: any EventLoop
    private let link: NIOLoopBound<Link>
    private let finished: EventLoopFuture<Void>

    /// The connection and the receiver of its events.
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
            case .snapshot, .price, .trades, .trade, .gap, .settled, .venueDay, .resumed, .symbol, .released, .replay,
                .unknown, .malformed:
                break
            }
            self.event(.message(message))
        }

        func linkChanged(_ phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause?) {
            self.status.linkChanged(phase, reason: reason, cause: cause, at: self.wallClock())
            self.event(.lost(self.status.status))
        }
    }

    /// Creates a subscriber that has not started.
    ///
    /// - Throws: ``TLSError`` if the trust roots cannot be used.
    package static func make(
        settings: Settings,
        loop: any EventLoop,
        logger: Logger,
        wallClock: @escaping @Sendable () -> Int64,
        chance: @escaping @Sendable () -> Double = { Double.random(in: 0...1) },
        event: @escaping @Sendable (Event) -> Void
    ) async throws -> StreamSubscriber {
        var connectorSettings =
            ConnectorSettings(
                address: settings.relay,
                target: settings.relay.path == "/" ? "/v1/stream" : settings.relay.path,
                dial: settings.dial,
                webSocket: WebSocketSettings(role: .client)
            )
        connectorSettings.relayToken = settings.token
        let connector = try UpstreamConnector(connectorSettings, wallClock: wallClock)
        return try await loop.submit {
            let connection = StreamConnection(
                StreamReading(symbols: settings.symbols, takesEveryTrade: settings.takesEveryTrade),
                connector: connector,
                secret: settings.token,
                backoff: settings.backoff,
                FeedContext(loop: loop, wallClock: wallClock, chance: chance, logger: logger)
            )
            let status = RelayStatus(
                FeedStatus(source: .live, phase: .connecting, since: wallClock()),
                relay: "\(settings.relay)"
            )
            return StreamSubscriber(
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

    /// Runs until the task is cancelled or shut down.
    package func run() async throws {
        let link = self.link
        self.loop.execute { link.value.connection.start() }
        try await self.wait(for: self.finished) { self.stop() }
    }

    /// Subscribes to a further symbol, on this connection and on later ones. May be called on any thread.
    ///
    /// The outcome comes as messages: the symbol's price, its state, or an error. The relay subscribes at its upstream
    /// to a symbol that it does not have.
    package func subscribe(_ symbol: String) {
        let link = self.link
        self.loop.execute { link.value.connection.subscribe(symbol) }
    }

    /// Subscribes to a symbol as ``subscribe(_:)`` does, and waits for the relay's answer for some seconds.
    ///
    /// - Returns: the relay's objection, after which the symbol is unsubscribed again; `nil` if the relay accepted the
    ///   symbol, or did not answer in time.
    package func retain(_ symbol: String) async -> String? {
        let link = self.link
        let answer = self.loop.flatSubmit { link.value.connection.retain(symbol) }
        guard let problem = try? await answer.get() else { return nil }
        self.unsubscribe(symbol)
        return problem
    }

    /// Unsubscribes from a symbol, on this connection and on later ones, even if the reader follows all symbols. May be
    /// called on any thread.
    ///
    /// No event names the symbol after this has been done on the feed's loop.
    package func unsubscribe(_ symbol: String) {
        let link = self.link
        self.loop.execute { link.value.connection.unsubscribe(symbol) }
    }

    /// Replaces the link to the relay by a new one, or makes the next attempt now.
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
