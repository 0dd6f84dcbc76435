package import NIOCore

extension Int {
    /// Parses a non-negative decimal number; `_` may stand between digits.
    init?(digits text: some StringProtocol) {
        guard let first = text.utf8.first, text.last != "_", first != UInt8(ascii: "_"),
            text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || $0 == UInt8(ascii: "_") })
        else { return nil }
        self.init(String(text.filter { $0 != "_" }))
    }
}

/// The syntax of a number with a unit (`0.5s`, `64KiB`), exact and without floating point.
struct Quantity {
    /// Parses a number and its unit, and multiplies them; `nil` for an unknown unit or a product that is not an
    /// `Int64`.
    static func read(_ text: String, units: [(name: String, size: Int64)]) -> Int64? {
        let end = text.firstIndex { !($0.isASCII && $0.isNumber) && $0 != "." && $0 != "_" } ?? text.endIndex
        guard let unit = units.first(where: { $0.name == text[end...] }) else { return nil }
        let parts = text[..<end].split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let whole = Int(digits: parts[0]) else { return nil }
        let (large, overflow) = Int64(whole).multipliedReportingOverflow(by: unit.size)
        guard !overflow else { return nil }
        guard parts.count == 2 else { return large }
        guard (1...9).contains(parts[1].utf8.count), let fraction = Int(digits: parts[1]),
            !parts[1].utf8.contains(UInt8(ascii: "_"))
        else { return nil }
        let scale = (0..<parts[1].utf8.count).reduce(into: Int64(1)) { scale, _ in scale *= 10 }
        let (product, tooLarge) = Int64(fraction).multipliedReportingOverflow(by: unit.size)
        guard !tooLarge, product % scale == 0 else { return nil }
        let (sum, overflows) = large.addingReportingOverflow(product / scale)
        return overflows ? nil : sum
    }

    /// Formats a value with the largest unit that divides it.
    static func write(_ value: Int64, units: [(name: String, size: Int64)]) -> String {
        let unit = units.filter { value % $0.size == 0 }.max { $0.size < $1.size } ?? units[0]
        return "\(value / unit.size)\(unit.name)"
    }
}

extension Syntax<TimeAmount> {
    private static var units: [(name: String, size: Int64)] {
        [
            ("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000),
            ("h", 3_600_000_000_000),
        ]
    }

    package static var duration: Syntax<TimeAmount> {
        Syntax(
            read: { text throws(ParseError) in
                guard let nanoseconds = text == "0" ? 0 : Quantity.read(text, units: Self.units) else {
                    throw ParseError("is not a duration; write it like 100ms, 0.5s or 2m")
                }
                return .nanoseconds(nanoseconds)
            },
            write: { $0.nanoseconds == 0 ? "0" : Quantity.write($0.nanoseconds, units: Self.units) }
        )
    }
}

extension Syntax<TimeAmount> {
    /// The syntax of a duration as a number of nanoseconds.
    package var nanoseconds: Syntax<Int64> { self.mapped({ $0.nanoseconds }, { .nanoseconds($0) }) }
}

extension Syntax<Int> {
    private static var units: [(name: String, size: Int64)] {
        [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)]
    }
    private static var decimalUnits: [(name: String, size: Int64)] {
        [("", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)]
    }

    /// A number of bytes.
    package static var size: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                guard let bytes = Quantity.read(text, units: Self.units + Self.decimalUnits) else {
                    throw ParseError("is not a size; write it like 64KiB or 1MiB")
                }
                return Int(bytes)
            },
            write: { Quantity.write(Int64($0), units: Self.units) }
        )
    }
}
