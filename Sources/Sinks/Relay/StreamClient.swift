import Market
import NIOCore
import WebSocket
import Wire

/// A client of `/v1/stream`: gets prices, and the newest of each when it was too slow for some.
final class StreamClient: RelayClient {
    private var session = StreamSession()
    /// The symbols for which it has a place in the ledger.
    private var wished: Set<String> = []
    /// Those that the client has been told the upstream does not send.
    private var toldRefused: Set<String> = []
    /// What became true while the client did not read.
    private var isStatusPostponed = false
    private var postponedGap: Gap?
    private var postponedStates: Set<String> = []

    init(hub: RelayHub) {
        let settings = hub.settings
        var webSocket = WebSocketSettings(role: .server)
        webSocket.maximumMessageBytes = settings.maximumMessageBytes
        webSocket.pingInterval = settings.pingInterval
        webSocket.pongTimeout = settings.pongTimeout
        if hub.flow != nil { webSocket.closeTimeout = settings.stallTimeout }
        // Prices that wait are old prices: far below the limit they are replaced by the newest.
        let high = min(settings.maximumWaitingBytes, 64 << 10)
        super.init(hub: hub, webSocketSettings: webSocket, marks: Marks(low: high / 4, high: high))
    }

    override func opened() { self.send(framed: self.hub.statusFrame) }

    // MARK: Requests

