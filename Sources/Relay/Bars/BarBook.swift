import Market
import Wire

/// The bars of all symbols of a feed, of every width: the newest of each, in bounded memory.
struct BarBook {
    /// Where the exchange's clock and the arrivals' are further apart, the trades are not of now (a replay), ns.
    private static let foreignAfter: UInt64 = 3_600_000_000_000

    private var rows: [SymbolBars] = []
    private var names: [String: Int] = [:]
    /// The row of each symbol of the epoch; -1 where it has none yet.
    private var places: [Int] = []
    /// The newest time of all trades by the exchange's clock, ns since 1970, and when that trade arrived, monotonic ns.
    private(set) var newest: (time: Int64, arrived: Int64)?

    /// How many bars of each width a symbol keeps where there are so many symbols: 40 MB in all at most with up to 64 symbols,
    /// 90 MB with the 4,096 that there can be.
    static func capacity(symbols: Int) -> Int { symbols <= 64 ? 600 : symbols <= 512 ? 120 : 24 }

    /// A symbol of which another second began, and the seconds that were touched until then: their starts, ns since 1970.
    struct Advance {
        var symbol: String
        var seconds: [Int64]
    }

    /// Of how many trades no series can lose a bar before somebody has looked.
    var tradesPerLook: Int { Self.capacity(symbols: self.rows.count + 1) / 2 }

    /// Notes that symbols' numbers mean others from now on.
    mutating func epochBegan() { self.places = [] }

    /// Takes trades of a read; returns the symbols of which another second began, in that order.
    ///
    /// - Parameter places: which of the read's trades; all without it.
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
            if trade.exchangeTime > self.newest?.time ?? .min, !trade.marks.contains(.ahead) {
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

    /// Forgets the bars of all other symbols, whose numbers an epoch has used up; the names of the next need their places.
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
                self.rows[row].interrupted()
            } else {
                self.rows[row].gapFound(from: gap.from, to: gap.to)
            }
        }
    }

    mutating func begin(with earlier: [EarlierBars]) {
        for bars in earlier {
            guard let row = self.row(of: bars.symbol) else { continue }
            self.rows[row].begin(with: bars.bars, of: bars.width, endedAt: bars.endedAt)
        }
    }

    /// The bars of a symbol, those of the newest trades among them; `nil` where it has none.
    mutating func series(of symbol: String, _ width: BarWidth) -> BarSeries? {
        guard let row = self.names[symbol] else { return nil }
        self.rows[row].settle()
        return self.rows[row][width]
    }

    /// Whether a bar is over: a trade of any symbol came from behind its end, or the exchange's clock, which goes on from its
    /// newest trade, is well behind it.
    func isClosed(_ bar: Bar, now: Int64) -> Bool {
        guard let newest else { return true }
        if newest.time >= bar.end { return true }
        return newest.time &+ max(0, now - newest.arrived) >= bar.end &+ BarSeries.usualDelay
    }
}
