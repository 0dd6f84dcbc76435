import Market
import NIOCore
import Wire

/// The prices of a client of `/v1/stream`.
extension StreamClient {
    func symbolAppeared(row: Int) {
        guard self.session.appeared(row) else { return }
        if self.catchUp?.isEverything == true, self.session.everything == .all {
            self.session.resume([row], next: self.session.first(of: row))
        }
    }

    func symbolVanished(row: Int) { self.session.vanished(row) }

    func priceShown(_ price: inout EncodedPrice, row: Int) {
        guard self.isOpen, self.session.delivery(of: row) == .latest else { return }
        self.show(&price, row)
    }

    func priceShown(_ price: inout EncodedPrice, row: Int, every milliseconds: Int) {
        guard self.isOpen, self.session.delivery(of: row) == .every(milliseconds: milliseconds) else { return }
        self.show(&price, row)
    }

    private func show(_ price: inout EncodedPrice, _ row: Int) {
        guard self.takesPrices else { return self.session.postpone(row) }
        let message = self.session.show(price.update.summary.price, ordinal: price.ordinal, row: row)
        self.send(message, &price)
    }

    /// Reports counted trades, except to a client that is too slow for prices.
    func tradesCounted(_ summary: SymbolSummary, row: Int, _ message: SharedMessage) {
        guard self.session.hasDebouncedPrice(row), self.isWritable, self.takesPrices else { return }
        let frame = message.frame(for: StreamClient.self) { StreamEncoder.trades(summary, number: $0) }
        self.write(frame, messages: 1)
    }

    func showNewest(_ row: Int) {
        guard let newest = self.context.newest(row: row) else { return }
        guard self.takesPrices else { return self.session.postpone(row) }
        let isSingle = self.session.delivery(of: row) == .all
        var price = EncodedPrice(PriceUpdate(summary: newest.summary, skipped: 0), ordinal: newest.ordinal)
        // For a client of single trades a snapshot only shows the current state, since the trades are counted one by
        // one.
        if isSingle { return self.send(.snapshot(skipped: 0), &price) }
        self.send(self.session.show(newest.summary.price, ordinal: newest.ordinal, row: row), &price)
    }

    /// Sends the newest price of a row again, to a client that discarded it when the symbol was released.
    func showAgain(_ row: Int) {
        self.session.forgetPrice(of: row)
        self.showNewest(row)
    }

    /// Sends the newest price of a row if trades came after the last price sent, before the row's delivery changes.
    func showUnreported(_ row: Int) {
        guard let newest = self.context.newest(row: row) else { return }
        var price = EncodedPrice(PriceUpdate(summary: newest.summary, skipped: 0), ordinal: newest.ordinal)
        let message = self.session.show(
            newest.summary.price,
            ordinal: newest.ordinal,
            row: row,
            showsUnchanged: true
        )
        self.send(message, &price)
    }

    /// The number of trades after the last price sent, over all symbols that are followed by their prices.
    var unreportedTrades: UInt64 {
        self.session.rows.reduce(0) { $0 + self.session.unreported(of: $1, taken: self.context.taken(row: $1)) }
    }

    /// Sends the newest price of each symbol with trades that were neither sent nor counted, even if the price has not
    /// changed.
    func showAllUnreported() {
        for row in self.session.rows where self.session.unreported(of: row, taken: self.context.taken(row: row)) > 0 {
            self.showUnreported(row)
        }
    }

    func showPostponed() {
        guard self.takesPrices else { return }
        for row in self.session.takePostponed() {
            self.showNewest(row)
            // For a client a snapshot means that its symbol is subscribed upstream, unless a message after it says
            // otherwise.
            self.showReleased(self.context.symbol(ofRow: row))
        }
        if !self.dueDays.isEmpty { self.showDueDays() }
    }

    /// Sends the newest price of the symbols of which single trades were missed.
    func showMissed(since sequence: UInt64) {
        for row in self.session.rows where self.session.delivery(of: row) == .all {
            guard let newest = self.context.newest(row: row), newest.summary.sequence >= sequence else { continue }
            self.showNewest(row)
        }
    }

    private func send(_ message: FollowedRows.Message, _ price: inout EncodedPrice) {
        let frame: ByteBuffer
        let missable: UInt64
        switch message {
        case .nothing: return
        case .snapshot(let skipped):
            missable = skipped
            frame = price.frame(for: StreamClient.self, isFirst: true, skipped: skipped) { summary in
                let age = self.context.age(ofArrival: summary.received)
                return StreamEncoder.snapshot(summary, skipped: skipped, age: age, number: self.context.numbers.next())
            }
        case .price(let skipped):
            missable = skipped
            frame = price.frame(for: StreamClient.self, isFirst: false, skipped: skipped) { summary in
                let update = PriceUpdate(summary: summary, skipped: skipped)
                return StreamEncoder.price(update, number: self.context.numbers.next())
            }
        }
        if self.mayWritePrice(bytes: frame.readableBytes, skipped: missable) { self.write(frame, messages: 1) }
    }
}
