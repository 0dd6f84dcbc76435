import Market

/// A symbol's last 24 hours, computed from the trades that a mock server has played and keeps.
struct PlayedDay: Equatable {
    private static let length: Int64 = 86_400_000_000_000

    var open: ExactDecimal
    var high: ExactDecimal
    var low: ExactDecimal
    var last: ExactDecimal
    var volume = ExactSum()
    var count = 0

    /// - Parameter trades: in the order of their ids.
    /// - Returns: `nil` without trades.
    init?(_ trades: ArraySlice<Trade>) {
        guard let newest = trades.last else { return nil }
        let start = newest.exchangeTime.subtractingCapped(Self.length)
        let trades = trades.filter { $0.exchangeTime > start }
        guard let first = trades.first else { return nil }
        (self.open, self.high, self.low, self.last) = (first.price, first.price, first.price, newest.price)
        for trade in trades {
            self.high = max(self.high, trade.price)
            self.low = min(self.low, trade.price)
            self.volume.add(trade.size)
            self.count += 1
        }
    }
}
