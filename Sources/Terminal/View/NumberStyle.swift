/// The format of numbers on the screen: the marks of thousands and of the fraction.
///
/// Only the screen uses it; lines for programs keep the plain form. No digit is added or lost.
package struct NumberStyle: Sendable, Equatable {
    /// The mark between groups of three digits of the whole part.
    package enum Grouping: String, Sendable, CaseIterable {
        case none
        case comma
        case point
        case space
        case apostrophe

        var mark: String {
            switch self {
            case .none: ""
            case .comma: ","
            case .point: "."
            case .space: " "
            case .apostrophe: "'"
            }
        }
    }

    /// The mark before the fraction.
    package enum DecimalMark: String, Sendable, CaseIterable {
        case point
        case comma

        var mark: String {
            switch self {
            case .point: "."
            case .comma: ","
            }
        }
    }

    package var grouping: Grouping
    package var decimal: DecimalMark

    package init(grouping: Grouping = .none, decimal: DecimalMark = .point) {
        self.grouping = grouping
        self.decimal = decimal
    }

    /// Whether both marks are the same.
    package var isAmbiguous: Bool { self.grouping.mark == self.decimal.mark }

    /// Formats `text`, a number with a point before its fraction: `-1234567.5` as `-1,234,567.5`. A suffix (a power of
    /// ten, a percent sign) stays.
    package func written(_ text: String) -> String {
        guard self != NumberStyle() else { return text }
        let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        let bytes = Array(text.utf8)
        let start = bytes.firstIndex(where: isDigit) ?? bytes.count
        let end = bytes[start...].firstIndex { !isDigit($0) } ?? bytes.count
        var written = Array(bytes[..<start])
        for index in start..<end {
            if index > start, (end - index) % 3 == 0 { written += Array(self.grouping.mark.utf8) }
            written.append(bytes[index])
        }
        if end < bytes.count, bytes[end] == UInt8(ascii: ".") {
            written += Array(self.decimal.mark.utf8) + bytes[(end + 1)...]
        } else {
            written += bytes[end...]
        }
        return String(decoding: written, as: UTF8.self)
    }
}
