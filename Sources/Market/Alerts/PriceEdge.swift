/// A price level that other prices are compared with: a number, or a number times a count of hundredths. Comparisons
/// are exact even where the product has more digits than an ``ExactDecimal`` holds.
package struct PriceEdge: Sendable, Hashable {
    package let base: ExactDecimal
    /// The factor of `base`, in hundredths; `nil` for 100 hundredths.
    package let hundredths: ExactDecimal?

    static let hundred = ExactDecimal(normalisedSignificand: 1, exponent: 2)

    package init(_ price: ExactDecimal) {
        self.base = price
        self.hundredths = nil
    }

    /// `base × (100 + percent) / 100`.
    ///
    /// - Precondition: ``AlertRule`` accepts `percent`, so that the sum has at most ten digits.
    package init(_ base: ExactDecimal, plusPercent percent: ExactDecimal) {
        self.base = base
        guard let hundredths = Self.hundred.adding(percent), hundredths.significand.magnitude < 100_000_000_000 else {
            preconditionFailure("\(percent) percent has too many digits")
        }
        self.hundredths = hundredths
    }

    /// Creates the edge of a band around a price. The upper edge is the larger number, whatever the price's sign.
    ///
    /// - Returns: `nil` if the edge of a band in price units has more digits than can be held.
    package init?(_ price: ExactDecimal, band: AlertRule.Band, isUpper: Bool) {
        switch band {
        case .percent(let percent):
            let grows = isUpper == (price.significand >= 0)
            self.init(price, plusPercent: grows ? percent : percent.negated)
        case .price(let distance):
            guard let edge = isUpper ? price.adding(distance) : price.subtracting(distance) else { return nil }
            self.init(edge)
        }
    }

    /// Compares a price with the edge, exactly: -1 below, 0 on it, 1 above.
    package func side(of price: ExactDecimal) -> Int {
        guard let hundredths = self.hundredths else {
            return price == self.base ? 0 : price < self.base ? -1 : 1
        }
        return WideNumber.compare(
            WideNumber(price, times: Self.hundred),
            WideNumber(self.base, times: hundredths)
        )
    }

    /// The edge as a number; `nil` if an ``ExactDecimal`` cannot hold it.
    package var price: ExactDecimal? {
        guard let hundredths = self.hundredths else { return self.base }
        return WideNumber(self.base, times: hundredths).narrowed(exponent: -2)
    }
}

/// A number of up to 29 digits times a power of ten, for exact comparisons of products.
private struct WideNumber {
    var significand: Int128
    var exponent: Int

    init(_ number: ExactDecimal, times factor: ExactDecimal) {
        self.significand = Int128(number.significand) * Int128(factor.significand)
        self.exponent = Int(number.exponent) + Int(factor.exponent)
    }

    private var digits: Int {
        var count = 0
        var rest = self.significand.magnitude
        while rest != 0 {
            rest /= 10
            count += 1
        }
        return count
    }

    /// -1, 0 or 1, as `left` is less than, equal to or greater than `right`.
    static func compare(_ left: WideNumber, _ right: WideNumber) -> Int {
        let (leftSign, rightSign) = (left.significand.signum(), right.significand.signum())
        guard leftSign == rightSign, leftSign != 0 else {
            return leftSign == rightSign ? 0 : leftSign < rightSign ? -1 : 1
        }
        let (leftDigits, rightDigits) = (left.digits, right.digits)
        let (leftLead, rightLead) = (leftDigits + left.exponent, rightDigits + right.exponent)
        guard leftLead == rightLead else { return (leftLead < rightLead) == (leftSign > 0) ? -1 : 1 }
        // The first digits of both have the same place value. Zeros pad the shorter one to the length of the other.
        var (one, other) = (left.significand, right.significand)
        if leftDigits < rightDigits { one *= PowerOfTen.int128(rightDigits - leftDigits) }
        if rightDigits < leftDigits { other *= PowerOfTen.int128(leftDigits - rightDigits) }
        return one == other ? 0 : one < other ? -1 : 1
    }

    func narrowed(exponent more: Int) -> ExactDecimal? {
        var significand = self.significand
        var exponent = self.exponent + more
        guard significand != 0 else { return .zero }
        while significand % 10 == 0 {
            significand /= 10
            exponent += 1
        }
        guard let narrow = Int64(exactly: significand) else { return nil }
        return ExactDecimal(significand: narrow, exponent: exponent)
    }
}
