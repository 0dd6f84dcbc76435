import Market

/// What a trade of Finnhub's and the same trade of its venue have in common: Finnhub sends no id, and its times are in
/// milliseconds.
struct AuditContent: Hashable {
    /// The exchange's time, ms since 1970; a venue's microseconds are cut.
    let time: Int64
    let price: ExactDecimal
    let size: ExactDecimal

    init(_ trade: Trade) {
        self.time = Self.milliseconds(trade.exchangeTime)
        self.price = trade.price
        self.size = trade.size
    }

    /// Returns a time in whole milliseconds, cut towards the past.
    static func milliseconds(_ nanoseconds: Int64) -> Int64 {
        let (milliseconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return rest < 0 ? milliseconds - 1 : milliseconds
    }
}
