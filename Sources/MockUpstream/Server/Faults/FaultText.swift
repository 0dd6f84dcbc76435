/// The parts of a fault's text: `NAME[=VALUE][,OPTION=VALUE]…[@WHEN]…`.
///
/// A value that contains a comma or an `@` is in double quotes.
struct FaultText {
    var name: String
    var value: String?
    var options: [(name: String, value: String)] = []
    /// The texts after each `@`.
    var whens: [String] = []

    init(_ text: String) throws(FaultSyntaxError) {
        var parts: [(mark: Character, text: String)] = []
        var mark: Character = ","
        var part = ""
        var isQuoted = false
        for character in text {
            if character == "\"" {
                isQuoted.toggle()
            } else if !isQuoted, character == "," || character == "@" {
                parts.append((mark, part))
                mark = character
                part = ""
            } else {
                part.append(character)
            }
        }
        guard !isQuoted else { throw FaultSyntaxError("a quotation mark is missing") }
        parts.append((mark, part))
        let (name, value) = Self.pair(parts[0].text)
        self.name = name
        self.value = value
        for part in parts.dropFirst() {
            if part.mark == "@" {
                self.whens.append(part.text)
            } else if !self.whens.isEmpty {
                throw FaultSyntaxError(
                    "\",\(part.text)\" comes after a time or a connection; options come before them"
                )
            } else {
                let (name, value) = Self.pair(part.text)
                guard let value else { throw FaultSyntaxError("\"\(part.text)\" is not OPTION=VALUE") }
                self.options.append((name, value))
            }
        }
    }

    private static func pair(_ text: String) -> (String, String?) {
        guard let equals = text.firstIndex(of: "=") else { return (text, nil) }
        return (String(text[..<equals]), String(text[text.index(after: equals)...]))
    }
}

/// The reason why a text is not a fault, as a sentence.
package struct FaultSyntaxError: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// The numbers in a fault's text.
enum FaultNumber {
    private static let durations: [(String, Double)] = [
        ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3_600e9),
    ]
    private static let sizes: [(String, Double)] = [
        ("kB", 1e3), ("MB", 1e6), ("KiB", 1_024), ("MiB", 1_048_576), ("B", 1),
    ]

    /// Parses a duration such as `250ms`, `1.5s` or `2m`, up to a year, in nanoseconds.
    static func duration(_ text: some StringProtocol) -> Int64? {
        self.read(text, units: self.durations).flatMap { $0 <= 3.2e16 ? Int64($0) : nil }
    }

    /// Parses a number of bytes such as `512B`, `1kB` or `1MiB`.
    static func bytes(_ text: some StringProtocol, within range: ClosedRange<Int>) -> Int? {
        self.read(text, units: self.sizes).flatMap { $0 <= Double(range.upperBound) ? Int($0) : nil }
            .flatMap { range.contains($0) ? $0 : nil }
    }

    /// Parses a whole number.
    static func count(_ text: some StringProtocol, within range: ClosedRange<Int>) -> Int? {
        guard self.isDigits(text) else { return nil }
        return Int(text).flatMap { range.contains($0) ? $0 : nil }
    }

    /// Parses a number above 0 and up to 1.
    static func probability(_ text: some StringProtocol) -> Double? {
        self.decimal(text).flatMap { $0 > 0 && $0 <= 1 ? $0 : nil }
    }

    private static func read(_ text: some StringProtocol, units: [(String, Double)]) -> Double? {
        let end = text.firstIndex { $0.isLetter } ?? text.endIndex
        guard let unit = units.first(where: { $0.0 == text[end...] }) else { return nil }
        return self.decimal(text[..<end]).map { $0 * unit.1 }
    }

    private static func decimal(_ text: some StringProtocol) -> Double? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy({ self.isDigits($0) }) else { return nil }
        return Double(String(text))
    }

    private static func isDigits(_ text: some StringProtocol) -> Bool {
        (1...18).contains(text.utf8.count) && text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }
}
