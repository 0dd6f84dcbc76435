extension ExactDecimal: Comparable {
    /// Compares the two values exactly, whatever their exponents.
    @inlinable
    public static func < (left: ExactDecimal, right: ExactDecimal) -> Bool {
        if left.exponent == right.exponent { return left.significand < right.significand }
        return Self.isLess(left, right)
    }

    /// Compares two values of different exponents.
    @usableFromInline
    static func isLess(_ left: ExactDecimal, _ right: ExactDecimal) -> Bool {
        guard left.significand.signum() == right.significand.signum() else {
            return left.significand < right.significand
        }
        let shift = Int(left.exponent) - Int(right.exponent)
        // From 18 places on, the number with the larger exponent has the larger magnitude: its own significand is at
        // least 1, and the other's is below 10^18.
        guard abs(shift) < 18 else {
            return (shift > 0) == (left.significand < 0)
        }
        if shift > 0 {
            return Int128(left.significand) * PowerOfTen.int128(shift) < Int128(right.significand)
        }
        return Int128(left.significand) < Int128(right.significand) * PowerOfTen.int128(-shift)
    }
}

extension ExactDecimal {
    /// The number with the opposite sign.
    public var negated: ExactDecimal {
        ExactDecimal(normalisedSignificand: -self.significand, exponent: self.exponent)
    }

    /// Adds exactly; `nil` if the sum has more than 18 significant digits.
    public func adding(_ other: ExactDecimal) -> ExactDecimal? {
        if other.isZero { return self }
        if self.isZero { return other }
        let (coarse, fine) = self.exponent >= other.exponent ? (self, other) : (other, self)
        let shift = Int(coarse.exponent) - Int(fine.exponent)
        // At a distance of 19 places the sum is at least 9 × 10^18 and ends in a nonzero digit, so it has at least 19
        // digits.
        guard shift < 19 else { return nil }
        var sum = Int128(coarse.significand) * PowerOfTen.int128(shift) + Int128(fine.significand)
        var exponent = Int(fine.exponent)
        guard sum != 0 else { return .zero }
        while sum.magnitude >= UInt128(Self.significandLimit) {
            let (quotient, remainder) = sum.quotientAndRemainder(dividingBy: 10)
            guard remainder == 0 else { return nil }
            sum = quotient
            exponent += 1
        }
        return ExactDecimal(significand: Int64(sum), exponent: exponent)
    }

    /// Returns the number rounded half to even to at most this many digits behind the point.
    package func rounded(fractionDigits: Int) -> ExactDecimal {
        let surplus = -Int(self.exponent) - fractionDigits
        guard surplus > 0 else { return self }
        guard surplus <= 18 else { return .zero }
        let unit = PowerOfTen.int128(surplus)
        let (quotient, rest) = Int128(self.significand).quotientAndRemainder(dividingBy: unit)
        let doubled = rest.magnitude * 2
        let isUp = doubled > unit.magnitude || (doubled == unit.magnitude && quotient % 2 != 0)
        let digits = Int64(quotient) + (isUp ? Int64(self.significand.signum()) : 0)
        return ExactDecimal(significand: digits, exponent: Int(self.exponent) + surplus) ?? .zero
    }

    /// Subtracts exactly; `nil` if the difference has more than 18 significant digits.
    public func subtracting(_ other: ExactDecimal) -> ExactDecimal? { self.adding(other.negated) }
}

/// The powers of ten, as integers.
enum PowerOfTen {
    /// `10^exponent`, for an exponent from 0 to 38.
    static func int128(_ exponent: Int) -> Int128 {
        assert(exponent >= 0 && exponent <= 38)
        var power: Int128 = 1
        for _ in 0..<exponent { power &*= 10 }
        return power
    }

    /// `10^exponent`, for an exponent from 0 to 19.
    static func uint64(_ exponent: Int) -> UInt64 {
        assert(exponent >= 0 && exponent <= 19)
        var power: UInt64 = 1
        for _ in 0..<exponent { power &*= 10 }
        return power
    }
}

extension Int64 {
    /// The number as an integer; `nil` if it has a fraction or does not fit.
    package init?(exactly number: ExactDecimal) {
        guard number.exponent >= 0, number.exponent <= 18 else { return nil }
        let value = Int128(number.significand) * PowerOfTen.int128(Int(number.exponent))
        guard let narrow = Int64(exactly: value) else { return nil }
        self = narrow
    }
}
