/// The lines of the keys in a YAML text, found by their indentation, and the comments above them.
///
/// It knows the form in which settings are written: one key a line, with its groups above it. A key inside braces has the
/// line of its group.
struct YAMLOutline {
    private let lines: [Substring]
    /// The index of the line of each key, by its path joined by dots.
    private var places: [String: Int] = [:]

    init(_ text: String) {
        self.lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        var groups: [(indent: Int, path: String)] = []
        for (index, line) in self.lines.enumerated() {
            guard let (indent, key) = Self.key(of: line) else { continue }
            while let last = groups.last, last.indent >= indent { groups.removeLast() }
            let path = groups.last.map { "\($0.path).\(key)" } ?? key
            if self.places[path] == nil { self.places[path] = index }
            groups.append((indent, path))
        }
    }

    /// Returns the number of a key's line, from 1, or that of the nearest group above it; `nil` for an unknown key.
    func line(of key: String) -> Int? {
        var path = key[...]
        while true {
            if let index = self.places[String(path)] { return index + 1 }
            guard let dot = path.lastIndex(of: ".") else { return nil }
            path = path[..<dot]
        }
    }

    /// Returns the comment above a key, without its marks. Keys of one group that follow each other share a comment.
    func comment(of key: String) -> [String] {
        guard var index = self.places[key], let (indent, _) = Self.key(of: self.lines[index]) else { return [] }
        // The comment may stand above a key before this one, and is that of a group only for its own key.
        while index > 0, let above = Self.key(of: self.lines[index - 1]), above.indent == indent { index -= 1 }
        var comment: [String] = []
        while index > 0, let line = Self.comment(in: self.lines[index - 1], indent: indent) {
            comment.insert(line, at: 0)
            index -= 1
        }
        return comment
    }

    private static func key(of line: Substring) -> (indent: Int, key: String)? {
        let rest = line.drop { $0 == " " }
        guard let first = rest.first, first != "#", first != "-", let colon = rest.firstIndex(of: ":") else {
            return nil
        }
        let after = rest[rest.index(after: colon)...]
        guard after.isEmpty || after.first == " " || after.first == "\r" else { return nil }
        let key = rest[..<colon].filter { $0 != "\"" && $0 != "'" }
        return (line.count - rest.count, String(key))
    }

    private static func comment(in line: Substring, indent: Int) -> String? {
        let rest = line.drop { $0 == " " }
        guard rest.first == "#", line.count - rest.count == indent else { return nil }
        return String(rest.dropFirst().drop { $0 == " " })
    }
}
