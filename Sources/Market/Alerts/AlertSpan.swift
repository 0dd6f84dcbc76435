/// The spans of time in rules: `500ms`, `90s`, `5m`, `1.5h`, `2d`. They are whole nanoseconds, read and written without
/// floating point.
package enum AlertSpan {
    private static let units: [(name: String, size: Int64)] = [
        ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000),
        ("d", 86_400_000_000_000),
    ]
    /// The longest span: a week, ns.
    package static let most: Int64 = 7 * 86_400_000_000_000

    /// Reads a span, ns; `nil` if the text is not a span or is longer than ``most``.
    package static func read(_ text: some StringProtocol) -> Int64? {
        if text == "0" { return 0 }
        let end = text.firstIndex { !($0.isASCII && $0.isNumber) && $0 != "." } ?? text.endIndex
        guard let unit = Self.units.first(where: { $0.name == text[end...] }), let first = text.first, first != ".",
            let number = ExactDecimal(String(text[..<end])), number.exponent >= -9, number.exponent <= 18
        else { return nil }
        var product = Int128(number.significand) * Int128(unit.size)
        var exponent = number.exponent
        while exponent > 0, product <= Int128(Self.most) {
            product *= 10
            exponent -= 1
        }
        while exponent < 0 {
            guard product % 10 == 0 else { return nil }
            product /= 10
            exponent += 1
        }
        guard product >= 0, product <= Int128(Self.most), exponent == 0 else { return nil }
        return Int64(product)
    }

    /// Writes a span with the largest unit that leaves a whole number. Fractions of a millisecond are left out.
    package static func write(_ nanoseconds: Int64) -> String {
        if nanoseconds == 0 { return "0" }
        let unit = Self.units.last { nanoseconds % $0.size == 0 } ?? Self.units[0]
        return "\(nanoseconds / unit.size)\(unit.name)"
    }
}
