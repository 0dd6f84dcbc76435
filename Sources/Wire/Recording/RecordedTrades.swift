package import Market

/// The recorded trades of an earlier run, under their numbers on its tape.
package struct RecordedTrades: Sendable {
    /// The run of numbers.
    package var epoch: UInt64
    /// The number of `trades[0]`; the others follow without a hole.
    package var first: UInt64
    package var trades: [Trade]
    /// For each trade, this machine's wall clock at its arrival, ns since 1970.
    package var received: [Int64]
    /// The names for the symbols of `trades`.
    package var symbols: SymbolTable

    package init(epoch: UInt64, first: UInt64, trades: [Trade], received: [Int64], symbols: SymbolTable) {
        precondition(trades.count == received.count, "\(trades.count) trades, \(received.count) arrivals")
        self.epoch = epoch
        self.first = first
        self.trades = trades
        self.received = received
        self.symbols = symbols
    }

    /// The numbers of the trades.
    package var sequences: Range<UInt64> { self.first..<self.first + UInt64(self.trades.count) }

    /// Inserts earlier trades of the same run, which end where these begin.
    package mutating func prepend(_ before: RecordedTrades) {
        precondition(before.epoch == self.epoch && before.sequences.upperBound == self.first, "no run goes on here")
        var symbols = before.symbols
        // The other table may number the same names differently.
        var numbers: [SymbolID: SymbolID] = [:]
        var later = self.trades
        for place in later.indices {
            let old = later[place].symbol
            let new = numbers[old] ?? symbols.intern(self.symbols.name(of: old))
            guard let new else { return }
            numbers[old] = new
            later[place].symbol = new
        }
        self.first = before.first
        self.trades = before.trades + later
        self.received = before.received + self.received
        self.symbols = symbols
    }
}
