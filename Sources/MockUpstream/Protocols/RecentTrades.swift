package import Market

/// The newest trades of each symbol that a player has played, for what a venue sends at a subscription.
///
/// Used on the player's loop only.
package final class RecentTrades {
    /// The trades kept of each symbol: as many as a snapshot of Kraken's has.
    package static let kept = 50

    /// The names of the trades' symbols.
    package private(set) var symbols = SymbolTable()
    /// By the symbol's number; in the order of the ids.
    private var trades: [[Trade]] = []

    package init() {}

    /// Takes a message's trades. A repeat, and a trade older than the newest, is left out.
    package func take(_ trades: [Trade], symbols: SymbolTable) {
        self.symbols = symbols
        for trade in trades {
            let index = Int(trade.symbol.index)
            while self.trades.count <= index { self.trades.append([]) }
            if let newest = self.trades[index].last?.id, (trade.id ?? 0) <= newest { continue }
            // The oldest half goes at once, so that a trade costs no move of the others.
            if self.trades[index].count == 2 * Self.kept { self.trades[index].removeFirst(Self.kept) }
            self.trades[index].append(trade)
        }
    }

    /// Returns the newest trades of a symbol, oldest first.
    package func trades(of symbol: String) -> ArraySlice<Trade> {
        guard let id = self.symbols.id(of: symbol), Int(id.index) < self.trades.count else { return [] }
        return self.trades[Int(id.index)].suffix(Self.kept)
    }
}
