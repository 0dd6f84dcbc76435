import Market

/// The worth of a person's holdings at the newest prices.
struct Portfolio: Sendable {
    let holdings: Holdings
    /// The newest price of each symbol, and the price from which its change of the day is counted.
    private var prices: [String: (now: ExactDecimal, before: ExactDecimal)] = [:]

    init(_ holdings: Holdings) {
        self.holdings = holdings
    }

    /// Takes a symbol's prices.
    mutating func take(_ symbol: String, price: ExactDecimal, before: ExactDecimal) {
        self.prices[symbol] = (price, before)
    }

    /// Returns the worth of a symbol's lots; `nil` without lots or without a price.
    func worth(of symbol: String) -> Worth? {
        guard let known = self.prices[symbol] else { return nil }
        return self.holdings.worth(of: symbol, price: known.now, before: known.before) { self.prices[$0]?.now }
    }

    /// Returns the sums of the known worths of these symbols, one for each currency, in the order of the lots.
    func totals(of symbols: [String]) -> [Worth] {
        symbols.compactMap(self.worth).reduce(into: []) { totals, worth in
            if let index = totals.firstIndex(where: { $0.currency == worth.currency }) {
                totals[index].add(worth)
            } else {
                var total = Worth(currency: worth.currency)
                total.add(worth)
                totals.append(total)
            }
        }
    }

    /// The value of all holdings; `nil` unless all of them have a price and one currency, and their sum is positive.
    var whole: ExactSum? {
        let symbols = self.holdings.symbols
        guard symbols.allSatisfy({ self.prices[$0] != nil }) else { return nil }
        let totals = self.totals(of: symbols)
        guard let total = totals.first, totals.count == 1, let sum = total.value.rounded, sum > .zero else {
            return nil
        }
        return total.value
    }

    /// Returns the share of a worth in ``whole``, in percent, rounded half to even to one digit.
    static func weight(of worth: Worth, in whole: ExactSum) -> ExactDecimal? {
        worth.value.divided(by: whole)
            .flatMap { ExactDecimal(significand: $0.significand, exponent: Int($0.exponent) + 2) }?
            .rounded(fractionDigits: 1)
    }
}

extension Portfolio {
    /// The holdings at the prices of a screen.
    ///
    /// - Parameter wall: the wall clock, ns since 1970.
    init(of state: DisplayState, wall: Int64) {
        self.init(state.holdings)
        let wanted = Set(state.holdings.symbols + state.holdings.rates.map(\.symbol))
        for row in state.rows where wanted.contains(row.summary.symbol) {
            let before = ChangeBase(of: row, wall: wall).price
            self.take(row.summary.symbol, price: row.summary.price, before: before)
        }
    }
}
