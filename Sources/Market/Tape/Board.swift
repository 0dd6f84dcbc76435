/// The newest price of each symbol, and the statistics of the session.
///
/// **Late trades.** Finnhub sends trades in the order of the exchange's clock, and a careful client drops trades that
/// are older than the newest it has. Here such a trade stays on the tape and counts everywhere with one exception: it
/// does not replace the newest price. "Late" means older than the newest trade of its symbol by up to
/// ``reorderWindow``. A trade that is still older means that the clock was set back (a recording that begins again, one
/// trade stamped far in the future). It does become the newest, so that no single wrong time can freeze a price. After
/// a known jump of the tape's time (``clockMoved()``), the next trade of each symbol is its newest, whatever its time.
///
/// **Filled trades** (``TradeMarks/filled``) are never the newest, however old they are.
///
/// **Trades that are ahead** (``TradeMarks/ahead``) are the newest and show their price, but leave their symbol's time
/// as it was: no later trade is late because of them.
package struct Board: Sendable {
    /// The largest age at which a trade counts as late, compared with its symbol's newest, ns of the exchange's clock.
    package static let reorderWindow: Int64 = 10_000_000_000

    /// The effect of one trade on its symbol's row.
    package struct Change: Sendable, Equatable {
        /// The row's index in ``Board/rows``.
        package var row: Int
        /// Whether the trade is now the symbol's newest; a late trade is not.
        package var isNewest: Bool
    }

    /// The symbols in order of first appearance.
    package private(set) var rows: [SymbolSummary] = []
    /// The row of each symbol by its number, or -1.
    private var rowOfSymbol: [Int32] = []
    /// The number of jumps of the clock so far, and for each row the number at its newest trade.
    private var moves = 0
    private var movesOfRow: [Int] = []

    package init() {}

    /// Returns the index in ``rows`` of a symbol; `nil` if it has not traded.
    package func row(of symbol: SymbolID) -> Int? {
        guard Int(symbol.index) < self.rowOfSymbol.count else { return nil }
        let row = self.rowOfSymbol[Int(symbol.index)]
        return row < 0 ? nil : Int(row)
    }

    /// Returns the row of a symbol by its name; `nil` if it has not traded.
    package func summary(of name: String) -> SymbolSummary? { self.rows.first { $0.symbol == name } }

    /// Notes that the tape's time jumps, as it does when a replay is moved. No trade after the jump is late compared
    /// with trades before it.
    package mutating func clockMoved() { self.moves += 1 }

    /// Adds a batch: `trades[0]` has the number `firstSequence`, and all arrived at `received` (ns since 1970).
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

    /// Adds one trade. For a trade that is ahead, `received` is its arrival by the exchange's clock.
    ///
    /// - Returns: `nil` for a filled trade of a symbol without a row, which is left out.
    package mutating func apply(
        _ trade: Trade,
        sequence: UInt64,
        received: Int64,
        symbols: SymbolTable
    ) -> Change? {
        guard let row = self.row(of: trade.symbol) else {
            if trade.isFilled { return nil }
            return self.open(trade, sequence: sequence, received: received, symbols: symbols)
        }
        let isMoved = self.movesOfRow[row] != self.moves
        if isMoved, trade.marks.isDisjoint(with: [.ahead, .filled]) { self.movesOfRow[row] = self.moves }
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
        // After a first trade that is ahead the next one is the newest, whatever its time.
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
    /// Adds a trade of the symbol; returns whether it is now the newest (see ``Board``: late trades).
    ///
    /// - Parameter isMoved: whether the clock has jumped since the newest trade.
    fileprivate mutating func take(_ trade: Trade, sequence: UInt64, received: Int64, isMoved: Bool) -> Bool {
        if self.high < trade.price { self.high = trade.price }
        if trade.price < self.low { self.low = trade.price }
        if !trade.isPriceUpdate {
            self.volume.add(trade.size)
            self.trades += 1
        }
        if trade.isFilled { return false }
        if trade.marks.contains(.ahead) {
            self.show(trade, sequence: sequence, received: received)
            return true
        }
        // The difference of two arbitrary times may wrap around; a wrapped one is far outside of the window.
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
