import Market
import NIOCore
import Wire

// The prices and trades of a client of lines, and the reports of the feed.
extension LineClient {
    // MARK: Prices

    private var takesPrices: Bool { self.isLast || (self.isWritable && !self.pace.isBehind) }

    func priceShown(_ price: inout EncodedPrice, row: Int) {
        guard self.isOpen, self.followed.delivery(of: row) == .latest else { return }
        guard self.takesPrices else { return self.followed.postpone(row) }
        let message = self.followed.show(price.update.summary.price, ordinal: price.ordinal, row: row)
        self.send(message, &price)
    }

    func showNewest(_ row: Int, showsUnchanged: Bool = false) {
        guard let newest = self.context.newest(row: row) else { return }
        guard self.takesPrices else { return self.followed.postpone(row) }
        var price = EncodedPrice(PriceUpdate(summary: newest.summary, skipped: 0), ordinal: newest.ordinal)
        let message = self.followed.show(
            newest.summary.price,
            ordinal: newest.ordinal,
            row: row,
            showsUnchanged: showsUnchanged
        )
        self.send(message, &price)
    }

    func showPostponed() {
        guard self.takesPrices else { return }
        for row in self.followed.takePostponed() {
            self.showNewest(row)
            // A price means that its symbol is subscribed upstream, unless a line after it says otherwise.
            self.showReleased(self.context.symbol(ofRow: row))
        }
    }

    /// Shows the newest price of each symbol with trades that were not reported. A plain line reports no count, so an
    /// unchanged price is left out there.
    func showUnreported() {
        for row in self.followed.rows where self.followed.unreported(of: row, taken: self.context.taken(row: row)) > 0 {
            self.showNewest(row, showsUnchanged: self.form == .json)
        }
    }

    private func send(_ message: FollowedRows.Message, _ price: inout EncodedPrice) {
        let (isFirst, skipped): (Bool, UInt64)
        switch message {
        case .nothing: return
        case .snapshot(let count): (isFirst, skipped) = (true, count)
        case .price(let count): (isFirst, skipped) = (false, count)
        }
        // A plain line has neither, so all of them share one.
        let isPlain = self.form == .plain
        let line = price.frame(
            for: LineClient.self,
            in: self.form.message,
            isFirst: isFirst && !isPlain,
            skipped: isPlain ? 0 : skipped
        ) { summary in
            let age = self.context.age(ofArrival: summary.received)
            return self.encoder.price(summary, isFirst: isFirst, skipped: skipped, age: age)
        }
        self.write(line)
    }

    // MARK: Trades

    func tradesLost(_ loss: RelayLoss) {
        guard self.isOpen, self.followed.wantsTrades else { return }
        let count = loss.count { symbol in
            guard let row = self.context.knownRow(of: symbol) else { return self.followed.everything == .all }
            return self.followed.delivery(of: row) == .all
        }
        if count > 0 { self.closeTooSlow(missed: self.pace.missed + count) }
    }

    // MARK: Reports

    func statusChanged(_ status: FeedStatus, _ message: SharedMessage) { self.report(.status(status), message) }

    func replayChanged(_ position: ReplayPosition, _ message: SharedMessage) { self.report(.replay(position), message) }

    func gapFound(_ gap: Gap, _ message: SharedMessage) {
        if let symbol = gap.symbol, !self.follows(symbol) { return }
        self.report(.gap(gap), message)
    }

    func gapSettled(_ outcome: GapOutcome, _ message: SharedMessage) {
        if self.follows(outcome.symbol) { self.report(.settled(outcome), message) }
    }

    /// Only JSON has numbers, which begin anew.
    func epochChanged(_ seam: Gap, _ message: SharedMessage) {
        if self.form == .json { self.report(.gap(seam), message) }
    }

    func symbolChanged(_ status: SymbolStatus, _ message: SharedMessage) {
        if self.follows(status.symbol) { self.report(.symbol(status), message) }
    }

    /// Reports a refusal. A plain line about the symbol's state has the reason already.
    func symbolRefused(_ symbol: String, reason: String) {
        guard self.form == .json else { return }
        self.notify(.error(reason, code: self.context.status(of: symbol)?.word ?? "refused"))
    }

    func symbolReleased(_ symbol: String, since: Int64, _ message: SharedMessage) {
        self.released(symbol, since: since, message)
    }

    private func released(_ symbol: String, since: Int64, _ message: SharedMessage? = nil) {
        guard !self.context.index.isSubscribed(self, to: symbol), self.follows(symbol) else { return }
        self.report(.released(symbol, since: since), message)
    }

    /// Reports that a symbol is released, if it is.
    func showReleased(_ symbol: String) {
        if let since = self.context.released(symbol) { self.released(symbol, since: since) }
    }

    /// Shows the price again, which a reader has discarded when the symbol was released.
    func symbolRecalled(_ symbol: String) {
        guard self.isOpen, !self.context.index.isSubscribed(self, to: symbol),
            let row = self.context.knownRow(of: symbol), self.followed.delivery(of: row) == .latest
        else { return }
        self.followed.forgetPrice(of: row)
        self.showNewest(row)
    }

    func symbolAppeared(row: Int) { _ = self.followed.appeared(row) }

    func symbolVanished(row: Int) { self.followed.vanished(row) }

    private func report(_ notice: LineNotice, _ message: SharedMessage?) {
        if self.hasChosen { self.notify(notice, message) }
    }

    private func follows(_ symbol: String) -> Bool {
        self.context.knownRow(of: symbol).map { self.followed.follows($0) } ?? false
    }
}
