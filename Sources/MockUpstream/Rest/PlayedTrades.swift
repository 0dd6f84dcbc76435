package import Market

/// The trades of a venue that a mock server has played, by symbol, in the order of their ids, each id once: what its REST
/// service has. A fault that withholds a trade from a client does not withhold it here.
///
/// It belongs to one loop. It keeps the newest trades, of each symbol an equal share of the limit; a quarter more is kept
/// for a while, so that a trade costs no move of the others. A trade has 48 bytes: 200,000 take 12 MB at most.
package final class PlayedTrades {
    /// The trades of one symbol.
    private struct Symbol {
        var trades: [Trade] = []
        /// When the newest ids were played, at most one entry in 5 ms; empty unless a service lags.
        var arrivals: [(at: Int64, newest: UInt64)] = []
    }

    private let limit: Int
    private var places: [String: Int] = [:]
    private var symbols: [Symbol] = []
    /// The symbol of the trade before: most neighbours have the same.
    private var last: (name: String, place: Int)?
    /// For how long ``Symbol/arrivals`` are kept, ns.
    private var kept: Int64 = 0

    package init(limit: Int = 200_000) {
        precondition(limit > 0, "a store of \(limit) trades")
        self.limit = limit
    }

    /// The most trades of a symbol.
    private var share: Int { max(self.limit / max(self.symbols.count, 1), 1) }

    /// Returns whether a symbol, as the tape names it, has trades.
    func has(_ symbol: String) -> Bool { self.places[symbol] != nil }

    /// Takes trades that are played at `now` (monotonic ns). Trades without an id are left out; a trade whose id is
    /// present replaces that one.
    package func take(_ trades: some Collection<Trade>, symbols: SymbolTable, now: Int64) {
        for trade in trades {
            guard let id = trade.id else { continue }
            let place = self.place(of: symbols.name(of: trade.symbol))
            if let newest = self.symbols[place].trades.last?.id, id <= newest {
                self.insert(trade, id, at: place)
            } else {
                self.symbols[place].trades.append(trade)
                if self.kept > 0 { self.note(id, at: place, now: now) }
            }
            let count = self.symbols[place].trades.count
            if count > self.share + self.share / 4 { self.symbols[place].trades.removeFirst(count - self.share) }
        }
    }

    /// Returns the trades of a symbol in the order of their ids.
    package func trades(of symbol: String) -> ArraySlice<Trade> {
        self.places[symbol].map { self.symbols[$0].trades[...] } ?? []
    }

    /// Returns those trades of a symbol that were played before a time, monotonic ns.
    ///
    /// Of the trades that were played after newer ones, no time is known.
    func trades(of symbol: String, playedBefore time: Int64) -> ArraySlice<Trade> {
        guard let place = self.places[symbol],
            let newest = self.symbols[place].arrivals.last(where: { $0.at <= time })?.newest
        else { return [] }
        let trades = self.symbols[place].trades
        return trades[..<Self.first(from: newest &+ 1, in: trades[...])]
    }

    /// Keeps the times of plays for this long, ns, for ``trades(of:playedBefore:)``.
    func keepTimes(for span: Int64) { self.kept = max(self.kept, span) }

    /// Returns the index of the first trade whose id is not below `id`.
    static func first(from id: UInt64, in trades: ArraySlice<Trade>) -> Int {
        trades.firstPlace { ($0.id ?? 0) < id }
    }

    private func place(of name: String) -> Int {
        if let last, last.name == name { return last.place }
        let place: Int
        if let known = self.places[name] {
            place = known
        } else {
            place = self.symbols.count
            self.places[name] = place
            self.symbols.append(Symbol())
            // The others' shares are smaller now.
            for index in self.symbols.indices {
                let excess = self.symbols[index].trades.count - self.share
                if excess > 0 { self.symbols[index].trades.removeFirst(excess) }
            }
        }
        self.last = (name, place)
        return place
    }

    private func insert(_ trade: Trade, _ id: UInt64, at place: Int) {
        let index = Self.first(from: id, in: self.symbols[place].trades[...])
        if self.symbols[place].trades[index].id == id {
            self.symbols[place].trades[index] = trade
        } else if index > 0 || self.symbols[place].trades.count < self.share {
            self.symbols[place].trades.insert(trade, at: index)
        }
    }

    private func note(_ id: UInt64, at place: Int, now: Int64) {
        let count = self.symbols[place].arrivals.count
        if count > 1, now - self.symbols[place].arrivals[count - 2].at < 10_000_000 {
            self.symbols[place].arrivals[count - 1] = (now, id)
            return
        }
        self.symbols[place].arrivals.append((now, id))
        // One older entry says what is visible at the end of the time that is kept.
        guard count >= 1_024, count.isMultiple(of: 1_024) else { return }
        let time = now.subtractingCapped(self.kept)
        let old = self.symbols[place].arrivals.lastIndex { $0.at <= time } ?? 0
        self.symbols[place].arrivals.removeFirst(old)
    }
}
