/// What the parser says of a config file that is no YAML, in one line with a cure.
enum YAMLComplaint {
    private static let hint = "write settings as `key: value`, indented with blanks"

    /// The end of a message that begins with the file's name and a colon.
    ///
    /// What the parser points at is left out, for it may hold a key: the first line of what it says has the place and what it
    /// was doing, the second the problem, and the file's own text comes behind these. Where the problem stands in the first
    /// one, no second is looked at.
    static func words(_ complaint: String, of bytes: [UInt8]) -> String {
        let lines = complaint.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        var first = String(lines.first ?? "")
        while first.last == ":" { first.removeLast() }
        if let names = Self.twice(first) {
            return " \(names) is given twice; put all of it under the one or the other"
        }
        if first.hasPrefix("String could not be decoded") { return " it is no text in UTF-8" }
        guard first.first?.isNumber == true else { return " \(first); \(Self.hint)" }
        let (place, what) = Self.parts(first)
        guard let what else { return "\(first); \(Self.hint)" }
        guard what.hasPrefix("while "), lines.count > 1 else { return "\(place): \(what); \(Self.hint)" }
        var problem = lines[1]
        while problem.last == ":" { problem.removeLast() }
        let isTab = Self.line(of: place, in: bytes).map {
            $0.drop { $0 == UInt8(ascii: " ") }.first == UInt8(ascii: "\t")
        }
        let hint = isTab == true ? "the line begins with a tab; indent it with blanks" : Self.hint
        return "\(place): \(problem), \(what); \(hint)"
    }

    /// The keys in `… the following duplicated key(s): 'relay'.`
    private static func twice(_ line: String) -> Substring? {
        guard line.contains("duplicated key"), let quote = line.firstIndex(of: "'"),
            let end = line.lastIndex(of: "'"), quote < end
        else { return nil }
        return line[quote...end]
    }

    /// The place and the rest of `2:1: error: scanner: while …`.
    private static func parts(_ line: String) -> (place: Substring, what: Substring?) {
        let place = line.prefix { $0.isNumber || $0 == ":" }.dropLast(while: { $0 == ":" })
        guard
            let kind = ["error: scanner: ", "error: parser: ", "error: composer: ", "error: reader: "]
                .compactMap({ line.firstRange(of: $0) }).first
        else { return (place, nil) }
        return (place, line[kind.upperBound...])
    }

    /// The line at a place such as `2:1`, which counts from 1.
    private static func line(of place: Substring, in bytes: [UInt8]) -> ArraySlice<UInt8>? {
        guard let number = Int(place.prefix { $0.isNumber }), number > 0 else { return nil }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: number, omittingEmptySubsequences: false)
        return lines.count >= number ? lines[number - 1] : nil
    }
}

extension Substring {
    /// The text without the characters at its end that are of a kind.
    fileprivate func dropLast(while isOfKind: (Character) -> Bool) -> Substring {
        var text = self
        while let last = text.last, isOfKind(last) { text.removeLast() }
        return text
    }
}
