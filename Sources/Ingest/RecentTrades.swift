package import Market

/// The newest trades of each symbol, for the comparison with the trades after an interruption.
package struct RecentTrades: Sendable {
    /// The most trades of each symbol: 48 KiB. A symbol with fewer trades takes only the memory that it needs.
    package static let length = 1_024

    private struct Tail: Sendable {
        /// In order until the array is full, then used as a ring.
        var trades: [Trade] = []
        var next = 0

        mutating func append(_ trade: Trade) {
            guard self.trades.count == RecentTrades.length else { return self.trades.append(trade) }
            self.trades[self.next] = trade
            self.next = (self.next &+ 1) & (RecentTrades.length &- 1)
        }
    }

    /// The index is the symbol's number.
    private var tails: [Tail] = []

    package init() {}

    /// Takes the trades of a read in the order of the tape.
    package mutating func append(_ trades: [Trade], symbolCount: Int) {
        if symbolCount > self.tails.count {
            self.tails.append(contentsOf: repeatElement(Tail(), count: symbolCount - self.tails.count))
        }
        self.tails.withUnsafeMutableBufferPointer { tails in
            for trade in trades { tails[Int(trade.symbol.index)].append(trade) }
        }
    }

    /// The tails by symbol number, oldest first.
    func inOrder() -> [[Trade]] {
        self.tails.map { Array($0.trades[$0.next...]) + $0.trades[..<$0.next] }
    }
}
