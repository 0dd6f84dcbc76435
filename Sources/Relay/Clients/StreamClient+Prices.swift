import Market
import NIOCore
import Wire

/// The prices of a client of `/v1/stream`.
extension StreamClient {
    /// A symbol has appeared.
    func appeared(_ row: Int) {
        guard self.session.appeared(row) else { return }
        if self.catchUp?.isEverything == true, self.session.everything == .all {
            self.session.resume([row], next: self.session.first(of: row))
        }
    }

    /// The desk shows a debounced price; `frames` encodes it once for all clients that get the same.
    func show(_ showing: PriceDesk.Showing, frames: inout PriceFrames) {
        guard self.isOpen, self.session.delivery(of: showing.row) == .latest else { return }
        self.show(showing.update.summary.price, showing.ordinal, showing.row, &frames)
    }

    /// A beat shows the newest price of a row that has traded since the one before.
    func show(_ newest: PriceDesk.Newest, row: Int, every milliseconds: Int, frames: inout PriceFrames) {
        guard self.isOpen, self.session.delivery(of: row) == .every(milliseconds: milliseconds) else { return }
        self.show(newest.summary.price, newest.ordinal, row, &frames)
    }

    private func show(_ price: ExactDecimal, _ ordinal: UInt64, _ row: Int, _ frames: inout PriceFrames) {
        guard self.takesPrices else { return self.session.postpone(row) }
        self.send(self.session.show(price, ordinal: ordinal, row: row), frames: &frames)
    }

    /// Trades came that showed no new price; who is too slow for prices is spared this.
    func showActivity(_ row: Int, frame: ByteBuffer) {
        if self.session.hasDebouncedPrice(row), self.isWritable, self.takesPrices { self.write(frame, messages: 1) }
    }

    func showNewest(_ row: Int) {
        guard let newest = self.hub.desk.newest(row: row) else { return }
        guard self.takesPrices else { return self.session.postpone(row) }
        let isSingle = self.session.delivery(of: row) == .all
        var frames = PriceFrames(PriceUpdate(summary: newest.summary, skipped: 0), hub: self.hub)
        // Of single trades a snapshot tells nothing but what is true now; these are counted one by one.
        if isSingle { return self.send(.snapshot(skipped: 0), frames: &frames) }
        self.send(self.session.show(newest.summary.price, ordinal: newest.ordinal, row: row), frames: &frames)
    }

    /// Tells the newest of a row again to a client that forgot it when it heard that nobody asks for the symbol any more.
    func showAgain(_ row: Int) {
        self.session.forgetPrice(of: row)
        self.showNewest(row)
    }

    /// Tells the newest price of a row if trades came after the last one told, before it is followed in another way.
    func showUntold(_ row: Int) {
        guard let newest = self.hub.desk.newest(row: row) else { return }
        var frames = PriceFrames(PriceUpdate(summary: newest.summary, skipped: 0), hub: self.hub)
        let message = self.session.show(
            newest.summary.price,
            ordinal: newest.ordinal,
            row: row,
            showsUnchanged: true
        )
        self.send(message, frames: &frames)
    }

    /// The trades that came after the last price that was told, of all symbols that it follows by their prices.
    var untoldTrades: UInt64 {
        self.session.rows.reduce(0) { $0 + self.session.untold(of: $1, taken: self.hub.desk.taken(row: $1)) }
    }

    /// Tells the newest price of each symbol whose trades have not all been told or counted, also where it has not changed.
    func showAllUntold() {
        for row in self.session.rows where self.session.untold(of: row, taken: self.hub.desk.taken(row: row)) > 0 {
            self.showUntold(row)
        }
    }

    func showPostponed() {
        guard self.takesPrices else { return }
        for row in self.session.takePostponed() {
            self.showNewest(row)
            // A reader takes a snapshot for a symbol that is asked for, unless it is told so behind it.
            let symbol = self.hub.desk.symbol(ofRow: row)
            if let since = self.hub.releasedSince[symbol] { self.released(symbol, since: since) }
        }
    }

    /// Shows the newest of the symbols of which single trades were missed.
    func showMissed(since sequence: UInt64) {
        for row in self.session.rows where self.session.delivery(of: row) == .all {
            guard let newest = self.hub.desk.newest(row: row), newest.summary.sequence >= sequence else { continue }
            self.showNewest(row)
        }
    }

    private func send(_ message: StreamSession.Message, frames: inout PriceFrames) {
        let frame: ByteBuffer
        let missable: UInt64
        switch message {
        case .nothing: return
        case .snapshot(let skipped): (frame, missable) = (frames.snapshot(skipped: skipped), skipped)
        case .price(let skipped): (frame, missable) = (frames.price(skipped: skipped), skipped)
        }
        if self.mayWritePrice(bytes: frame.readableBytes, skipped: missable) { self.write(frame, messages: 1) }
    }
}

/// One price as WebSocket frames, encoded when first needed and shared from then on.
struct PriceFrames {
    private let update: PriceUpdate
    private let hub: RelayHub
    private var snapshotFrame: ByteBuffer?
    private var priceFrame: ByteBuffer?

    init(_ update: PriceUpdate, hub: RelayHub) {
        self.update = update
        self.hub = hub
    }

    mutating func snapshot(skipped: UInt64) -> ByteBuffer {
        if skipped == 0, let frame = self.snapshotFrame { return frame }
        let summary = self.update.summary
        let age = self.hub.age(ofArrival: summary.received)
        let message = StreamEncoder.snapshot(summary, skipped: skipped, age: age, number: self.hub.number())
        let frame = RelayHub.framed(message)
        if skipped == 0 { self.snapshotFrame = frame }
        return frame
    }

    /// - Parameter skipped: what the client has missed, which is the pipeline's own count for those in step with it.
    mutating func price(skipped: UInt64) -> ByteBuffer {
        if skipped == self.update.skipped, let frame = self.priceFrame { return frame }
        let update = PriceUpdate(summary: self.update.summary, skipped: skipped)
        let frame = RelayHub.framed(StreamEncoder.price(update, number: self.hub.number()))
        if skipped == self.update.skipped { self.priceFrame = frame }
        return frame
    }
}
