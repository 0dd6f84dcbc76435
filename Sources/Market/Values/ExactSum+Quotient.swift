/// The addition and the division of sums.
extension ExactSum {
    /// Adds another sum exactly, or leaves this one as it is and counts one more omission; adds the other's omissions
    /// in either case.
    package mutating func add(_ other: ExactSum) {
        let (significand, exponent) = other.normalised
        self.add(significand, exponent: exponent)
        self.omitted += other.omitted
    }

    /// The sum that stands for one that could not be kept: it counts one omission.
    package static var unknown: ExactSum {
        var sum = ExactSum()
        sum.omitted = 1
        return sum
    }

    /// The sum with the opposite sign.
    package var negated: ExactSum {
        var sum = ExactSum()
        let (significand, exponent) = self.normalised
        sum.add(-significand, exponent: exponent)
        sum.omitted = self.omitted
        return sum
    }

    /// The sum, rounded half to even to 18 significant digits; `nil` if it is out of range.
    package var rounded: ExactDecimal? {
        self.divided(by: ExactSum(ExactDecimal(normalisedSignificand: 1, exponent: 0)))
    }

    /// Returns the quotient, rounded half to even to 18 significant digits; `nil` if the divisor is zero or the
    /// quotient is out of range.
    package func divided(by divisor: ExactSum) -> ExactDecimal? {
        let (dividend, top) = self.normalised
        let (part, bottom) = divisor.normalised
        guard part != 0 else { return nil }
        guard dividend != 0 else { return .zero }
        let isNegative = (dividend < 0) != (part < 0)
        let unit = part.magnitude
        var (digits, rest) = dividend.magnitude.quotientAndRemainder(dividingBy: unit)
        var exponent = top - bottom
        let enough: UInt128 = 1_000_000_000_000_000_000
        // Computes one digit more than is kept.
        while digits < enough, rest != 0 {
            let wide = rest.multipliedFullWidth(by: 10)
            let (digit, left) = unit.dividingFullWidth(wide)
            digits = digits * 10 + digit
            rest = left
            exponent -= 1
        }
        while digits >= enough {
            let (quotient, digit) = digits.quotientAndRemainder(dividingBy: 10)
            exponent += 1
            guard quotient < enough else {
                // Of the digits dropped before the last one, only whether any is nonzero matters.
                if digit != 0 { rest = 1 }
                digits = quotient
                continue
            }
            digits = quotient
            if digit > 5 || (digit == 5 && (rest != 0 || quotient % 2 == 1)) { digits += 1 }
            // A result of 999…9 has become 1,000…0, which the normalised form shortens.
            break
        }
        let magnitude = Int64(digits)
        return ExactDecimal(significand: isNegative ? -magnitude : magnitude, exponent: exponent)
    }
}
