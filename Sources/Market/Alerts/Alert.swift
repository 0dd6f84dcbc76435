/// One alert that has fired.
package struct Alert: Sendable, Equatable {
    /// The rule as it is written.
    package var rule: String
    /// The rule's condition as one stable word: `above`, `new-high`.
    package var kind: String
    /// The symbol, or `feed` for all of them together.
    package var symbol: String
    /// The price that fired it, or the last one before a silence; `nil` where there was none.
    package var price: ExactDecimal?
    /// When it happened, ns since 1970: by the exchange's clock for a price. In a replay it is the recording's time.
    package var time: Int64
    /// Why, in one line for a person.
    package var reason: String
    /// How often the rule has fired for this symbol, this time included.
    package var count: UInt64

    package init(
        rule: String,
        kind: String,
        symbol: String,
        price: ExactDecimal?,
        time: Int64,
        reason: String,
        count: UInt64
    ) {
        self.rule = rule
        self.kind = kind
        self.symbol = symbol
        self.price = price
        self.time = time
        self.reason = reason
        self.count = count
    }
}
