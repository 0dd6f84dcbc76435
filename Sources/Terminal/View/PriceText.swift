import Market

/// The formatting of numbers on the screen. Prices are exact; only volumes, rates and percentages are shortened.
enum PriceText {
    /// The largest number of fraction digits; longer numbers are written as a power of ten.
    static let maximumFractionDigits = 18
    private static let maximumIntegerDigits = 18

    /// Returns the exact text of `decimal` with at least `fractionDigits` fraction digits; very large and very small
    /// numbers as `digits e power`, which is exact too.
    static func exact(_ decimal: ExactDecimal, fractionDigits: Int = 0) -> String {
        var magnitude = decimal.significand.magnitude
        let exponent = Int(decimal.exponent)
        let digits = Self.digits(magnitude)
        if -exponent > Self.maximumFractionDigits || digits + exponent > Self.maximumIntegerDigits {
            return "\(decimal.significand < 0 ? "-" : "")\(magnitude)e\(exponent)"
        }
        let written = max(-exponent, 0)
        let fraction = max(written, min(max(fractionDigits, 0), Self.maximumFractionDigits))
        let zeros = decimal.isZero ? 0 : max(exponent, 0)
        let whole = max(1, digits + zeros - written)
        let sign = decimal.significand < 0 ? 1 : 0
        let count = sign + whole + (fraction > 0 ? 1 + fraction : 0)
        // From the last digit to the first. Most of a picture's work is numbers, so no part of one is a text of its own.
        return String(unsafeUninitializedCapacity: count) { text in
            for place in 0..<(whole + fraction) {
                let isFilled = place < fraction - written + zeros
                let digit = isFilled ? 0 : UInt8(magnitude % 10)
                if !isFilled { magnitude /= 10 }
                text[count - 1 - place - (fraction > 0 && place >= fraction ? 1 : 0)] = UInt8(ascii: "0") + digit
            }
            if fraction > 0 { text[count - 1 - fraction] = UInt8(ascii: ".") }
            if sign > 0 { text[0] = UInt8(ascii: "-") }
            return count
        }
    }

    private static func digits(_ number: UInt64) -> Int {
        var (count, rest) = (1, number / 10)
        while rest > 0 { (count, rest) = (count + 1, rest / 10) }
        return count
    }

    /// Returns `sum` with about eight significant digits, never cut within its whole part; for volumes. An incomplete
    /// sum is a dash.
    static func shortened(_ sum: ExactSum) -> String {
        guard sum.isWhole else { return "-" }
        let text = sum.description
        guard let point = text.firstIndex(of: "."), !text.contains("e") else { return text }
        let whole = text[..<point]
        let fraction = text[text.index(after: point)...]
        let isSmall = whole == "0" || whole == "-0"
        let zeros = isSmall ? fraction.prefix { $0 == "0" }.count : 0
        let kept = isSmall ? zeros + 8 : 8 - min(whole.count, 8)
        guard kept < fraction.count else { return text }
        return kept == 0 ? String(whole) : "\(whole).\(fraction.prefix(kept))"
    }

    /// Returns `price - open` with a sign, exact; `nil` on overflow.
    static func change(_ price: ExactDecimal, since open: ExactDecimal, fractionDigits: Int) -> String? {
        guard let difference = price.subtracting(open) else { return nil }
        return (difference > .zero ? "+" : "") + Self.exact(difference, fractionDigits: fractionDigits)
    }

    /// Returns the change in percent with two decimals, halves rounded away from zero; `nil` if it has no meaning or
    /// does not fit.
    static func percent(_ price: ExactDecimal, since open: ExactDecimal) -> String? {
        guard open.significand > 0, let (newest, first) = Self.aligned(price, open) else { return nil }
        let (scaled, overflow) = (newest - first).multipliedReportingOverflow(by: 20_000)
        guard !overflow else { return nil }
        // Twice the hundredths of a percent, which allows rounding the half with integers.
        let doubled = scaled / first
        let hundredths = (doubled.magnitude + 1) / 2
        guard hundredths < 1_000_000_000 else { return nil }
        let fraction = String(hundredths % 100)
        let sign = hundredths == 0 ? "" : (newest < first ? "-" : "+")
        return "\(sign)\(hundredths / 100).\(fraction.count == 1 ? "0" : "")\(fraction)%"
    }

    /// Formats trades per second from tenths: `0.4`, `12`, `1250`.
    static func rate(tenths: Int64) -> String {
        tenths < 100 ? "\(tenths / 10).\(tenths % 10)" : "\((tenths + 5) / 10)"
    }

    /// Returns both numbers on the smaller power of ten, if their difference fits 128 bits.
    private static func aligned(_ left: ExactDecimal, _ right: ExactDecimal) -> (Int128, Int128)? {
        let exponent = min(
            left.isZero ? Int(right.exponent) : Int(left.exponent),
            right.isZero ? Int(left.exponent) : Int(right.exponent)
        )
        guard let one = Self.scaled(left, to: exponent), let other = Self.scaled(right, to: exponent) else {
            return nil
        }
        return (one, other)
    }

    private static func scaled(_ decimal: ExactDecimal, to exponent: Int) -> Int128? {
        guard !decimal.isZero else { return 0 }
        let zeros = Int(decimal.exponent) - exponent
        guard zeros <= 18 else { return nil }
        var value = Int128(decimal.significand)
        for _ in 0..<zeros { value *= 10 }
        return value
    }
}
