/// A quantity of one symbol that was bought at one price.
package struct Lot: Sendable, Equatable {
    package var symbol: String
    /// In units of the base currency; negative for a sold one that must be bought back.
    package var quantity: ExactDecimal
    /// The price that was paid for one unit, not negative.
    package var cost: ExactDecimal
    /// The currency of the symbol's price and of ``cost``.
    package var currency: String

    package init(symbol: String, quantity: ExactDecimal, cost: ExactDecimal, currency: String) {
        (self.symbol, self.quantity, self.cost, self.currency) = (symbol, quantity, cost, currency)
    }
}

/// A symbol whose price is the rate between two currencies: the price of one unit of `base`, in `quote`.
package struct CurrencyRate: Sendable, Equatable {
    package var symbol: String
    package var base: String
    package var quote: String

    package init(symbol: String, base: String, quote: String) {
        (self.symbol, self.base, self.quote) = (symbol, base, quote)
    }

    /// Whether the rate is between these two, in either direction.
    func isBetween(_ one: String, _ other: String) -> Bool {
        (self.base, self.quote) == (one, other) || (self.base, self.quote) == (other, one)
    }
}
