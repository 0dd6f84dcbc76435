import Logging
import Market
import NIOCore
import WebSocket
import Wire

/// The relay on its own loop: who is connected, what each gets, and the timers that serve them all.
///
/// Not `Sendable`: everything here happens on one event loop. Clients come and go while it writes to them (a failed write
/// closes a channel at once), so it never walks over a collection that such a call could change.
final class RelayHub {
    let settings: RelaySettings
    let flow: FlowGate?
    let loop: any EventLoop
    let logger: Logger
    private let gauges: RelayGauges
    private let demand: @Sendable (String) -> Void
    private let release: @Sendable (String) -> Void

    /// The symbols asked of the upstream.
    var ledger: SymbolLedger
    var desk: PriceDesk
    private var audience = Audience<TradesClient>()
    private var tradesClients: [ObjectIdentifier: TradesClient] = [:]
    private var streamClients: [ObjectIdentifier: StreamClient] = [:]
    private var status: FeedStatus
    /// What the feed says of each symbol it asks for.
    private(set) var symbolStates: [String: SymbolStatus] = [:]
    /// The status as a frame of `/v1/stream`.
    private(set) var statusFrame: ByteBuffer
    let compression = SharedCompression()
    private var unflushed: [RelayClient] = []
    private var isStopped = false

    private var watched: [ObjectIdentifier: TradesClient] = [:]
    private var watchTimer: Scheduled<Void>?
    private var pingTimer: Scheduled<Void>?
    private var activityTimer: Scheduled<Void>?
    private var priceTimer: (at: Int64, task: Scheduled<Void>)?
    private let pingFrame = RelayHub.framed(FinnhubEncoder.ping)

    /// Batches that came together leave together, in pieces of about this many bytes, so that no client's queue grows
    /// with what it could take at once.
    private static let pieceBytes = 64 << 10

    init(
        settings: RelaySettings,
        loop: any EventLoop,
        logger: Logger,
        gauges: RelayGauges,
        ownSymbols: [String],
        demand: @escaping @Sendable (String) -> Void,
        release: @escaping @Sendable (String) -> Void,
        flow: FlowGate?,
        status: FeedStatus
    ) {
        self.settings = settings
        self.loop = loop
        self.logger = logger
        self.gauges = gauges
        self.demand = demand
        self.release = release
        self.flow = flow
        self.status = status
        self.statusFrame = Self.framed(StreamEncoder.status(status))
        self.ledger = SymbolLedger(limit: settings.symbolLimit, own: ownSymbols)
        self.desk = PriceDesk(settings: settings.pipeline)
    }

    var now: NIODeadline { self.loop.now }

    /// Returns the payload as a whole text frame of a server.
    static func framed(_ payload: ByteBuffer) -> ByteBuffer {
        var frame = ByteBuffer()
        WebSocketFraming.serverText(payload, into: &frame)
        return frame
    }

    // MARK: Clients

    var clientCount: Int { self.tradesClients.count + self.streamClients.count }

