extension ExactDecimal {
    /// The nearest floating-point number or a neighbour of it, for drawing and for comparing sizes; never for a value
    /// shown to a user.
    package var approximation: Double {
        let digits = Double(self.significand)
        let exponent = Int(self.exponent)
        // Powers of ten up to 22 are exact as a Double, so a single rounding remains for most prices.
        guard abs(exponent) <= 22 else { return Self.scaled(digits, exponent) }
        return exponent < 0 ? digits / Self.power(-exponent) : digits * Self.power(exponent)
    }

    private static func power(_ exponent: Int) -> Double {
        var power = 1.0
        for _ in 0..<exponent { power *= 10 }
        return power
    }

    /// Scales in steps, so that no intermediate result overflows or underflows while the final one is in range.
    private static func scaled(_ digits: Double, _ exponent: Int) -> Double {
        var value = digits
        var left = exponent
        while left != 0, value.isFinite, value != 0 {
            let step = max(-22, min(22, left))
            value = step < 0 ? value / Self.power(-step) : value * Self.power(step)
            left -= step
        }
        return value
    }
}

extension ExactSum {
    /// A floating-point number near the sum, for drawing and for sorting; never for a value shown to a user.
    package var approximation: Double { self.decimal?.approximation ?? Double(self.description) ?? 0 }
}
