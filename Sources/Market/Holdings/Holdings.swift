/// A person's lots, and the currency in which their worth is shown.
package struct Holdings: Sendable, Equatable {
    package private(set) var lots: [Lot]
    package private(set) var rates: [CurrencyRate]
    /// The currency of every worth that can be converted; `nil` leaves each in its own.
    package private(set) var currency: String?
    private var lotsOf: [String: [Lot]] = [:]

    /// - Parameter lots: those of one symbol have the same currency.
    package init(lots: [Lot] = [], rates: [CurrencyRate] = [], currency: String? = nil) {
        (self.lots, self.rates, self.currency) = (lots, rates, currency)
        for lot in lots { self.lotsOf[lot.symbol, default: []].append(lot) }
    }

    package var isEmpty: Bool { self.lots.isEmpty }

    /// Returns the lots of a symbol.
    package func lots(of symbol: String) -> [Lot] { self.lotsOf[symbol] ?? [] }

    /// The symbols with a lot, without repeats, in the order of the lots.
    package var symbols: [String] {
        var seen: Set<String> = []
        return self.lots.map(\.symbol).filter { seen.insert($0).inserted }
    }

    /// Returns the rate that converts a currency to the shown one; `nil` if it needs none, or if there is none.
    package func rate(from currency: String) -> CurrencyRate? {
        guard let shown = self.currency, shown != currency else { return nil }
        return self.rates.first { $0.isBetween(currency, shown) }
    }

    /// Returns the worth of a symbol's lots; `nil` without lots.
    ///
    /// - Parameters:
    ///   - price: the symbol's price.
    ///   - before: its price at the beginning of the day's change.
    ///   - rate: returns the price of a rate's symbol; `nil` if it is not known, which leaves the worth in its own
    ///     currency.
    package func worth(
        of symbol: String,
        price: ExactDecimal,
        before: ExactDecimal,
        rate: (String) -> ExactDecimal?
    ) -> Worth? {
        guard let lots = self.lotsOf[symbol], let first = lots.first else { return nil }
        var worth = Worth(currency: first.currency)
        for lot in lots {
            worth.quantity.add(lot.quantity)
            worth.value.add(lot.quantity, times: price)
            worth.cost.add(lot.quantity, times: lot.cost)
            worth.dayBefore.add(lot.quantity, times: before)
        }
        guard let shown = self.currency, let known = self.rate(from: first.currency),
            let price = rate(known.symbol), !price.isZero
        else { return worth }
        let isDirect = known.base == first.currency
        worth.currency = shown
        for part in [\Worth.value, \.cost, \.dayBefore] {
            worth[keyPath: part] = worth[keyPath: part].converted(by: price, isDirect: isDirect)
        }
        return worth
    }
}

/// What lots are worth, in one currency.
///
/// The numbers are exact. Those converted by a rate are rounded half to even to 18 significant digits, since a quotient
/// can have any number of digits.
package struct Worth: Sendable, Equatable {
    package var currency: String
    package var quantity = ExactSum()
    package var value = ExactSum()
    package var cost = ExactSum()
    /// The value at the beginning of the day's change.
    package var dayBefore = ExactSum()

    package init(currency: String) { self.currency = currency }

    /// The profit since the lots were bought.
    package var profit: ExactSum { self.value.subtracting(self.cost) }

    /// The profit since the beginning of the day's change.
    package var today: ExactSum { self.value.subtracting(self.dayBefore) }

    /// Adds another worth in the same currency; the quantities of different symbols have no sum.
    package mutating func add(_ other: Worth) {
        self.value.add(other.value)
        self.cost.add(other.cost)
        self.dayBefore.add(other.dayBefore)
    }
}

extension ExactSum {
    /// Returns the difference; one that cannot be held counts an omission.
    fileprivate func subtracting(_ other: ExactSum) -> ExactSum {
        var difference = other.negated
        difference.add(self)
        return difference
    }

    /// Returns the amount in another currency, rounded half to even to 18 significant digits.
    ///
    /// - Parameter isDirect: whether the price is that of the amount's currency, and not of the other one.
    fileprivate func converted(by price: ExactDecimal, isDirect: Bool) -> ExactSum {
        var amount = ExactSum()
        if isDirect {
            if let rounded = self.rounded { amount.add(rounded, times: price) } else { amount = .unknown }
        } else if let quotient = self.divided(by: ExactSum(price)) {
            amount.add(quotient)
        } else {
            amount = .unknown
        }
        return self.isWhole ? amount : .unknown
    }
}
