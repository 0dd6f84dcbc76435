/// The newest of each symbol, and the statistics of the session.
///
/// **Late trades.** Finnhub sends trades in the order of the exchange's clock, and a careful client drops what is older
/// than the newest it has. Here such a trade stays on the tape and counts in everything but one thing: it does not
/// replace the newest price. "Late" means older than the newest of its symbol by up to ``reorderWindow``. An older one
/// still is no late trade but a clock that was set back (a recording that begins again, one trade stamped far in the
/// future), and it does become the newest, so that no single wrong time can freeze a price. Where it is known that the tape
/// goes on at another time (``clockMoved()``), the next trade of each symbol is its newest, whatever its time.
///
/// **Trades that are ahead** (``TradeMarks/ahead``) are the newest that came and show their price, but their symbol's time
/// stays what it was: no later trade is late because of them.
package struct Board: Sendable {
    /// How much older than its symbol's newest a trade may be and still count as late, in ns of the exchange's clock.
    package static let reorderWindow: Int64 = 10_000_000_000

    /// What one trade did to its symbol's row.
    package struct Change: Sendable, Equatable {
        /// The row's index in ``Board/rows``.
        package var row: Int
        /// Whether the trade is the symbol's newest now; a late one is not.
        package var isNewest: Bool
    }

    /// The symbols in order of first appearance.
    package private(set) var rows: [SymbolSummary] = []
    /// The row of each symbol by its number, or -1.
    private var rowOfSymbol: [Int32] = []
    /// How often the clock was moved; for each row, how often it had been at its newest trade.
    private var moves = 0
    private var movesOfRow: [Int] = []

    package init() {}

    /// The index in ``rows`` of a symbol, if it has traded.
    package func row(of symbol: SymbolID) -> Int? {
        guard Int(symbol.index) < self.rowOfSymbol.count else { return nil }
        let row = self.rowOfSymbol[Int(symbol.index)]
        return row < 0 ? nil : Int(row)
    }

    /// The row of a symbol by its name, if it has traded.
    package func summary(of name: String) -> SymbolSummary? { self.rows.first { $0.symbol == name } }

    /// Notes that the tape goes on at another time, as that of a replay does that was moved: no trade from there is late
    /// because of those from before.
    package mutating func clockMoved() { self.moves += 1 }

    /// Takes in a batch: `trades[0]` has the number `firstSequence`, and all arrived at `received` (ns since 1970).
    package mutating func apply(
        trades: some Collection<Trade>,
        firstSequence: UInt64,
        received: Int64,
        symbols: SymbolTable
    ) {
        var sequence = firstSequence
        for trade in trades {
            _ = self.apply(trade, sequence: sequence, received: received, symbols: symbols)
            sequence += 1
        }
    }

    /// Takes in one trade; one that is ahead with the time of its arrival by the exchange's clock.
    package mutating func apply(
        _ trade: Trade,
        sequence: UInt64,
        received: Int64,
        symbols: SymbolTable
    ) -> Change {
        guard let row = self.row(of: trade.symbol) else {
            return self.open(trade, sequence: sequence, received: received, symbols: symbols)
        }
        let isMoved = self.movesOfRow[row] != self.moves
        if isMoved, !trade.marks.contains(.ahead) { self.movesOfRow[row] = self.moves }
        let isNewest = self.rows[row].take(trade, sequence: sequence, received: received, isMoved: isMoved)
        return Change(row: row, isNewest: isNewest)
    }

    private mutating func open(
        _ trade: Trade,
        sequence: UInt64,
        received: Int64,
        symbols: SymbolTable
    ) -> Change {
        let row = self.rows.count
        let index = Int(trade.symbol.index)
        while self.rowOfSymbol.count <= index { self.rowOfSymbol.append(-1) }
        self.rowOfSymbol[index] = Int32(row)
        // Behind one that is ahead the next trade is the newest, whatever its time.
        self.movesOfRow.append(trade.marks.contains(.ahead) ? self.moves - 1 : self.moves)
        self.rows.append(
            SymbolSummary(
                symbol: symbols.name(of: trade.symbol),
                price: trade.price,
                size: trade.size,
                exchangeTime: trade.exchangeTime,
                received: received,
                sequence: sequence,
                open: trade.price,
                high: trade.price,
                low: trade.price,
                volume: ExactSum(trade.size),
                trades: trade.isPriceUpdate ? 0 : 1,
                isAhead: trade.marks.contains(.ahead)
            )
        )
        return Change(row: row, isNewest: true)
    }
}

extension SymbolSummary {
    /// Takes in one more trade of the symbol; returns whether it is the newest now (see ``Board``: late trades).
    ///
    /// - Parameter isMoved: whether the clock was moved since the newest.
    fileprivate mutating func take(_ trade: Trade, sequence: UInt64, received: Int64, isMoved: Bool) -> Bool {
        if self.high < trade.price { self.high = trade.price }
        if trade.price < self.low { self.low = trade.price }
        if !trade.isPriceUpdate {
            self.volume.add(trade.size)
            self.trades += 1
        }
        if trade.marks.contains(.ahead) {
            self.show(trade, sequence: sequence, received: received)
            return true
        }
        // The difference of two times of any sign fits only with wrapping; a wrapped one is far outside the window.
        let age = self.exchangeTime &- trade.exchangeTime
        if !isMoved, age > 0, age <= Board.reorderWindow { return false }
        self.exchangeTime = trade.exchangeTime
        self.show(trade, sequence: sequence, received: received)
        return true
    }

    private mutating func show(_ trade: Trade, sequence: UInt64, received: Int64) {
        self.price = trade.price
        self.size = trade.size
        self.received = received
        self.sequence = sequence
        self.isAhead = trade.marks.contains(.ahead)
    }
}
