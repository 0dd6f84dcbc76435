import Market
import Wire

/// The bars of all symbols of a feed, in every width. Memory is bounded: each series keeps its newest bars only.
struct BarBook {
    /// If the exchange's clock and the arrivals differ by more than this, the trades are old ones (a replay); ns.
    private static let foreignAfter: UInt64 = 3_600_000_000_000

    private var rows: [SymbolBars] = []
    private var names: [String: Int] = [:]
    /// The row of each symbol of the epoch; -1 before the symbol's first trade.
    private var places: [Int] = []
    /// The newest exchange time of all trades (ns since 1970), and the arrival of that trade (monotonic ns).
    private(set) var newest: (time: Int64, arrived: Int64)?

    /// Returns how many bars of each width are kept per symbol. All symbols together take at most 40 MB with up to 64
    /// symbols, and 90 MB with the maximum of 4,096.
    static func capacity(symbols: Int) -> Int { symbols <= 64 ? 600 : symbols <= 512 ? 120 : 24 }

    /// A symbol whose trades began another second.
    struct Advance {
        var symbol: String
        var seconds: [Int64]
    }

    /// The most trades that can be taken before a series may drop a bar that has not been read.
    var tradesPerLook: Int { Self.capacity(symbols: self.rows.count + 1) / 2 }

    /// Forgets which symbol each number means; the next epoch assigns the numbers anew.
    mutating func epochBegan() { self.places = [] }

    /// Takes trades of a batch; returns the symbols whose trades began another second, in the order of the trades.
    ///
    /// - Parameter places: the positions of the trades in the batch; `nil` takes all.
    mutating func take(_ batch: TapeBatch, _ places: Range<Int>? = nil) -> [Advance] {
        while self.places.count < batch.symbols.count { self.places.append(-1) }
        var advances: [Advance] = []
        var known: [Int: Int] = [:]
        for place in places ?? batch.trades.indices {
            let trade = batch.countedTrade(at: place)
            let index = Int(trade.symbol.index)
            var row = self.places[index]
            if row < 0 {
                guard let made = self.row(of: batch.symbols.name(of: trade.symbol)) else { continue }
                row = made
                self.places[index] = row
            }
            let before = self.rows[row].pieceStart
            if self.rows[row].take(trade) {
                let place = known[row] ?? advances.count
                if place == advances.count {
                    known[row] = place
                    advances.append(Advance(symbol: batch.symbols.name(of: trade.symbol), seconds: []))
                }
                if let before { advances[place].seconds.append(before) }
                if let after = self.rows[row].pieceStart { advances[place].seconds.append(after) }
            }
            if trade.exchangeTime > self.newest?.time ?? .min, trade.marks.isDisjoint(with: [.ahead, .filled]) {
                self.newest = (trade.exchangeTime, batch.receivedMonotonic)
            }
        }
        return advances
    }

    private mutating func row(of symbol: String) -> Int? {
        if let row = self.names[symbol] { return row }
        guard self.rows.count < SymbolTable.capacity else { return nil }
        let before = Self.capacity(symbols: self.rows.count)
        let capacity = Self.capacity(symbols: self.rows.count + 1)
        if capacity != before { for row in self.rows.indices { self.rows[row].keep(capacity) } }
        self.names[symbol] = self.rows.count
        self.rows.append(SymbolBars(capacity: capacity))
        return self.rows.count - 1
    }

    /// Removes the bars of the symbols that are not kept. An epoch may have used up all rows, and the next one's
    /// symbols need them.
    mutating func keep(_ isKept: (String) -> Bool) {
        let kept = self.names.filter { isKept($0.key) }.sorted { $0.value < $1.value }
        guard kept.count < self.rows.count else { return }
        self.rows = kept.map { self.rows[$0.value] }
        self.names = [:]
        for (row, symbol) in kept.enumerated() { self.names[symbol.key] = row }
        self.places = []
    }

    mutating func gapFound(_ gap: Gap) {
        let isForeign = self.newest.map { ($0.time &- gap.to).magnitude > Self.foreignAfter } ?? false
        for (name, row) in self.names where gap.symbol == nil || gap.symbol == name {
            if isForeign {
                self.rows[row].interrupted(missing: gap.missing, published: gap.movesClock ? nil : gap.times)
            } else {
                self.rows[row].gapFound(from: gap.from, to: gap.to, missing: gap.missing)
            }
        }
    }

    mutating func gapSettled(_ outcome: GapOutcome) {
        guard let row = self.names[outcome.symbol] else { return }
        self.rows[row].gapSettled(outcome.missing, published: outcome.times, isComplete: outcome.isComplete)
    }

    mutating func begin(with earlier: [EarlierBars]) {
        for bars in earlier {
            guard let row = self.row(of: bars.symbol) else { continue }
            self.rows[row].begin(with: bars.bars, of: bars.width, endedAt: bars.endedAt)
        }
    }

    /// Returns the bars of a symbol, including those of the newest trades; `nil` if it has none.
    mutating func series(of symbol: String, _ width: BarWidth) -> BarSeries? {
        guard let row = self.names[symbol] else { return nil }
        self.rows[row].settle()
        return self.rows[row][width]
    }

    /// Returns whether a bar is over.
    ///
    /// A bar is over once a trade of any symbol is later than its end, or once the exchange's clock is well past its
    /// end. That clock is extrapolated from the newest trade.
    func isClosed(_ bar: Bar, now: Int64) -> Bool {
        guard let newest else { return true }
        if newest.time >= bar.end { return true }
        return newest.time &+ max(0, now - newest.arrived) >= bar.end &+ BarSeries.usualDelay
    }
}
