package import Market

/// A price from which the change of a symbol is counted where its exchange does not publish one.
package struct ChangeReference: Sendable, Equatable {
    package enum Span: Sendable, Equatable {
        /// The price of 24 hours ago, in the program's own history.
        case day
        /// Finnhub's previous close.
        case close
    }

    package var symbol: String
    package var price: ExactDecimal
    package var span: Span
    /// Until when it is shown; our wall clock, ns since 1970.
    package var until: Int64

    package init(symbol: String, price: ExactDecimal, span: Span, until: Int64) {
        (self.symbol, self.price, self.span, self.until) = (symbol, price, span, until)
    }
}
