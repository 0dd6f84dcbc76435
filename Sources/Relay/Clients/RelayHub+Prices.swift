import Ingest
package import Market
import NIOCore
import Wire

extension RelayHub: SettledPriceReader {
    /// Reads the prices that become due between two reads of the feed. On the loop, once, before the first trade.
    package func followPrices() { self.settled.add(self) }

    package func pricesSettled(_ updates: [PriceUpdate]) {
        self.show(self.prices.showings(updates))
        self.flush()
    }
}

/// The debounced prices of `/v1/stream`: who is shown what.
extension RelayHub {
    /// Returns the row of a symbol, which appears by being asked for if it has not traded.
    func row(of symbol: String) -> Int {
        let row = self.prices.row(of: symbol)
        for new in self.prices.takeAppeared() { self.appeared(new) }
        return row
    }

    /// Gives a symbol's row back when nobody wants it, nothing is known of it, and it has not traded in this epoch: somebody
    /// who asks for one name after the other must not use up the place for all.
    func freeRow(of symbol: String) {
        guard let row = self.prices.knownRow(of: symbol), self.symbolStates[symbol] == nil,
            !self.subscriptions.holds(symbol),
            self.prices.free(row)
        else { return }
        self.releasedSince[symbol] = nil
        for session in self.index.allFollowers { session.symbolVanished(row: row) }
    }

    /// Gives back the rows of all symbols that traded in an earlier epoch and that nobody asks for. An epoch has a bounded
    /// number of names, so there are no more rows than two of them have.
    func freeRowsOfEarlierEpochs() {
        guard self.prices.takeEpochBegan() else { return }
        for row in self.prices.liveRows { self.freeRow(of: self.prices.symbol(ofRow: row)) }
        self.bars.keep { self.subscriptions.holds($0) || self.prices.knownRow(of: $0) != nil }
    }

    /// The newest of a symbol, if it has traded.
    func newest(of symbol: String) -> SymbolSummary? {
        self.prices.knownRow(of: symbol).flatMap { self.prices.newest(row: $0)?.summary }
    }

    func appeared(_ row: Int) {
        for session in self.index.allFollowers { session.symbolAppeared(row: row) }
    }

    func show(_ showings: [PriceTable.Showing]) {
        for showing in showings {
            var price = EncodedPrice(showing.update, ordinal: showing.ordinal)
            for session in self.index.sessions(of: showing.update.summary.symbol) {
                session.priceShown(&price, row: showing.row)
            }
            self.noteShown(showing.update)
        }
    }

    /// A market whose price stands still is alive: its trades are told of, though no price is.
    func armActivityTimer() {
        guard self.activityTimer == nil, self.priceSessions > 0 else { return }
        self.activityTimer = self.loop.assumeIsolated().scheduleTask(in: self.settings.activityInterval) {
            self.activityTimer = nil
            for activity in self.prices.takeActivity() {
                let message = self.message()
                for session in self.index.sessions(of: activity.summary.symbol) {
                    session.tradesCounted(activity.summary, row: activity.row, message)
                }
            }
            self.flush()
        }
    }

    /// Notes a price that the next flush shows to somebody.
    func noteShown(_ update: PriceUpdate) {
        guard self.priceSessions > 0 else { return }
        if update.skipped > 0 { self.skipped.stream.increment(by: Int64(clamping: update.skipped)) }
        guard let age = self.age(ofArrival: update.summary.received) else { return }
        self.shownArrivals.append(self.monotonic - age)
    }

    /// How long ago something arrived by our wall clock, ns; never negative.
    func age(ofArrival received: Int64) -> Int64? {
        guard let lastArrival else { return nil }
        let now = self.monotonic
        return max(0, now - lastArrival.monotonic + (lastArrival.received - received))
    }
}
