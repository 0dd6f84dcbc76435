import CoreMetrics
package import Ingest
package import Logging
package import Market
package import Measurements
package import NIOCore
import NIOHTTP1
import WebSocket
import Wire

/// The relay on its own loop: who is connected, what each gets, and the timers that serve them all.
///
/// Not `Sendable`: everything here happens on one event loop. Clients come and go while it writes to them (a failed write
/// closes a channel at once), so it never walks over a collection that such a call could change. What every read touches has
/// no run-time check for overlapping access: these are pure values, and none of their methods comes back here.
package final class RelayHub {
    let settings: RelaySettings
    /// What goes by age where the feed says nothing, for `/readyz` and its like.
    let freshness: FreshnessLimits
    let flow: FlowGate?
    /// Whether the feed waits for lossless clients now.
    private(set) var feedWaits: Bool
    /// The replay behind the feed, where it can be commanded.
    package var replay: (any ReplayControlling)?
    let loop: any EventLoop
    let logger: Logger
    let gauges: RelayGauges
    /// The symbols that the feed is asked for, for the clients and the program itself.
    let subscriptions: Subscriptions
    /// The debounced prices of this loop.
    let settled: SettledPrices
    @exclusivity(unchecked) var prices: PriceTable
    private(set) var sessions: [ObjectIdentifier: any RelayProtocol] = [:]
    /// How many of them show prices.
    private(set) var priceSessions = 0
    /// The same sessions by the symbols that matter to them.
    var index = SessionIndex()
    /// What sends trades to the sessions of each protocol.
    private(set) var fanouts: [any TradeFanout] = []
    private var fanoutOfProtocol: [ObjectIdentifier: any TradeFanout] = [:]
    var status: FeedStatus
    /// What the feed says of each symbol it asks for.
    var symbolStates: [String: SymbolStatus] = [:]
    /// Symbols that have traded and that nobody asks for any more, with the wall clock since when; ns since 1970.
    var releasedSince: [String: Int64] = [:]
    /// When the replay behind the feed stood still.
    var pauses = ReplayPauses()
    /// Ns since 1970.
    let wallClock: @Sendable () -> Int64
    /// Those who are on their way from where they left off.
    var resuming: [ObjectIdentifier: any RelayProtocol] = [:]
    /// By the interval in ms.
    var beats: [Int: PriceInterval] = [:]
    /// The bars of all symbols, and who is told which.
    var bars = BarBook()
    var barTopics: [BarTopic: BarReaders] = [:]
    var barTimer: Scheduled<Void>?
    private var messageNumber: UInt64 = 0
    let compression = SharedCompression()
    /// The short way to clients for whom nothing waits.
    let slots = DirectSlots()
    /// The time of all clients' keepalive and closing.
    let deadlines: DeadlineWheel
    private var unflushed: [ClientOutput] = []
    /// The newest trades, for `/v1/trades` and for whoever comes back.
    @exclusivity(unchecked) var ring: TradeRing
    /// What may be missing between the run before this one and its first trade, until that comes.
    var restartGap: Gap?
    /// Both clocks at the newest read that brought trades; between them an arrival's age is found without asking the wall's.
    var lastArrival: (received: Int64, monotonic: Int64)?
    let instruments: Instruments
    /// How long a read takes to all clients.
    let delivered: LatencyHistogram
    private let slowClients: Counter
    let skipped: (stream: Counter, client: Counter, relay: Counter)
    /// Arrivals of the prices that the next flush shows, monotonic ns; gathered only while there are clients for them.
    var shownArrivals: [Int64] = []
    private(set) var isStopped = false

    private var watched: [ObjectIdentifier: ClientOutput] = [:]
    private var watchTimer: Scheduled<Void>?
    private var pingTimer: Scheduled<Void>?
    var activityTimer: Scheduled<Void>?

    /// - Parameter prices: the debounced prices that others on the same loop read as well; `nil` makes some for the hub alone.
    package init(
        settings: RelaySettings,
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
        wallClock: @escaping @Sendable () -> Int64 = RelayServer.systemTime
    ) {
        self.settings = settings
        self.subscriptions = subscriptions
        self.freshness = freshness
        self.loop = loop
        self.deadlines = DeadlineWheel(loop: loop)
        self.logger = logger
        self.gauges = gauges
        self.instruments = instruments
        self.delivered = instruments.latency[.arrivalToClient]
        let registry = instruments.registry
        self.slowClients = Counter(label: MetricName.slowClients, factory: registry)
        func skipped(_ reader: String) -> Counter {
            Counter(label: MetricName.skipped, dimensions: [("reader", reader)], factory: registry)
        }
        self.skipped = (skipped("stream"), skipped("slow_client"), skipped("relay"))
        self.flow = flow
        self.feedWaits = flow != nil
        self.status = status
        self.ring = TradeRing(epoch: epoch)
        self.wallClock = wallClock
        let settled = prices ?? SettledPrices(settings: settings.pipeline, loop: loop)
        self.settled = settled
        self.prices = PriceTable(settled)
        for spoken in RelayProtocols.all {
            let fanout: any TradeFanout = spoken.makeFanout(for: self)
            self.fanouts.append(fanout)
            self.fanoutOfProtocol[ObjectIdentifier(spoken)] = fanout
        }
    }

    var now: NIODeadline { self.loop.now }

    /// The loop's clock in ns.
    var monotonic: Int64 { Int64(self.loop.now.uptimeNanoseconds) }

    /// Notes that the feed, where it can, waits for lossless clients from now on, or does as the market does.
    func setFeedWaits(_ waits: Bool) {
        guard let flow, waits != self.feedWaits else { return }
        self.feedWaits = waits
        flow.feedWaits(waits)
        for session in self.sessions.values { session.feedWaitsChanged() }
    }

    /// Returns the number of the next message: one count for all clients, so that what goes to many is the same bytes.
    func number() -> UInt64 {
        self.messageNumber += 1
        return self.messageNumber
    }

    /// Makes a message that several sessions may get.
    func message() -> SharedMessage { SharedMessage(number: self.number()) }

    /// Returns the payload as a whole text frame of a server.
    static func framed(_ payload: ByteBuffer) -> ByteBuffer {
        var frame = ByteBuffer()
        WebSocketFraming.serverText(payload, into: &frame)
        return frame
    }

    // MARK: Clients

    var clientCount: Int { self.sessions.count }

    func joined(_ session: any RelayProtocol) {
        self.sessions[ObjectIdentifier(session)] = session
        if type(of: session).showsPrices { self.priceSessions += 1 }
        self.gauges.clients(self.clientCount)
    }

    func left(_ session: any RelayProtocol) {
        guard self.sessions.removeValue(forKey: ObjectIdentifier(session)) != nil else { return }
        if type(of: session).showsPrices { self.priceSessions -= 1 }
        self.gauges.clients(self.clientCount)
    }

    /// What sends trades to the sessions of a protocol.
    func fanout<Session: RelayProtocol>(of session: Session.Type) -> Session.Fanout {
        guard let fanout = self.fanoutOfProtocol[ObjectIdentifier(session)] as? Session.Fanout else {
            preconditionFailure("\(session) is not among the protocols of the relay")
        }
        return fanout
    }

    // MARK: Subscriptions

    /// Subscribes a session to a symbol that it does not have.
    func subscribe(_ session: any RelayProtocol, to symbol: String) -> SubscriptionTable.Answer {
        let answer = self.subscriptions.subscribe(symbol)
        if answer == .accepted { self.index.insert(session, symbol) }
        return answer
    }

    /// Ends a session's subscription to a symbol that was accepted.
    func unsubscribe(_ session: any RelayProtocol, from symbol: String) {
        self.index.remove(session, symbol)
        self.subscriptions.unsubscribe(symbol)
    }

    // MARK: One flush for each client

    func mustFlush(_ client: ClientOutput) { self.unflushed.append(client) }

    /// Sends what has been written since the last call. A flush can make a client write more, which is sent as well.
    func flush() {
        var clients: [ClientOutput] = []
        while !self.unflushed.isEmpty {
            // Two arrays by turns, so that neither is allocated anew for every flush.
            swap(&clients, &self.unflushed)
            for client in clients { client.flush() }
            clients.removeAll(keepingCapacity: true)
        }
        if clients.capacity > self.unflushed.capacity { swap(&clients, &self.unflushed) }
        self.compression.turnEnded()
        guard !self.shownArrivals.isEmpty else { return }
        let now = self.monotonic
        for arrival in self.shownArrivals {
            self.instruments.latency[.arrivalToStream].record(nanoseconds: now - arrival)
        }
        self.shownArrivals.removeAll(keepingCapacity: true)
    }

    // MARK: Time

    package func start() { self.armPingTimer() }

    private func armPingTimer() {
        self.pingTimer = self.loop.assumeIsolated().scheduleTask(in: self.settings.textPingInterval) {
            for session in self.sessions.values { session.pingIsDue() }
            self.flush()
            self.armPingTimer()
        }
    }

    /// Keeps an eye on a client that does not keep up.
    func watch(_ client: ClientOutput) {
        self.watched[ObjectIdentifier(client)] = client
        if self.watchTimer == nil { self.armWatchTimer() }
    }

    private func armWatchTimer() {
        let interval = TimeAmount.nanoseconds(max(self.settings.stallTimeout.nanoseconds / 10, 1_000_000))
        self.watchTimer = self.loop.assumeIsolated().scheduleTask(in: interval) {
            self.watchTimer = nil
            for client in self.watched.values { client.timePassed() }
            self.flush()
            if !self.watched.isEmpty, self.watchTimer == nil { self.armWatchTimer() }
        }
    }

    func unwatch(_ client: ClientOutput) {
        self.watched[ObjectIdentifier(client)] = nil
        guard self.watched.isEmpty else { return }
        self.watchTimer?.cancel()
        self.watchTimer = nil
    }

    func noteSlowClient(missed: UInt64) {
        self.slowClients.increment()
        self.skipped.client.increment(by: Int64(clamping: missed))
        self.logger.notice("a client was too slow and is closed", metadata: ["missed": "\(missed)"])
    }

    /// Notes a client that has answered no ping in time.
    func noteLostClient() {
        self.instruments.refusals.add("pong-timeout")
        self.logger.info("a client answered no ping and is ended")
    }

    /// Notes trades that a client was told to have missed.
    func noteSkipped(_ trades: UInt64) { self.skipped.client.increment(by: Int64(clamping: trades)) }

    // MARK: The end

    /// Shows what has not been shown, says goodbye to all, behind what is queued for them, and stops the timers.
    ///
    /// - Parameter limit: how long a client may take to read that.
    package func stop(reason: String, within limit: TimeAmount) {
        self.isStopped = true
        self.pingTimer?.cancel()
        self.activityTimer?.cancel()
        self.barTimer?.cancel()
        for session in self.sessions.values { session.willStop() }
        self.settled.flush()
        // A beat that will not come any more would leave its clients without the last price.
        for (milliseconds, priceInterval) in self.beats.sorted(by: { $0.key < $1.key }) {
            priceInterval.timer?.cancel()
            self.strike(priceInterval, every: milliseconds)
        }
        self.sendBarsAsTheyAre()
        for session in self.sessions.values { session.showLast() }
        self.subscriptions.cancelLinger()
        self.flush()
        for session in self.sessions.values { session.output.close(.goingAway, reason: reason, within: limit) }
    }
}
