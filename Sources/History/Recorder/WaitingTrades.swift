package import Market

/// The trades that wait for the database, copied together: the array of a batch goes back to the feed, which uses it
/// for the next one.
package struct WaitingTrades: Sendable {
    /// Trades of one epoch with consecutive numbers.
    struct Run {
        let epoch: UInt64
        let first: UInt64
        var count: Int
        /// Our wall clock at the first and the last trade, ns since 1970.
        let begun: Int64
        var ended: Int64
        /// The names of all their symbols.
        var symbols: SymbolTable
    }

    private static let chunkTrades = 1_024

    private var chunks: [[Trade]] = []
    /// The position of the next trade to read.
    private var chunk = 0
    private var place = 0
    package private(set) var count = 0

    package init() {}

    /// Appends copies of trades.
    package mutating func append(_ trades: [Trade]) {
        self.count += trades.count
        if self.chunks.last.map({ $0.count + trades.count > Self.chunkTrades }) ?? true {
            var chunk: [Trade] = []
            chunk.reserveCapacity(max(trades.count, Self.chunkTrades))
            self.chunks.append(chunk)
        }
        self.chunks[self.chunks.count - 1].append(contentsOf: trades)
    }

    /// Returns the next trades, at least one and at most `most`. Trades that were appended together come together.
    package mutating func next(_ most: Int) -> ArraySlice<Trade> {
        while self.place == self.chunks[self.chunk].count {
            self.chunk += 1
            self.place = 0
        }
        let trades = self.chunks[self.chunk][self.place...].prefix(most)
        self.place += trades.count
        return trades
    }

    /// Removes all trades. Memory of the usual size is kept for the next ones.
    package mutating func clear() {
        self.chunk = 0
        self.place = 0
        self.count = 0
        self.chunks.removeSubrange(min(1, self.chunks.count)...)
        guard !self.chunks.isEmpty else { return }
        if self.chunks[0].capacity > 2 * Self.chunkTrades {
            self.chunks = []
        } else {
            self.chunks[0].removeAll(keepingCapacity: true)
        }
    }
}
