import Market

/// The price scale of a chart. Its ends are round numbers, so that the chart does not move with every price; the round
/// numbers in between are labels.
struct ChartScale {
    struct Tick {
        var value: Double
        /// The exact value, with the fraction digits of the step.
        var price: ExactDecimal
    }

    var bottom: Double
    var top: Double
    var ticks: [Tick]

    /// - Parameters:
    ///   - most: the largest number of ticks.
    ///   - fractionDigits: the symbol's fraction digits, which determine the scale of a constant price.
    init?(_ samples: [ChartSample], maximumTicks most: Int, fractionDigits: Int) {
        guard var low = samples.compactMap(\.low).min(), var high = samples.compactMap(\.high).max() else { return nil }
        if low == high {
            var unit = 1.0
            for _ in 0..<min(max(fractionDigits, 0), 18) { unit /= 10 }
            let margin = max(2 * unit, low.magnitude * 1e-12)
            (low, high) = (low - margin, high + margin)
        }
        guard (high - low).isFinite, high > low else { return nil }
        let (digit, exponent) = Self.step(atLeast: (high - low) / Double(max(most, 1)))
        let step = Double(digit) * Self.power(exponent)
        let fine = step / 5
        self.bottom = (low / fine).rounded(.down) * fine
        self.top = (high / fine).rounded(.up) * fine
        self.ticks = []
        guard fine > 0, self.top > self.bottom, self.top.isFinite, self.bottom.isFinite else {
            (self.bottom, self.top) = (low, high)
            return
        }
        let first = (self.bottom / step).rounded(.up)
        // Beyond this, a Double cannot represent a fraction of a step.
        guard first.magnitude < 1e15 else { return }
        for number in 0...most {
            let value = (first + Double(number)) * step
            guard value <= self.top * (1 + 1e-12) || value <= self.top + fine / 100 else { break }
            let significand = Int64(first) + Int64(number)
            guard let price = ExactDecimal(significand: significand * Int64(digit), exponent: exponent) else {
                continue
            }
            self.ticks.append(Tick(value: value, price: price))
        }
    }

    /// Returns the relative height of a price, from 0 at the bottom to 1 at the top.
    func height(_ value: Double) -> Double {
        let height = (value - self.bottom) / (self.top - self.bottom)
        return height.isFinite ? min(max(height, 0), 1) : 0.5
    }

    /// Returns the smallest product of 1, 2 or 5 and a power of ten that is at least `span`.
    private static func step(atLeast span: Double) -> (digit: Int, exponent: Int) {
        var exponent = 0
        while exponent > -300, Self.power(exponent) > span { exponent -= 1 }
        while exponent < 300, Self.power(exponent + 1) <= span { exponent += 1 }
        for digit in [1, 2, 5] where Double(digit) * Self.power(exponent) >= span { return (digit, exponent) }
        return (1, exponent + 1)
    }

    private static func power(_ exponent: Int) -> Double {
        ExactDecimal(significand: 1, exponent: exponent)?.approximation ?? 1
    }
}
