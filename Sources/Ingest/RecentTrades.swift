package import Market

/// The newest trades of each symbol, to compare with what comes after an interruption.
package struct RecentTrades: Sendable {
    /// How many of each symbol, at most: 48 KiB. One that trades less has no room for more than it needs.
    package static let length = 1_024

    private struct Tail: Sendable {
        /// In order until there are as many as may be; then used in a circle.
        var trades: [Trade] = []
        var next = 0

        mutating func append(_ trade: Trade) {
            guard self.trades.count == RecentTrades.length else { return self.trades.append(trade) }
            self.trades[self.next] = trade
            self.next = (self.next &+ 1) & (RecentTrades.length &- 1)
        }
    }

    /// By the symbol's number.
    private var tails: [Tail] = []

    package init() {}

    /// Takes trades that went onto the tape.
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
