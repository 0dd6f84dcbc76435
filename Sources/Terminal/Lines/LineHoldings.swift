import Market

/// The person's holdings at the newest prices, for the fields of a line.
struct LineHoldings: Sendable {
    /// The holding of one symbol.
    struct Holding {
        var worth: Worth
        /// The share in all holdings in percent; `nil` if it is not known.
        var weight: ExactDecimal?
        /// The name of the span of the worth's change today.
        var span: String
    }

    private var portfolio: Portfolio
    private var days: [String: VenueDay] = [:]
    private var spans: [String: ChangeBase.Span] = [:]

    init(_ holdings: Holdings) {
        self.portfolio = Portfolio(holdings)
    }

    /// Takes a symbol's newest price.
    mutating func take(_ summary: SymbolSummary) {
        guard !self.portfolio.holdings.isEmpty else { return }
        // The price's own arrival is the time at which the venue's figures must be good.
        let base = ChangeBase(open: summary.open, day: self.days[summary.symbol], wall: summary.received)
        self.spans[summary.symbol] = base.span
        self.portfolio.take(summary.symbol, price: summary.price, before: base.price)
    }

    /// Takes the venue's own figures of a symbol.
    mutating func take(_ day: VenueDay) {
        guard !self.portfolio.holdings.lots(of: day.symbol).isEmpty else { return }
        self.days[day.symbol] = day
    }

    /// Returns the holding of a symbol; `nil` without lots or without a price.
    func holding(of symbol: String) -> Holding? {
        guard let worth = self.portfolio.worth(of: symbol), let span = self.spans[symbol] else { return nil }
        let weight = self.portfolio.whole.flatMap { Portfolio.weight(of: worth, in: $0) }
        return Holding(worth: worth, weight: weight, span: span.word)
    }
}
