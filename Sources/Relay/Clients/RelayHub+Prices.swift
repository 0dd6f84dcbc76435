import Ingest
package import Market
import NIOCore
import Wire

extension RelayHub: SettledPriceReader {
    /// Subscribes to the prices that become due between two batches. Called once on the loop, before the first trade.
    package func followPrices() { self.settled.add(self) }

    package func pricesSettled(_ updates: [PriceUpdate]) {
        if self.sessions.isEmpty { return self.keepLater(updates) }
        self.show(self.prices.showings(updates))
        self.flush()
    }
}

/// The debounced prices of `/v1/stream`, and the sessions that get them.
extension RelayHub {
    /// Returns the row of a symbol, and adds one if it has none.
    func row(of symbol: String) -> Int {
        let row = self.prices.row(of: symbol)
        for new in self.prices.takeAppeared() { self.appeared(new) }
        return row
    }

    /// Frees a symbol's row if it has no subscriber, no status, and no trade in this epoch. Otherwise a client that
    /// subscribes to one name after another would use up the rows.
    func freeRow(of symbol: String) {
        guard let row = self.prices.knownRow(of: symbol), self.symbolStates[symbol] == nil,
            !self.subscriptions.holds(symbol),
            self.prices.free(row)
        else { return }
        self.releasedSince[symbol] = nil
        for session in self.index.allFollowers { session.symbolVanished(row: row) }
    }

    /// Frees the rows of all symbols that traded in an earlier epoch and have no subscriber. An epoch has a bounded
    /// number of names, so there are at most the rows of two epochs.
    func freeRowsOfEarlierEpochs() {
        guard self.prices.takeEpochBegan() else { return }
        for row in self.prices.liveRows { self.freeRow(of: self.prices.symbol(ofRow: row)) }
        let prices = self.prices
        self.bars.keep { self.subscriptions.holds($0) || prices.knownRow(of: $0) != nil }
    }

    /// Returns the newest price of a symbol; `nil` if it has not traded.
    func newest(of symbol: String) -> SymbolSummary? {
        self.prices.knownRow(of: symbol).flatMap { self.prices.newest(row: $0)?.summary }
    }

    func appeared(_ row: Int) {
        for session in self.index.allFollowers { session.symbolAppeared(row: row) }
    }

    func show(_ showings: [PriceTable.Showing]) {
        for showing in showings {
            var price = EncodedPrice(showing.update, ordinal: showing.ordinal)
            for session in self.index.priceSessions(of: showing.update.summary.symbol) {
                session.priceShown(&price, row: showing.row)
            }
            self.noteShown(showing.update)
        }
    }

    /// Schedules the report of trades that changed no price: a market with a constant price is alive.
    func armActivityTimer() {
        guard self.activityTimer == nil, self.priceSessions > 0 else { return }
        self.activityTimer = self.loop.assumeIsolated().scheduleTask(in: self.settings.activityInterval) {
            self.activityTimer = nil
            for activity in self.prices.takeActivity() {
                let message = self.message()
                for session in self.index.priceSessions(of: activity.summary.symbol) {
                    session.tradesCounted(activity.summary, row: activity.row, message)
                }
            }
            self.flush()
        }
    }

    /// Notes a price that the next flush sends to clients.
    func noteShown(_ update: PriceUpdate) {
        guard self.priceSessions > 0 else { return }
        if update.skipped > 0 { self.counters.skipped.stream.increment(by: Int64(clamping: update.skipped)) }
        guard let age = self.age(ofArrival: update.summary.received) else { return }
        self.outputs.noteShown(arrival: self.monotonic - age)
    }

    /// Returns the time since an arrival (wall clock, ns since 1970), ns; never negative.
    func age(ofArrival received: Int64) -> Int64? {
        guard let lastArrival else { return nil }
        let now = self.monotonic
        return max(0, now - lastArrival.monotonic + (lastArrival.received - received))
    }
}
