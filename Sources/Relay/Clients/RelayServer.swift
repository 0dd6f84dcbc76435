import HTTP
package import Ingest
package import Logging
package import Market
package import Measurements
import NIOConcurrencyHelpers
package import NIOCore
import NIOPosix
import Platform
import ServiceLifecycle
package import Wire

/// The local relay: Finnhub's own protocol at `/`, debounced prices at `/v1/stream`, and a little HTTP, on one port.
///
/// It reads the tape on the feed's loop and does everything else on the loop where all its clients live. That may be the
/// feed's own: then a read goes to the clients by a plain call, without a hand-over from thread to thread.
package final class RelayServer: TapeReader, Sendable {
    /// How long a stop may take while clients still read what is left; with the other parts' limits, 5 s in all.
    package static let stopLimit: TimeAmount = .seconds(4)
    /// How long a client that has everything may take to answer the close frame.
    private static let answerLimit: TimeAmount = .milliseconds(500)
    /// How long clients may take to read what is left when a replay has ended.
    package static let finishLimit: TimeAmount = .seconds(10)

    enum Life {
        case new
        case starting
        case running(Listening)
        case stopped
    }

    /// The sockets that are listened at: TCP, a file, or both.
    struct Listening: Sendable {
        var channels: [any Channel]
        var file: UnixSocketFile?

        /// Where clients find it: TCP's address, where there is one.
        var address: SocketAddress? { self.channels.first?.localAddress }

        func close() async {
            // The file first: who finds it must find somebody listening.
            await self.file?.removeElsewhere()
            for channel in self.channels { try? await channel.close() }
        }
    }

    let settings: RelaySettings
    let eventLoop: any EventLoop
    let logger: Logger
    let outbox: RelayOutbox
    private let flow: FlowGate?
    private let gauges: RelayGauges
    let instruments: Instruments
    let tls: RelayTLS?
    let past: RelayPast?
    /// The replay behind the feed, where it can be commanded.
    private let replay: (any ReplayControlling)?
    let hub: NIOLoopBoundBox<RelayHub>
    let connectionTable: NIOLoopBoundBox<ConnectionTable>
    /// Where memory goes when connections and answers have gone.
    let heap: HeapTrim
    let life = NIOLockedValueBox(Life.new)

    /// - Parameters:
    ///   - subscriptions: what the feed is asked for.
    ///   - freshness: what goes by age where the feed says nothing.
    ///   - eventLoop: where the relay lives: the feed's own loop, which costs the least, or another one, so that neither
    ///     waits for the other. A feed that can wait (`flow`) needs another one.
    ///   - flow: the brake of a feed that can wait (a replay); nil for the market. With a `replay` it is used as long as that
    ///     goes as fast as its readers take it.
    ///   - status: what is true of the feed until it says otherwise.
    ///   - epoch: the run of numbers that the feed will give, if that is known before the first trade.
    ///   - wallClock: ns since 1970.
    ///   - instruments: what is measured in the program, to be shown by HTTP.
    ///   - tls: the certificate to speak TLS with; nil speaks none.
    ///   - past: what is kept of earlier runs and of this one, to be asked off the loop.
    ///   - prices: the debounced prices of `eventLoop`, which others there read as well; nil makes some for the relay alone.
    ///   - replay: the replay behind the feed; nil where there is none that can be commanded.
    package init(
        settings: RelaySettings,
        subscriptions: Subscriptions,
        freshness: FreshnessLimits = FreshnessLimits(),
        eventLoop: any EventLoop,
        logger: Logger,
        flow: (any FlowControl)? = nil,
        status: FeedStatus,
        epoch: UInt64? = nil,
        wallClock: @escaping @Sendable () -> Int64 = RelayServer.systemTime,
        instruments: Instruments = Instruments(),
        tls: RelayTLS? = nil,
        replay: (any ReplayControlling)? = nil,
        past: RelayPast? = nil,
        prices: SettledPrices? = nil
    ) {
        self.settings = settings
        self.replay = replay
        self.past = past
        self.instruments = instruments
        self.tls = tls
        self.eventLoop = eventLoop
        self.logger = logger
        self.gauges = RelayGauges()
        self.flow = flow.map(FlowGate.init)
        // Trades for all clients wait here only as long as the relay's loop is busy.
        self.outbox = RelayOutbox(highMark: 1 << 20, limit: 64 << 20)
        self.hub = .makeBoxSendingValue(
            RelayHub(
                settings: settings,
                subscriptions: subscriptions,
                freshness: freshness,
                loop: eventLoop,
                logger: logger,
                gauges: self.gauges,
                instruments: instruments,
                flow: self.flow,
                status: status,
                epoch: epoch,
                prices: prices,
                wallClock: wallClock
            ),
            eventLoop: eventLoop
        )
        eventLoop.execute { [hub] in hub.value.followPrices() }
        self.heap = HeapTrim(loop: eventLoop)
        self.connectionTable = .makeBoxSendingValue(
            ConnectionTable(loop: eventLoop, heap: self.heap),
            eventLoop: eventLoop
        )
        if let replay { self.follow(replay) }
    }

    /// The system's clock, ns since 1970.
    @Sendable package static func systemTime() -> Int64 { SystemClock.now().wall }

    // MARK: The tape

    package func epochBegan(_ epoch: UInt64, symbols: SymbolTable) { self.offer(.epochBegan(epoch)) }

    package func read(_ batch: TapeBatch) {
        // Nothing ever waits in the outbox on the feed's own loop.
        if self.eventLoop.inEventLoop { self.hub.value.take(batch) } else { self.offer(.batch(batch)) }
    }

    package func statusChanged(_ status: FeedStatus) { self.offer(.status(status)) }

    package func gapFound(_ gap: Gap) { self.offer(.gap(gap)) }

    package func symbolChanged(_ status: SymbolStatus) { self.offer(.symbol(status)) }

    package func symbolUnsubscribed(_ symbol: String) { self.offer(.unsubscribed(symbol)) }

    private func offer(_ event: RelayEvent) {
        // On the feed's own loop, where all calls to a reader are made, nothing ever waits in the outbox.
        if self.eventLoop.inEventLoop {
            self.hub.value.take(event)
            return
        }
        let offered = self.outbox.offer(event)
        if offered.becameHigh { self.flow?.outboxChanged(self.outbox) }
        if offered.wakesReader { self.eventLoop.execute { self.drain() } }
    }

    private func drain() {
        let events = self.outbox.take()
        self.flow?.outboxChanged(self.outbox)
        self.hub.value.take(events)
    }

    /// Tells clients what becomes of the replay.
    private func follow(_ replay: any ReplayControlling) {
        let (hub, loop) = (self.hub, self.eventLoop)
        loop.execute {
            hub.value.replay = replay
            let position = replay.position()
            hub.value.setFeedWaits(position.speed == nil)
            hub.value.replayStood(isPaused: position.isPaused)
        }
        replay.watch { position in loop.execute { hub.value.replayChanged(position) } }
    }

    var replayEndpoint: ReplayEndpoint? {
        self.replay.map { ReplayEndpoint(replay: $0, isOpen: self.settings.allowsReplayControl) }
    }

    // MARK: What it says of itself

    /// WebSocket clients at this moment.
    package var clientCount: Int { self.gauges.clients }

    /// Where it listens, while it runs.
    package var address: SocketAddress? {
        self.life.withLockedValue { if case .running(let listening) = $0 { listening.address } else { nil } }
    }

    /// Waits until a client has subscribed, and then until none has for 200 ms more, 2 s at most: a client of Finnhub asks
    /// for each of its symbols with a message of its own.
    ///
    /// For one waiter at a time.
    ///
    /// - Returns: `false` when none will (the relay has stopped, or the task is cancelled).
    package func firstSubscribe() async -> Bool {
        guard await self.gauges.firstSubscribe() else { return false }
        await self.gauges.subscriptionsSettle(.milliseconds(200), rounds: 10)
        return true
    }

    // MARK: Life

    /// Takes in trades of earlier runs, the oldest run first, for clients that come back; to be called before the feed
    /// runs.
    package func remember(_ runs: [RecordedTrades]) async {
        try? await self.eventLoop.submit { self.hub.value.remember(runs) }.get()
    }

    /// Takes in bars of earlier runs; to be called before the feed runs.
    package func remember(_ bars: [EarlierBars]) async {
        try? await self.eventLoop.submit { self.hub.value.bars.begin(with: bars) }.get()
    }

    /// Takes no new clients any more; those who are here stay. The first step of a stop, long before the last.
    package func stopAccepting() async {
        if case .running(let listening) = self.life.withLockedValue({ $0 }) { await listening.close() }
        try? await self.eventLoop.submit { self.connectionTable.value.refuseNew() }.get()
    }

    /// Stops: no new clients; everyone gets what was queued and a close frame with code 1001.
    ///
    /// Done within half a second where all clients have read everything.
    ///
    /// - Parameter limit: it is done then though a client reads nothing.
    package func stop(within limit: TimeAmount = RelayServer.stopLimit) async {
        await self.end(within: limit, answers: Self.answerLimit, reason: "the relay is stopping")
    }

    /// Stops at the end of a replay: those for whom it waits are waited for until little is left to read for them, and then
    /// clients have time to read what is queued for them.
    package func finish(within limit: TimeAmount = RelayServer.finishLimit) async {
        try? await self.eventLoop.submit { self.drain() }.get()
        await self.flow?.opens()
        await self.end(within: limit, answers: limit, reason: "the replay is over")
    }

    /// Ends all connections now, whatever waits for them: somebody is out of patience with a stop.
    package func cut() {
        self.eventLoop.execute { self.connectionTable.value.cut() }
    }

    private func end(within limit: TimeAmount, answers: TimeAmount, reason: String) async {
        let before = self.life.withLockedValue { life in
            let before = life
            life = .stopped
            return before
        }
        self.gauges.stopped()
        if case .running(let listening) = before { await listening.close() }
        try? await self.eventLoop.flatSubmit {
            self.outbox.close()
            self.drain()
            self.hub.value.stop(reason: reason, within: limit)
            return self.connectionTable.value.close(within: limit, answers: answers)
        }.get()
    }
}

extension RelayServer: Service {
    /// Runs until the service group shuts down: starts if that has not been done, and stops at the end.
    package func run() async throws {
        let isNew = self.life.withLockedValue { if case .new = $0 { true } else { false } }
        if isNew { _ = try await self.start() }
        // Throws when the task is cancelled, which ends the relay as well.
        try? await gracefulShutdown()
        await self.stop()
    }
}
