extension ExactDecimal {
    /// The nearest floating-point number or one beside it, for drawing and comparing sizes; never for a value that is told.
    package var approximation: Double {
        let digits = Double(self.significand)
        let exponent = Int(self.exponent)
        // Powers of ten up to 22 are exact as a Double, so most prices come out as near as can be.
        guard abs(exponent) <= 22 else { return Self.scaled(digits, exponent) }
        return exponent < 0 ? digits / Self.power(-exponent) : digits * Self.power(exponent)
    }

    private static func power(_ exponent: Int) -> Double {
        var power = 1.0
        for _ in 0..<exponent { power *= 10 }
        return power
    }

    /// In steps, so that a number that a Double can hold is not lost on the way to it.
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
