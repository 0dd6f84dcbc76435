package import Market

/// Trades that wait for the database, copied side by side: a batch's own array goes back to the feed, which uses it for the
/// next one.
package struct WaitingTrades: Sendable {
    /// Trades whose numbers follow each other, of one epoch.
    struct Run {
        let epoch: UInt64
        let first: UInt64
        var count: Int
        /// Our wall clock at the first and the last, ns since 1970.
        let begun: Int64
        var ended: Int64
        /// The names of all of them.
        var symbols: SymbolTable
    }

    private static let chunkTrades = 1_024

    private var chunks: [[Trade]] = []
    /// What is read next.
    private var chunk = 0
    private var place = 0
    package private(set) var count = 0

    package init() {}

    /// Copies trades behind the others.
    package mutating func append(_ trades: [Trade]) {
        self.count += trades.count
        if self.chunks.last.map({ $0.count + trades.count > Self.chunkTrades }) ?? true {
            var chunk: [Trade] = []
            chunk.reserveCapacity(max(trades.count, Self.chunkTrades))
            self.chunks.append(chunk)
        }
        self.chunks[self.chunks.count - 1].append(contentsOf: trades)
    }

    /// The next ones, at most so many and at least one; what was appended at once comes in one piece.
    package mutating func next(_ most: Int) -> ArraySlice<Trade> {
        while self.place == self.chunks[self.chunk].count {
            self.chunk += 1
            self.place = 0
        }
        let trades = self.chunks[self.chunk][self.place...].prefix(most)
        self.place += trades.count
        return trades
    }

    /// Is empty now, with memory for what comes next if it has as much as is usual.
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
