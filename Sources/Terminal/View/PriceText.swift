import Market

/// The formatting of numbers on the screen. Prices are exact; only volumes, rates and percentages are shortened.
enum PriceText {
    /// The largest number of fraction digits; longer numbers are written as a power of ten.
    static let maximumFractionDigits = 18
    private static let maximumIntegerDigits = 18

    /// Returns the exact text of `decimal` with at least `fractionDigits` fraction digits; very large and very small
    /// numbers as `digits e power`, which is exact too.
    static func exact(_ decimal: ExactDecimal, fractionDigits: Int = 0) -> String {
        let digits = String(decimal.significand.magnitude)
        let exponent = Int(decimal.exponent)
        let sign = decimal.significand < 0 ? "-" : ""
        if -exponent > Self.maximumFractionDigits || digits.count + exponent > Self.maximumIntegerDigits {
            return "\(sign)\(digits)e\(exponent)"
        }
        let wanted = min(max(fractionDigits, 0), Self.maximumFractionDigits)
        var whole = digits
        var fraction = ""
        if exponent >= 0 {
            if !decimal.isZero { whole += String(repeating: "0", count: exponent) }
        } else {
            if whole.count <= -exponent {
                whole = String(repeating: "0", count: -exponent - whole.count + 1) + whole
            }
            fraction = String(whole.suffix(-exponent))
            whole.removeLast(-exponent)
        }
        if fraction.count < wanted { fraction += String(repeating: "0", count: wanted - fraction.count) }
        return sign + (fraction.isEmpty ? whole : "\(whole).\(fraction)")
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