    func makeClient(_ endpoint: RelayEndpoint) -> RelayClient {
        switch endpoint {
        case .trades: TradesClient(hub: self)
        case .stream: StreamClient(hub: self)
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
    func wishesChanged(_ client: TradesClient, wanting symbols: Set<String>, demand: String?) {
        self.audience.place(client, wanting: symbols)
        if !symbols.isEmpty { self.subscribed(demand: demand) }
    }

    /// A client has subscribed, to a symbol that the feed must be asked for or not.
    func subscribed(demand symbol: String? = nil) {
        self.gauges.subscribed()
        if let symbol { self.demand(symbol) }
    }

    /// A client wants a symbol no more; with the last one the upstream need not send it.
    func gaveUp(_ symbol: String) {
        if self.ledger.unwanted(symbol) { self.release(symbol) }
    }

    // MARK: What the feed brings

    /// Takes in what came from the ingest loop, in order.
    func take(_ events: [RelayEvent]) {
        guard !self.isStopped else { return }  // late: everyone has been told that this is the end
        var piece: [TapeBatch] = []
        var bytes = 0
        for event in events {
            guard case .batch(let batch) = event else {
                self.deliver(piece)
                piece = []
                bytes = 0
                self.take(event)
                continue
            }
            piece.append(batch)
            bytes += batch.frames.reduce(0) { $0 + $1.bytes.readableBytes }
            if bytes >= Self.pieceBytes {
                self.deliver(piece)
                piece = []
                bytes = 0
            }
        }
        self.deliver(piece)
    }

    private func deliver(_ batches: [TapeBatch]) {
        guard !batches.isEmpty else { return }
        for parcel in self.audience.parcels(of: batches[...]) {
            for client in parcel.members { client.deliver(parcel.bytes, trades: parcel.trades) }
        }
        let rowsBefore = self.desk.rowCount
        let now = Int64(NIODeadline.now().uptimeNanoseconds)
        var showings: [PriceDesk.Showing] = []
        for batch in batches { showings += self.desk.take(batch, now: now) }
        for row in rowsBefore..<self.desk.rowCount { self.appeared(row) }
        self.show(showings)
        self.flush()
        self.armActivityTimer()
    }

    private func take(_ event: RelayEvent) {
        switch event {
        case .batch:
            preconditionFailure("batches are delivered in pieces")
        case .status(let status):
            self.statusChanged(status)
        case .gap(let gap):
            self.gapFound(gap)
        case .symbol(let status):
            self.symbolChanged(status)
        case .unwished(let symbol):
            self.symbolStates[symbol] = nil
            self.ledger.recovered(symbol)
        case .lost(let loss):
            self.lost(loss)
        }
        self.flush()
    }

    /// A refused symbol keeps its clients: each is told once, and a later recovery reaches them.
    private func symbolChanged(_ status: SymbolStatus) {
        // As many as the feed asks for.
        self.symbolStates[status.symbol] = status
        let frame = Self.framed(StreamEncoder.symbol(status))
        for client in self.streamClients.values { client.symbolChanged(status, frame: frame) }
        guard status.isRefused else {
            self.ledger.recovered(status.symbol)
            for client in self.tradesClients.values { client.accepted(status.symbol) }
            for client in self.streamClients.values { client.accepted(status.symbol) }
            return
        }
        self.ledger.refused(status.symbol)
        let message = self.refusal(of: status.symbol) ?? ""
        for client in self.tradesClients.values { client.refused(status.symbol, message: message) }
        for client in self.streamClients.values { client.refused(status.symbol, message: message) }
    }

    /// What a client that wants the symbol is told, in the upstream's words, while the upstream does not send it.
    func refusal(of symbol: String) -> String? {
        guard let status = self.symbolStates[symbol], status.isRefused else { return nil }
        return status.reason ?? TradesSession.invalid(symbol)
    }

    private func statusChanged(_ status: FeedStatus) {
        guard status != self.status else { return }
        self.status = status
        self.statusFrame = Self.framed(StreamEncoder.status(status))
        for client in self.streamClients.values { client.statusChanged() }
    }

    private func gapFound(_ gap: Gap) {
        let frame = Self.framed(StreamEncoder.gap(gap))
        for client in self.streamClients.values { client.gapFound(gap, frame: frame) }
    }

    private func lost(_ loss: RelayLoss) {
        self.logger.error(
            "the relay was too late to take all trades",
            metadata: ["lost": "\(loss.count { _ in true })"]
        )
        for client in self.tradesClients.values { client.missed(loss.count(where: client.wants)) }
        let reason = "the relay was too busy to take all trades"
        self.gapFound(Gap(from: loss.from, to: loss.to, reason: reason, nextSequence: loss.nextSequence))
    }

    // MARK: Prices

    /// Returns the row of a symbol, which appears by being asked for if it has not traded.
    func row(of symbol: String) -> Int {
        let before = self.desk.rowCount
        let row = self.desk.row(of: symbol)
        if self.desk.rowCount > before { self.appeared(row) }
        return row
    }

    private func appeared(_ row: Int) {
        self.ledger.appeared(self.desk.symbol(ofRow: row))
        for client in self.streamClients.values { client.appeared(row) }
    }

    private func show(_ showings: [PriceDesk.Showing]) {
        for showing in showings {
            var frames = PriceFrames(showing.update)
            for client in self.streamClients.values { client.show(showing, frames: &frames) }
        }
        self.armPriceTimer()
    }

    /// Sees to it that the timer fires no later than the desk's deadline. One that fires too early looks again.
    private func armPriceTimer() {
        guard let deadline = self.desk.deadline else { return }
        if let timer = self.priceTimer {
            if timer.at <= deadline { return }
            timer.task.cancel()
        }
        let task = self.loop.assumeIsolated().scheduleTask(deadline: .uptimeNanoseconds(UInt64(deadline))) {
            self.priceTimer = nil
            self.show(self.desk.fire(now: Int64(NIODeadline.now().uptimeNanoseconds)))
            self.flush()
        }
        self.priceTimer = (deadline, task)
    }

    /// A market whose price stands still is alive: its trades are told of, though no price is.
    private func armActivityTimer() {
        guard self.activityTimer == nil, !self.streamClients.isEmpty else { return }
        self.activityTimer = self.loop.assumeIsolated().scheduleTask(in: self.settings.activityInterval) {
            self.activityTimer = nil
            for activity in self.desk.takeActivity() {
                let frame = Self.framed(StreamEncoder.trades(activity.summary))
                for client in self.streamClients.values { client.showActivity(activity.row, frame: frame) }
            }
            self.flush()
        }
    }

    /// The status and the newest of every symbol, as one JSON object.
    func snapshot() -> ByteBuffer {
        var out = ByteBuffer()
        out.writeStaticString("{\"status\":")
        out.writeImmutableBuffer(StreamEncoder.status(self.status))
        out.writeStaticString(",\"symbols\":[")
        for (index, summary) in self.desk.summaries.enumerated() {
            if index > 0 { out.writeStaticString(",") }
            out.writeImmutableBuffer(StreamEncoder.snapshot(summary))
        }
        out.writeStaticString("]}\n")
        return out
    }

    // MARK: One flush for each client

    func mustFlush(_ client: RelayClient) { self.unflushed.append(client) }

    /// Sends what has been written since the last call. A flush can make a client write more, which is sent as well.
    func flush() {
        while !self.unflushed.isEmpty {
            let clients = self.unflushed
            self.unflushed.removeAll(keepingCapacity: true)
            for client in clients { client.flush() }
        }
        self.compression.turnEnded()
    }

    // MARK: Time

    func start() { self.armPingTimer() }

    private func armPingTimer() {
        self.pingTimer = self.loop.assumeIsolated().scheduleTask(in: self.settings.textPingInterval) {
            for client in self.tradesClients.values { client.ping(self.pingFrame) }
            self.flush()
            self.armPingTimer()
        }
    }

    /// Keeps an eye on a client that does not keep up.
    func watch(_ client: TradesClient) {
        self.watched[ObjectIdentifier(client)] = client
        if self.watchTimer == nil { self.armWatchTimer() }
    }

    private func armWatchTimer() {
        let interval = TimeAmount.nanoseconds(max(self.settings.stallTimeout.nanoseconds / 10, 1_000_000))
        self.watchTimer = self.loop.assumeIsolated().scheduleTask(in: interval) {
            self.watchTimer = nil
            for client in self.watched.values { client.timePassed() }
            if !self.watched.isEmpty, self.watchTimer == nil { self.armWatchTimer() }
        }
    }

    func unwatch(_ client: TradesClient) {
        self.watched[ObjectIdentifier(client)] = nil
        guard self.watched.isEmpty else { return }
        self.watchTimer?.cancel()
        self.watchTimer = nil
    }

    func noteSlowClient(missed: UInt64) {
        self.logger.notice("a client was too slow and is closed", metadata: ["missed": "\(missed)"])
    }

    // MARK: The end

    /// Shows what has not been shown, says goodbye to all, behind what is queued for them, and stops the timers.
    func stop(reason: String) {
        self.isStopped = true
        self.pingTimer?.cancel()
        self.activityTimer?.cancel()
        self.show(self.desk.flush())
        self.priceTimer?.task.cancel()
        self.priceTimer = nil
        self.flush()
        for client in self.tradesClients.values { client.close(.goingAway, reason: reason) }
        for client in self.streamClients.values { client.close(.goingAway, reason: reason) }
    }
}
