/// The one-line message about a config file that is not YAML, with a hint.
enum YAMLDiagnostic {
    private static let hint = "write settings as `key: value`, indented with spaces"

    /// Returns the end of a message that begins with the file's name and a colon.
    ///
    /// The message omits the text at the error's position, since it may hold a key. The parser's first line has the
    /// position and the context, and the second has the problem. The lines after these quote the file. When the first
    /// line states the problem, the second is ignored.
    static func words(_ errorText: String, of bytes: [UInt8]) -> String {
        let lines = errorText.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        var first = String(lines.first ?? "")
        while first.last == ":" { first.removeLast() }
        if let names = Self.twice(first) {
            return " \(names) is given twice; put all of it under the one or the other"
        }
        if first.hasPrefix("String could not be decoded") { return " it is not UTF-8 text" }
        guard first.first?.isNumber == true else { return " \(first); \(Self.hint)" }
        let (place, what) = Self.parts(first)
        guard let what else { return "\(first); \(Self.hint)" }
        guard what.hasPrefix("while "), lines.count > 1 else { return "\(place): \(what); \(Self.hint)" }
        var problem = lines[1]
        while problem.last == ":" { problem.removeLast() }
        let isTab = Self.line(of: place, in: bytes).map {
            $0.drop { $0 == UInt8(ascii: " ") }.first == UInt8(ascii: "\t")
        }
        let hint = isTab == true ? "the line begins with a tab; indent it with spaces" : Self.hint
        return "\(place): \(problem), \(what); \(hint)"
    }

    /// Returns the keys in `… the following duplicated key(s): 'relay'.`
    private static func twice(_ line: String) -> Substring? {
        guard line.contains("duplicated key"), let quote = line.firstIndex(of: "'"),
            let end = line.lastIndex(of: "'"), quote < end
        else { return nil }
        return line[quote...end]
    }

    /// Splits `2:1: error: scanner: while …` into the position and the rest.
    private static func parts(_ line: String) -> (place: Substring, what: Substring?) {
        let place = line.prefix { $0.isNumber || $0 == ":" }.dropLast(while: { $0 == ":" })
        guard
            let kind = ["error: scanner: ", "error: parser: ", "error: composer: ", "error: reader: "]
                .compactMap({ line.firstRange(of: $0) }).first
        else { return (place, nil) }
        return (place, line[kind.upperBound...])
    }

    /// Returns the line at a position such as `2:1`, which counts from 1.
    private static func line(of place: Substring, in bytes: [UInt8]) -> ArraySlice<UInt8>? {
        guard let number = Int(place.prefix { $0.isNumber }), number > 0 else { return nil }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: number, omittingEmptySubsequences: false)
        return lines.count >= number ? lines[number - 1] : nil
    }
}

extension Substring {
    /// Returns the text without the trailing characters that match a predicate.
    fileprivate func dropLast(while isOfKind: (Character) -> Bool) -> Substring {
        var text = self
        while let last = text.last, isOfKind(last) { text.removeLast() }
        return text
    }
}
