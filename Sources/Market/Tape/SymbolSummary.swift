/// The newest trade of one symbol, with its statistics of the session.
package struct SymbolSummary: Sendable, Equatable {
    package var symbol: String
    /// The newest price, and the size of that trade.
    package var price: ExactDecimal
    package var size: ExactDecimal
    /// The exchange's clock of the newest trade, ns since 1970.
    package var exchangeTime: Int64
    /// Our wall clock at the arrival of the newest trade, ns since 1970.
    package var received: Int64
    /// The newest trade's number on the tape.
    package var sequence: UInt64
    /// The session's first price and its extremes.
    package var open: ExactDecimal
    package var high: ExactDecimal
    package var low: ExactDecimal
    /// The exact sum of all sizes.
    package var volume: ExactSum
    /// The number of trades in the session, without price updates.
    package var trades: UInt64
    /// Whether the newest trade is ahead (``TradeMarks/ahead``): its price is shown, but the time of the price is
    /// unknown.
    package var isAhead: Bool

    package init(
        symbol: String,
        price: ExactDecimal,
        size: ExactDecimal,
        exchangeTime: Int64,
        received: Int64,
        sequence: UInt64,
        open: ExactDecimal,
        high: ExactDecimal,
        low: ExactDecimal,
        volume: ExactSum,
        trades: UInt64,
        isAhead: Bool = false
    ) {
        self.symbol = symbol
        self.price = price
        self.size = size
        self.exchangeTime = exchangeTime
        self.received = received
        self.sequence = sequence
        self.open = open
        self.high = high
        self.low = low
        self.volume = volume
        self.trades = trades
        self.isAhead = isAhead
    }
}
