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
        package var token: APIKey?
        package var upgradeTimeout: TimeAmount = .seconds(5)
        package var ladder: ReconnectLadder.Settings

        package init(relay: UpstreamAddress, symbols: [String]) {
            self.relay = relay
            self.symbols = symbols
            self.ladder = ReconnectLadder.Settings()
            // The relay is near and ours: no need to wait a minute for it.
            self.ladder.limit = 5_000_000_000
            // An attempt that comes to nothing carries nothing for 0 ns, and must climb.
            self.ladder.settled = 1_000_000_000
            // How short a relay's connections are says nothing about a key.
            self.ladder.briefLimit = .max
        }
    }

    /// What the feed tells; called on its loop, in order.
    package enum Event: Sendable {
        case message(StreamMessage)
        /// The link to the relay changed; while it stands, the relay's own status messages are what is true.
        case link(FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause?)
    }

    private let loop: any EventLoop
    private let keeper: NIOLoopBound<ConnectionKeeper>
    private let reader: NIOLoopBound<Reader>
    private let finished: EventLoopFuture<Void>

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
            let keeper = ConnectionKeeper(
                connector: connector,
                ladder: settings.ladder,
                loop: loop,
                wallClock: wallClock,
                chance: chance,
                logger: logger
            )
            let reader = Reader(
                loop: loop,
                reading: StreamReading(symbols: settings.symbols, takesEveryTrade: settings.takesEveryTrade)
            )
            keeper.opened = { [weak keeper] channel in
                let handler = StreamHandler(
                    requests: reader.reading.opened(),
                    arrived: { message in
                        if let news = reader.reading.took(message, wall: wallClock()) { event(.message(news)) }
                        for request in reader.reading.takeRequests() { reader.handler?.send(request) }
                        reader.answer { $0.heard(message, now: $1) }
                    },
                    ended: { ending, tradedFor in
                        reader.answer { questions, _ in questions.lost() }
                        keeper?.connectionEnded(UpstreamFailure(ending), tradedFor: tradedFor)
                    }
                )
                event(.link(.waiting, reason: nil, cause: nil))
                try channel.pipeline.syncOperations.addHandler(handler)
                reader.handler = handler
                return handler
            }
            keeper.report = { phase, reason, cause in event(.link(phase, reason: reason, cause: cause)) }
            return StreamFeed(loop: loop, keeper: keeper, reader: reader)
        }.get()
    }

    private init(loop: any EventLoop, keeper: ConnectionKeeper, reader: Reader) {
        self.loop = loop
        self.reader = NIOLoopBound(reader, eventLoop: loop)
        self.keeper = NIOLoopBound(keeper, eventLoop: loop)
        self.finished = keeper.finished.futureResult
    }

    /// Runs until it is told to stop.
    package func run() async throws {
        let keeper = self.keeper
        self.loop.execute { keeper.value.start() }
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
        let reader = self.reader
        self.loop.execute { reader.value.ask { $0.wished(symbol) } }
    }

    /// Asks for a symbol as ``subscribe(_:)`` does, and waits a little for what the relay says.
    ///
    /// - Returns: why it cannot be had, in the relay's words; then it is not asked for any more. `nil` where it was taken, or
    ///   where nothing was heard within seconds.
    package func adopt(_ symbol: String) async -> String? {
        let reader = self.reader
        let answer = self.loop.flatSubmit { reader.value.question(symbol) }
        guard let problem = try? await answer.get() else { return nil }
        self.unsubscribe(symbol)
        return problem
    }

    /// Gives a symbol up, on this connection and on later ones, also where all were asked for. From any thread.
    ///
    /// Nothing more is told of it once this has been done on the feed's loop.
    package func unsubscribe(_ symbol: String) {
        let reader = self.reader
        self.loop.execute { reader.value.ask { $0.unwished(symbol) } }
    }

    /// Gives up the link to the relay for a new one, or makes the next attempt now.
    package func reconnect() async -> ConnectionRenewal {
        let keeper = self.keeper
        return (try? await self.loop.submit { keeper.value.renew() }.get()) ?? .over
    }

    /// Ends the feed.
    package func stop() {
        let keeper = self.keeper
        self.loop.execute { keeper.value.stop() }
    }
}

/// What belongs to the feed's loop.
private final class Reader {
    private let loop: any EventLoop
    var reading: StreamReading
    /// The newest connection's.
    weak var handler: StreamHandler?
    private var questions = SymbolQuestions()
    private var promises: [Int: EventLoopPromise<String?>] = [:]
    private var timer: Scheduled<Void>?

    init(loop: any EventLoop, reading: StreamReading) {
        self.loop = loop
        self.reading = reading
    }

    func ask(_ change: (inout StreamReading) -> StreamRequest?) {
        if let request = change(&self.reading) { self.handler?.send(request) }
    }

    /// Asks for a symbol; the answer is what the relay has against it.
    func question(_ symbol: String) -> EventLoopFuture<String?> {
        guard let request = self.reading.wished(symbol), let handler else {
            return self.loop.makeSucceededFuture(nil)
        }
        handler.send(request)
        handler.send(.ping(id: nil))
        let promise = self.loop.makePromise(of: String?.self)
        self.promises[self.questions.asked(symbol, now: self.now)] = promise
        self.arm()
        return promise.futureResult
    }

    func answer(_ change: (inout SymbolQuestions, Int64) -> [SymbolQuestions.Answer]) {
        guard !self.promises.isEmpty else { return }
        for answer in change(&self.questions, self.now) {
            self.promises.removeValue(forKey: answer.number)?.succeed(answer.problem)
        }
        self.arm()
    }

    private var now: Int64 { Int64(self.loop.now.uptimeNanoseconds) }

    private func arm() {
        self.timer?.cancel()
        guard let deadline = self.questions.deadline else { return }
        let at = NIODeadline.uptimeNanoseconds(UInt64(max(deadline, 0)))
        self.timer = self.loop.assumeIsolated().scheduleTask(deadline: at) {
            self.answer { $0.waited(now: $1) }
        }
    }
}
