/// Sums of sums, and their quotient.
extension ExactSum {
    /// Adds another sum exactly, with what that one has omitted, or leaves this one as it is and counts one more.
    package mutating func add(_ other: ExactSum) {
        let (significand, exponent) = other.normalised
        self.add(significand, exponent: exponent)
        self.omitted += other.omitted
    }

    /// A sum that says of itself that something is missing in it, for one that could not be kept.
    package static var unknown: ExactSum {
        var sum = ExactSum()
        sum.omitted = 1
        return sum
    }

    /// The quotient with up to 18 significant digits, rounded half to even where it has more; `nil` where the divisor is zero
    /// or no such number holds it.
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
        // One digit more than is kept.
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
                // What falls away further on counts only by being there.
                if digit != 0 { rest = 1 }
                digits = quotient
                continue
            }
            digits = quotient
            if digit > 5 || (digit == 5 && (rest != 0 || quotient % 2 == 1)) { digits += 1 }
            // 999…9 has become 1,000…0, which the normal form shortens.
            break
        }
        let magnitude = Int64(digits)
        return ExactDecimal(significand: isNegative ? -magnitude : magnitude, exponent: exponent)
    }
}
