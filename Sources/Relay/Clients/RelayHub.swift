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
    @exclusivity(unchecked) var desk: PriceDesk
    @exclusivity(unchecked) var audience = Audience<TradesClient>()
    /// Empty but while a read is sent: the room for what goes to the audience.
    @exclusivity(unchecked) var parcels: [Audience<TradesClient>.Parcel] = []
    private(set) var tradesClients: [ObjectIdentifier: TradesClient] = [:]
    private(set) var streamClients: [ObjectIdentifier: StreamClient] = [:]
    var status: FeedStatus
    /// What the feed says of each symbol it asks for.
    var symbolStates: [String: SymbolStatus] = [:]
    /// Symbols that have traded and that nobody asks for any more, with the wall clock since when; ns since 1970.
    var releasedSince: [String: Int64] = [:]
    /// When the replay behind the feed stood still.
    var pauses = ReplayPauses()
    /// Ns since 1970.
    let wallClock: @Sendable () -> Int64
    /// The readers of `/v1/stream` who get every trade, and what that takes.
    @exclusivity(unchecked) var tradeAudience = Audience<StreamClient>()
    var symbolTexts = SymbolTexts()
    /// Those who are on their way from where they left off.
    var resuming: [ObjectIdentifier: StreamClient] = [:]
    /// By the interval in ms.
    var beats: [Int: PriceBeat] = [:]
    /// The bars of all symbols, and who is told which.
    var bars = BarBook()
    var barTopics: [BarTopic: BarReaders] = [:]
    var barTimer: Scheduled<Void>?
    private var messageNumber: UInt64 = 0
    let compression = SharedCompression()
    /// The short way to clients for whom nothing waits.
    let lanes = ClientLanes()
    /// The time of all clients' keepalive and closing.
    let deadlines: DeadlineWheel
    private var unflushed: [RelayClient] = []
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

    private var watched: [ObjectIdentifier: RelayClient] = [:]
    private var watchTimer: Scheduled<Void>?
    private var pingTimer: Scheduled<Void>?
    var activityTimer: Scheduled<Void>?
    var priceTimer: (at: Int64, task: Scheduled<Void>)?
    private let pingFrame = RelayHub.framed(FinnhubEncoder.ping)

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
        self.desk = PriceDesk(settings: settings.pipeline)
    }

    var now: NIODeadline { self.loop.now }

    /// The loop's clock in ns.
    var monotonic: Int64 { Int64(self.loop.now.uptimeNanoseconds) }

    /// Notes that the feed, where it can, waits for lossless clients from now on, or does as the market does.
    func setFeedWaits(_ waits: Bool) {
        guard let flow, waits != self.feedWaits else { return }
        self.feedWaits = waits
        flow.feedWaits(waits)
        for client in self.tradesClients.values { client.feedWaitsChanged() }
        for client in self.streamClients.values { client.feedWaitsChanged() }
    }

    /// Returns the number of the next message of `/v1/stream`: one count for all clients, so that what goes to many is
    /// the same bytes.
    func number() -> UInt64 {
        self.messageNumber += 1
        return self.messageNumber
    }

    /// Returns a message as a frame, with a number of its own.
    func frame(_ control: StreamControl) -> ByteBuffer { Self.framed(control.encoded(number: self.number())) }

    /// Returns the payload as a whole text frame of a server.
    static func framed(_ payload: ByteBuffer) -> ByteBuffer {
        var frame = ByteBuffer()
        WebSocketFraming.serverText(payload, into: &frame)
        return frame
    }

    // MARK: Clients

    var clientCount: Int { self.tradesClients.count + self.streamClients.count }

    /// Makes the client that a request asks for.
    func makeClient(_ endpoint: RelayEndpoint, for head: HTTPRequestHead) throws(HTTPRefusal) -> RelayClient {
        switch endpoint {
        case .trades: TradesClient(hub: self, options: TradesOptions(target: head.uri))
        case .stream: StreamClient(hub: self, query: try StreamQuery(head))
        }
    }

    func joined(_ client: RelayClient) {
        switch client {
        case let client as TradesClient: self.tradesClients[ObjectIdentifier(client)] = client
        case let client as StreamClient: self.streamClients[ObjectIdentifier(client)] = client
        default: preconditionFailure("a client of no known kind")
        }
        self.gauges.clients(self.clientCount)
    }

    func left(_ client: RelayClient) {
        switch client {
        case let client as TradesClient:
            self.audience.remove(client)
            self.tradesClients[ObjectIdentifier(client)] = nil
        case let client as StreamClient:
            self.streamClients[ObjectIdentifier(client)] = nil
        default:
            preconditionFailure("a client of no known kind")
        }
        self.gauges.clients(self.clientCount)
    }

    /// A lossless client has changed what it wants.
    func wishesChanged(_ client: TradesClient, wanting symbols: Set<String>) {
        self.audience.place(client, wanting: symbols, lane: client.lane)
        if !symbols.isEmpty { self.gauges.subscribed() }
    }

    // MARK: One flush for each client

    func mustFlush(_ client: RelayClient) { self.unflushed.append(client) }

    /// Sends what has been written since the last call. A flush can make a client write more, which is sent as well.
    func flush() {
        var clients: [RelayClient] = []
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
            for client in self.tradesClients.values { client.ping(self.pingFrame) }
            self.flush()
            self.armPingTimer()
        }
    }

    /// Keeps an eye on a client that does not keep up.
    func watch(_ client: RelayClient) {
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

    func unwatch(_ client: RelayClient) {
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
        for client in self.tradesClients.values { client.finish() }
        for client in self.streamClients.values { client.beginLast() }
        self.show(self.desk.flush())
        // A beat that will not come any more would leave its clients without the last price.
        for (milliseconds, beat) in self.beats.sorted(by: { $0.key < $1.key }) {
            beat.timer?.cancel()
            self.strike(beat, every: milliseconds)
        }
        self.tellBarsAsTheyAre()
        for client in self.streamClients.values { client.showLast() }
        self.priceTimer?.task.cancel()
        self.priceTimer = nil
        self.subscriptions.cancelLinger()
        self.flush()
        for client in self.tradesClients.values { client.close(.goingAway, reason: reason, within: limit) }
        for client in self.streamClients.values { client.close(.goingAway, reason: reason, within: limit) }
    }
}
