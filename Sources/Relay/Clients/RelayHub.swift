package import Ingest
package import Logging
package import Market
package import Measurements
package import NIOCore
import NIOHTTP1
import Platform
import WebSocket
import Wire

/// The state of the relay on its loop: the connection table, the sessions' subscriptions, and the shared timers.
///
/// Not `Sendable`: everything here happens on one event loop. A failed write closes a channel at once, so clients may
/// leave while the hub writes to them. Therefore it never iterates over a collection that such a call could change. The
/// values that every batch touches have no run-time check for overlapping access: they are pure values, and none of
/// their methods calls back here.
package final class RelayHub {
    /// The settings in force (``reload(_:descriptors:)``).
    @exclusivity(unchecked) var settings: RelaySettings
    /// The check of clients' tokens, where they need one.
    var tokens: TokenGate?
    /// Counts the tokens in force so far.
    var tokenNumber = 0
    /// Counts the changes of the settings.
    var rules = 0
    /// How many connections fit into the process's limit of open files.
    var descriptors = Int.max
    let protocols: RelayProtocols
    /// The ages from which `/readyz` and its like judge a feed that reports nothing.
    let freshness: FreshnessLimits
    let flow: FlowGate?
    /// Whether the feed waits for lossless clients at present.
    private(set) var feedWaits: Bool
    /// The replay behind the feed, if it accepts commands.
    package var replay: (any ReplayControlling)?
    let loop: any EventLoop
    let logger: Logger
    let gauges: RelayGauges
    /// The upstream subscriptions.
    let subscriptions: Subscriptions
    /// The debounced prices of this loop.
    let settled: SettledPrices
    /// The trades that the relay keeps, which lack the late reads; see ``RelayHub/takeLate()``.
    @exclusivity(unchecked) var kept: KeptTrades
    /// The reads that no session has seen, because there was none.
    @exclusivity(unchecked) var late: [LateRead] = []
    private(set) var sessions: [ObjectIdentifier: any RelayProtocol] = [:]
    /// The number of sessions that show prices.
    private(set) var priceSessions = 0
    /// The same sessions by the symbols that matter to them.
    let index: SessionIndex
    var status: FeedStatus
    /// The feed's status of each symbol that it subscribes to.
    var symbolStates: [String: SymbolStatus] = [:]
    /// The venues' own figures of the last 24 hours, by symbol.
    var days: [String: VenueDay] = [:]
    /// The symbols that have traded and are no longer subscribed upstream, with the wall-clock time of their release;
    /// ns since 1970.
    var releasedSince: [String: Int64] = [:]
    /// The pauses of the replay behind the feed.
    var pauses = ReplayPauses()
    /// Ns since 1970.
    let wallClock: @Sendable () -> Int64
    /// The sessions that are catching up from the trade they know.
    var resuming: [ObjectIdentifier: any RelayProtocol] = [:]
    /// The price timers, by their interval in ms.
    var priceIntervals: [Int: PriceInterval] = [:]
    /// The bars of all symbols, and their subscribers.
    var barTopics: [BarTopic: BarReaders] = [:]
    var barTimer: Scheduled<Void>?
    let numbers = MessageNumbers()
    /// The shared flush of all clients, and the check of those that do not keep up.
    let outputs: OutputScheduler
    /// The direct path to clients for whom nothing waits.
    let slots = DirectSlots()
    /// The rooms of the clients.
    private(set) lazy var rooms = RoomService(
        loop: self.loop,
        outputs: self.outputs,
        numbers: self.numbers,
        wallClock: self.wallClock
    )
    /// The timer of all clients' keepalives and closings.
    let deadlines: DeadlineWheel
    /// The gap between the previous run and the first trade of this one; `nil` once that trade has come.
    var restartGap: Gap?
    let instruments: Instruments
    /// The latency from a batch's arrival to the last client's write.
    let delivered: LatencyHistogram
    let counters: RelayCounters
    private(set) var isStopped = false

    private var pingTimer: Scheduled<Void>?
    var activityTimer: Scheduled<Void>?

    /// - Parameter prices: the debounced prices, shared with other readers on the same loop; `nil` makes some for the
    ///   hub alone.
    package init(
        settings: RelaySettings,
        protocols: RelayProtocols,
        subscriptions: Subscriptions,
        freshness: FreshnessLimits = FreshnessLimits(),
        loop: any EventLoop,
        logger: Logger,
        gauges: RelayGauges,
        instruments: Instruments,
        flow: FlowGate?,
        status: FeedStatus,
        epoch: UInt64? = nil,
        prices: SettledPrices? = nil,
        wallClock: @escaping @Sendable () -> Int64 = { SystemClock.now().wall }
    ) {
        self.settings = settings
        self.tokens = settings.token.map(TokenGate.init)
        self.protocols = protocols
        self.subscriptions = subscriptions
        self.index = SessionIndex(subscriptions)
        self.freshness = freshness
        self.loop = loop
        self.deadlines = DeadlineWheel(loop: loop)
        self.logger = logger
        self.gauges = gauges
        self.instruments = instruments
        self.delivered = instruments.latency[.arrivalToClient]
        self.counters = RelayCounters(instruments, logger: logger)
        self.outputs = OutputScheduler(
            loop: loop,
            stallTimeout: settings.stallTimeout,
            latency: instruments.latency[.arrivalToStream]
        )
        self.flow = flow
        self.feedWaits = flow != nil
        self.status = status
        self.wallClock = wallClock
        let settled = prices ?? SettledPrices(settings: settings.pipeline, loop: loop)
        self.settled = settled
        self.kept = KeptTrades(ring: TradeRing(epoch: epoch), prices: PriceTable(settled))
        for spoken in protocols.all {
            let fanout: any TradeFanout = spoken.makeFanout(for: self.context)
            self.index.add(fanout, of: spoken)
        }
    }

    /// The part of the relay that its sessions may use.
    package var context: RelayContext { RelayContext(self) }

    var now: NIODeadline { self.loop.now }

    /// The loop's monotonic clock, ns.
    var monotonic: Int64 { Int64(self.loop.now.uptimeNanoseconds) }

    /// Changes whether the feed, if it can, waits for lossless clients.
    func setFeedWaits(_ waits: Bool) {
        guard let flow, waits != self.feedWaits else { return }
        self.feedWaits = waits
        flow.feedWaits(waits)
        for session in self.sessions.values { session.feedWaitsChanged() }
    }

    /// Makes a message that several sessions may get.
    func message() -> SharedMessage { SharedMessage(number: self.numbers.next()) }

    // MARK: Clients

    var clientCount: Int { self.sessions.count }

    func joined(_ session: any RelayProtocol) {
        self.takeLate()
        self.sessions[ObjectIdentifier(session)] = session
        if type(of: session).showsPrices { self.priceSessions += 1 }
        self.gauges.clients(self.clientCount)
    }

    func left(_ session: any RelayProtocol) {
        guard self.sessions.removeValue(forKey: ObjectIdentifier(session)) != nil else { return }
        if type(of: session).showsPrices { self.priceSessions -= 1 }
        self.gauges.clients(self.clientCount)
    }

    /// Flushes the writes to all clients since the last call.
    func flush() { self.outputs.flush() }

    // MARK: Time

    package func start() { self.armPingTimer() }

    private func armPingTimer() {
        self.pingTimer = self.loop.assumeIsolated().scheduleTask(in: self.settings.textPingInterval) {
            for session in self.sessions.values { session.pingIsDue() }
            self.flush()
            self.armPingTimer()
        }
    }

    // MARK: Stop

    /// Shows the last prices, closes all clients after their queues, and stops the timers.
    ///
    /// - Parameter limit: how long a client may take to read its queue.
    package func stop(reason: String, within limit: TimeAmount) {
        self.isStopped = true
        self.rooms.stop()
        self.pingTimer?.cancel()
        self.activityTimer?.cancel()
        self.barTimer?.cancel()
        for session in self.sessions.values { session.willStop() }
        self.settled.flush()
        // Timers that no longer fire would leave their clients without the last price.
        for (milliseconds, priceInterval) in self.priceIntervals.sorted(by: { $0.key < $1.key }) {
            priceInterval.timer?.cancel()
            self.fire(priceInterval, every: milliseconds)
        }
        self.sendBarsAsTheyAre()
        for session in self.sessions.values { session.showLast() }
        self.subscriptions.cancelLinger()
        self.flush()
        for session in self.sessions.values { session.output.close(.goingAway, reason: reason, within: limit) }
        // Releases the clients that have written a last line.
        self.flush()
    }
}
