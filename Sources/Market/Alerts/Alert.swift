/// One alert that has fired.
package struct Alert: Sendable, Equatable {
    /// The rule's text as the user wrote it.
    package var rule: String
    /// The rule's condition as one stable word, such as `above` or `new-high`.
    package var kind: String
    /// The symbol, or `feed` for an alert about all symbols together.
    package var symbol: String
    /// The price that fired the alert, or the last price before a silence; `nil` if there was none.
    package var price: ExactDecimal?
    /// When it happened, ns since 1970. For a price it is the exchange's time, in a replay the recording's time.
    package var time: Int64
    /// The reason, in one line for a person.
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