    override func received(_ text: ByteBuffer) {
        switch StreamRequest.parse(text) {
        case .subscribe(let symbols) where symbols.isEmpty:
            self.session.followAll()
            for row in 0..<self.hub.desk.rowCount where self.session.follow(row) {
                self.showNewest(row)
                self.showState(of: self.hub.desk.symbol(ofRow: row))
            }
            self.hub.subscribed()
        case .subscribe(let symbols):
            for symbol in symbols { self.subscribe(symbol) }
        case .unsubscribe(let symbols) where symbols.isEmpty:
            self.session.unfollowAll()
            self.giveUpAll()
        case .unsubscribe(let symbols):
            for symbol in symbols {
                self.toldRefused.remove(symbol)
                if self.wished.remove(symbol) != nil { self.hub.gaveUp(symbol) }
                guard let row = self.hub.desk.knownRow(of: symbol) else { continue }
                self.session.unfollow(row)
            }
        case .other(let type):
            self.answer("Unknown type \(type.prefix(64)); use subscribe or unsubscribe")
        case nil:
            self.answer(#"Invalid message; send {"type":"subscribe","symbol":"…"}"#)
        }
    }

    private func subscribe(_ symbol: String) {
        if let row = self.hub.desk.knownRow(of: symbol), self.session.follows(row) { return }
        guard self.session.followsAll || self.session.count < self.hub.settings.symbolLimit else {
            return self.answer("\(TradesSession.tooManySymbols): \(symbol.prefix(SymbolLedger.longestName))")
        }
        // Rows stay for as long as the relay does, so their number has a bound of its own.
        guard self.hub.desk.knownRow(of: symbol) != nil || self.hub.desk.rowCount < SymbolTable.capacity else {
            return self.answer("\(TradesSession.tooManySymbols): \(symbol.prefix(SymbolLedger.longestName))")
        }
        let answer = self.hub.ledger.wanted(symbol)
        switch answer {
        case .invalid:
            self.answer(TradesSession.invalid(symbol))
        case .full:
            self.answer("\(TradesSession.tooManySymbols): \(symbol)")
        case .known, .demand:
            self.wished.insert(symbol)
            let row = self.hub.row(of: symbol)
            if self.session.follow(row) {
                self.showNewest(row)
                self.showState(of: symbol)
            }
            self.hub.subscribed(demand: answer == .demand ? symbol : nil)
            if let message = self.hub.refusal(of: symbol) { self.refused(symbol, message: message) }
        }
    }

    /// The upstream does not send a symbol: a client who asked for it is told, once, and keeps following it. Who follows
    /// all is told by the symbol's state.
    func refused(_ symbol: String, message: String) {
        guard self.wished.contains(symbol), self.toldRefused.insert(symbol).inserted else { return }
        self.answer(message)
    }

    /// The upstream sends a symbol again.
    func accepted(_ symbol: String) { self.toldRefused.remove(symbol) }

    /// Who asks without reading the answers gets none.
    private func answer(_ text: String) {
        guard self.isWritable else { return }
        self.send(framed: RelayHub.framed(StreamEncoder.error(text)))
    }

    // MARK: Prices

    /// A symbol has appeared.
    func appeared(_ row: Int) { _ = self.session.appeared(row) }

    /// The desk shows a price; `frames` encodes it once for all clients that get the same.
    func show(_ showing: PriceDesk.Showing, frames: inout PriceFrames) {
        guard self.isOpen, self.session.follows(showing.row) else { return }
        guard self.isWritable else { return self.session.postpone(showing.row) }
        let message = self.session.show(showing.update.summary.price, ordinal: showing.ordinal, row: showing.row)
        self.send(message, frames: &frames)
    }

    /// Trades came that showed no new price; who is too slow for prices is spared this.
    func showActivity(_ row: Int, frame: ByteBuffer) {
        if self.session.hasPrice(row), self.isWritable { self.send(framed: frame) }
    }

    private func showNewest(_ row: Int) {
        guard let newest = self.hub.desk.newest(row: row) else { return }
        guard self.isWritable else { return self.session.postpone(row) }
        let message = self.session.show(newest.summary.price, ordinal: newest.ordinal, row: row)
        var frames = PriceFrames(PriceUpdate(summary: newest.summary, skipped: 0))
        self.send(message, frames: &frames)
    }

    private func send(_ message: StreamSession.Message, frames: inout PriceFrames) {
        switch message {
        case .nothing: break
        case .snapshot: self.send(framed: frames.snapshot())
        case .price(let skipped): self.send(framed: frames.price(skipped: skipped))
        }
    }

    // MARK: Status and gaps

    func statusChanged() {
        guard self.isWritable else { return self.isStatusPostponed = true }
        self.send(framed: self.hub.statusFrame)
    }

    func gapFound(_ gap: Gap, frame: ByteBuffer) {
        if let symbol = gap.symbol {
            guard let row = self.hub.desk.knownRow(of: symbol), self.session.follows(row) else { return }
        }
        guard !self.isWritable else { return self.send(framed: frame) }
        // Several become one that reaches over all of them.
        if var whole = self.postponedGap {
            whole.to = gap.to
            whole.nextSequence = gap.nextSequence
            whole.overlap = nil
            if whole.symbol != gap.symbol { whole.symbol = nil }
            whole.from = min(whole.from, gap.from)
            self.postponedGap = whole
        } else {
            self.postponedGap = gap
        }
    }

    /// The state of one symbol changed, or is told to who has just asked for it.
    func symbolChanged(_ status: SymbolStatus, frame: ByteBuffer) {
        guard let row = self.hub.desk.knownRow(of: status.symbol), self.session.follows(row) else { return }
        guard self.isWritable else {
            self.postponedStates.insert(status.symbol)
            return
        }
        self.send(framed: frame)
    }

    private func showState(of symbol: String) {
        guard let status = self.hub.symbolStates[symbol] else { return }
        self.symbolChanged(status, frame: RelayHub.framed(StreamEncoder.symbol(status)))
    }

    override func writabilityChanged() {
        guard self.isWritable else { return }
        if let gap = self.postponedGap {
            self.postponedGap = nil
            self.send(framed: RelayHub.framed(StreamEncoder.gap(gap)))
        }
        if self.isStatusPostponed {
            self.isStatusPostponed = false
            self.send(framed: self.hub.statusFrame)
        }
        let states = self.postponedStates
        self.postponedStates = []
        for symbol in states { self.showState(of: symbol) }
        for row in self.session.takePostponed() { self.showNewest(row) }
        self.hub.flush()
    }

    override func closed() {
        self.session.unfollowAll()
        self.giveUpAll()
    }

    private func giveUpAll() {
        let symbols = self.wished
        self.wished = []
        self.toldRefused = []
        for symbol in symbols { self.hub.gaveUp(symbol) }
    }
}

/// One price as WebSocket frames, encoded when first needed and shared from then on.
struct PriceFrames {
    private let update: PriceUpdate
    private var snapshotFrame: ByteBuffer?
    private var priceFrame: ByteBuffer?

    init(_ update: PriceUpdate) { self.update = update }

    mutating func snapshot() -> ByteBuffer {
        if let frame = self.snapshotFrame { return frame }
        let frame = RelayHub.framed(StreamEncoder.snapshot(self.update.summary))
        self.snapshotFrame = frame
        return frame
    }

    /// - Parameter skipped: what the client has missed, which is the pipeline's own count for those in step with it.
    mutating func price(skipped: UInt64) -> ByteBuffer {
        guard skipped == self.update.skipped else {
            return RelayHub.framed(StreamEncoder.price(PriceUpdate(summary: self.update.summary, skipped: skipped)))
        }
        if let frame = self.priceFrame { return frame }
        let frame = RelayHub.framed(StreamEncoder.price(self.update))
        self.priceFrame = frame
        return frame
    }
}
