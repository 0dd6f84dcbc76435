import CLinux
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

/// The local relay: Finnhub's protocol at `/`, debounced prices at `/v1/stream`, and a small HTTP API, on one port.
///
/// It reads the tape on the feed's loop and does everything else on the loop of its clients. If both are the same loop,
/// a batch reaches the clients by a plain call, without a hand-over between threads.
package final class RelayServer: TapeReader, Sendable {
    /// The longest time of a stop while clients still read their queues. With the limits of the other services, a stop
    /// takes 5 s in all.
    package static let stopLimit: TimeAmount = .seconds(4)
    /// How long a client with an empty queue may take to answer the close frame.
    private static let answerLimit: TimeAmount = .milliseconds(500)
    /// How long clients may take to read their queues when a replay has ended.
    package static let finishLimit: TimeAmount = .seconds(10)

    enum Life {
        case new
        case starting
        case running(Listening)
        case stopped
    }

    /// The listening sockets: TCP, a file, or both; and that of plain lines.
    struct Listening: Sendable {
        var channels: [any Channel]
        var lines: (any Channel)?
        var file: UnixSocketFile?

        /// The address for clients: that of TCP, if there is one.
        var address: SocketAddress? { self.channels.first?.localAddress }

        func close() async {
            // The file first: a program that finds the file must find a listening socket.
            await self.file?.removeElsewhere()
            for channel in self.channels { try? await channel.close() }
            try? await self.lines?.close()
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
    let directory: RelayDirectory?
    let holdings: RelayHoldings
    private let shownSettings: (@Sendable () -> ByteBuffer)?
    /// The replay behind the feed, if it accepts commands.
    private let replay: (any ReplayControlling)?
    let hub: NIOLoopBoundBox<RelayHub>
    let connectionTable: NIOLoopBoundBox<ConnectionTable>
    /// Returns memory to the system when connections and answers have gone.
    let heap: HeapTrim
    let life = NIOLockedValueBox(Life.new)

    /// - Parameters:
    ///   - subscriptions: the upstream subscriptions.
    ///   - freshness: the ages from which a feed that reports nothing is judged.
    ///   - eventLoop: the relay's loop. The feed's own loop costs the least; on another one neither waits for the
    ///     other. A feed that can wait (`flow`) needs another one.
    ///   - flow: pauses a feed that can wait (a replay); `nil` for the market. With a `replay` it is used while the
    ///     replay's speed is `max`.
    ///   - status: the status of the feed until it reports one.
    ///   - epoch: the epoch of the feed's trades, if it is known before the first one.
    ///   - wallClock: returns ns since 1970.
    ///   - instruments: the program's measurements, to be shown by HTTP.
    ///   - tls: the certificate to speak TLS with; `nil` for plain connections.
    ///   - past: the stored data of earlier runs and of this one, queried off the loop.
    ///   - directory: Finnhub's headlines and symbols, queried off the loop.
    ///   - shownSettings: returns the program's settings as JSON, without secrets, off the loop; `nil` for none.
    ///   - prices: the debounced prices of `eventLoop`, shared with its other readers; `nil` makes some for the relay
    ///     alone.
    ///   - replay: the replay behind the feed; `nil` for a feed that accepts no commands.
    package init(
        settings: RelaySettings,
        subscriptions: Subscriptions,
        freshness: FreshnessLimits = FreshnessLimits(),
        eventLoop: any EventLoop,
        logger: Logger,
        flow: (any FlowControl)? = nil,
        status: FeedStatus,
        epoch: UInt64? = nil,
        wallClock: @escaping @Sendable () -> Int64 = { SystemClock.now().wall },
        instruments: Instruments = Instruments(),
        tls: RelayTLS? = nil,
        replay: (any ReplayControlling)? = nil,
        past: RelayPast? = nil,
        directory: RelayDirectory? = nil,
        holdings: RelayHoldings = RelayHoldings(),
        shownSettings: (@Sendable () -> ByteBuffer)? = nil,
        prices: SettledPrices? = nil
    ) {
        self.settings = settings
        self.replay = replay
        self.past = past
        self.directory = directory
        self.holdings = holdings
        self.shownSettings = shownSettings
        self.instruments = instruments
        self.tls = tls
        self.eventLoop = eventLoop
        self.logger = logger
        self.gauges = RelayGauges()
        self.flow = flow.map(FlowGate.init)
        // Trades for all clients wait here only while the relay's loop is busy.
        self.outbox = RelayOutbox(highMark: 1 << 20, limit: 64 << 20)
        self.hub = .makeBoxSendingValue(
            RelayHub(
                settings: settings,
                protocols: .builtIn(settings),
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
        let trimmer = WorkQueue("heap-trim")
        self.heap = HeapTrim(loop: eventLoop) { trimmer.submit { tickertape_trim_heap() } }
        self.connectionTable = .makeBoxSendingValue(
            ConnectionTable(loop: eventLoop, heap: self.heap),
            eventLoop: eventLoop
        )
        if let replay { self.follow(replay) }
    }

    // MARK: The tape

    package func epochBegan(_ epoch: UInt64, first: UInt64, symbols: SymbolTable) {
        self.offer(.epochBegan(epoch, first: first))
    }

    package func read(_ batch: TapeBatch) {
        // On the feed's own loop the outbox is always empty.
        if self.eventLoop.inEventLoop { self.hub.value.take(batch) } else { self.offer(.batch(batch)) }
    }

    package func statusChanged(_ status: FeedStatus) { self.offer(.status(status)) }

    package func gapFound(_ gap: Gap) { self.offer(.gap(gap)) }

    package func gapSettled(_ outcome: GapOutcome) { self.offer(.settled(outcome)) }

    package func symbolChanged(_ status: SymbolStatus) { self.offer(.symbol(status)) }

    package func dayChanged(_ day: VenueDay) { self.offer(.day(day)) }

    package func symbolUnsubscribed(_ symbol: String) { self.offer(.unsubscribed(symbol)) }

    private func offer(_ event: RelayEvent) {
        // All calls to a reader are made on the feed's loop. If that is the relay's loop as well, the outbox is always
        // empty.
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

    /// Reports the changes of the replay to the clients.
    private func follow(_ replay: any ReplayControlling) {
        let (hub, loop) = (self.hub, self.eventLoop)
        loop.execute {
            hub.value.replay = replay
            let position = replay.position()
            hub.value.setFeedWaits(position.speed == nil)
            hub.value.replayStood(isPaused: position.isPaused)
        }
        let (changes, task) = (ReplayChanges(), CoalescedTask(on: loop))
        replay.watch { position in
            changes.add(position)
            task.request { for change in changes.take() { hub.value.replayChanged(change) } }
        }
    }

    var replayEndpoint: ReplayEndpoint? {
        self.replay.map { ReplayEndpoint(replay: $0, isOpen: self.settings.allowsReplayControl) }
    }

    /// Returns the program's settings as JSON; `nil` unless only this machine can reach the relay.
    var settingsBody: (@Sendable () -> ByteBuffer)? {
        self.settings.listen?.isLoopback ?? true ? self.shownSettings : nil
    }

    // MARK: State

    /// The number of WebSocket clients at present.
    package var clientCount: Int { self.gauges.clients }

    /// The listening address while the relay runs.
    package var address: SocketAddress? {
        self.life.withLockedValue { if case .running(let listening) = $0 { listening.address } else { nil } }
    }

    /// The listening address of plain lines while the relay runs; `nil` if it does not listen for them.
    package var linesAddress: SocketAddress? {
        self.life.withLockedValue { life in
            if case .running(let listening) = life { listening.lines?.localAddress } else { nil }
        }
    }

    /// Waits until a client has subscribed, and then until none has for another 200 ms, at most 2 s: a client of
    /// Finnhub subscribes to each of its symbols with a separate message.
    ///
    /// For one waiter at a time.
    ///
    /// - Returns: `false` if none will (the relay has stopped, or the task is cancelled).
    package func firstSubscribe() async -> Bool {
        guard await self.gauges.firstSubscribe() else { return false }
        await self.gauges.subscriptionsSettle(.milliseconds(200), rounds: 10)
        return true
    }

    // MARK: Start and stop

    /// Takes in trades of earlier runs, the oldest run first, for clients that resume. Called before the feed runs.
    package func remember(_ runs: [RecordedTrades]) async {
        try? await self.eventLoop.submit { self.hub.value.remember(runs) }.get()
    }

    /// Takes in bars of earlier runs. Called before the feed runs.
    package func remember(_ bars: [EarlierBars]) async {
        try? await self.eventLoop.submit { self.hub.value.bars.begin(with: bars) }.get()
    }

    /// Takes in the rooms of earlier runs. Called before the relay listens.
    ///
    /// - Parameter keep: takes what is to be kept over a restart, on the relay's loop, and does not wait.
    package func remember(_ rooms: EarlierRooms, keep: @escaping @Sendable (RoomRecord) -> Void) async {
        try? await self.eventLoop.submit { self.hub.value.rooms.begin(with: rooms, keep: keep) }.get()
    }

    /// Takes other limits and other rules of who may connect while clients are connected.
    ///
    /// - Parameter change: changes the settings; the addresses, the protocols and the pace of prices stay.
    /// - Returns: the number of clients that may stay no longer and are closed with 1008.
    package func reload(_ change: @escaping @Sendable (inout RelaySettings) -> Void) async -> Int {
        var settings = self.settings
        change(&settings)
        // Reads `/proc`.
        let descriptors = DescriptorBudget.connections(wanted: settings.wantedDescriptors)
        let changed = settings
        let closed = self.eventLoop.submit { self.hub.value.reload(changed, descriptors: descriptors) }
        return (try? await closed.get()) ?? 0
    }

    /// Stops accepting clients; the connected ones stay. This is the first step of a stop, long before the last.
    package func stopAccepting() async {
        if case .running(let listening) = self.life.withLockedValue({ $0 }) { await listening.close() }
        try? await self.eventLoop.submit { self.connectionTable.value.refuseNew() }.get()
    }

    /// Stops: accepts no new clients, and sends each client its queue and a close frame with code 1001.
    ///
    /// It takes at most half a second if all clients have read everything.
    ///
    /// - Parameter limit: the longest time, even if a client reads nothing.
    package func stop(within limit: TimeAmount = RelayServer.stopLimit) async {
        await self.end(within: limit, answers: Self.answerLimit, reason: "the relay is stopping")
    }

    /// Stops at the end of a replay. It first waits for the clients that slow down the replay, until little waits for
    /// them. Then all clients have time to read their queues.
    package func finish(within limit: TimeAmount = RelayServer.finishLimit) async {
        try? await self.eventLoop.submit { self.drain() }.get()
        await self.flow?.opens()
        await self.end(within: limit, answers: limit, reason: "the replay is over")
    }

    /// Ends all connections now, whatever waits for them, since the user does not want to wait for the stop.
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
    /// Runs until the service group shuts down. Starts the relay unless that was done, and stops it at the end.
    package func run() async throws {
        let isNew = self.life.withLockedValue { if case .new = $0 { true } else { false } }
        if isNew { _ = try await self.start() }
        // Throws if the task is cancelled, which ends the relay as well.
        try? await gracefulShutdown()
        await self.stop()
    }
}
