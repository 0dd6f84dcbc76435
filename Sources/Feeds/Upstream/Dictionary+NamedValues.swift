extension [Substring: Substring] {
    /// Reads `name=value` lines; `nil` if one of them has no `=`, or if the last one is truncated: it has no line feed.
    init?(namedValues text: Substring) {
        guard text.hasSuffix("\n") else { return nil }
        self.init()
        for line in text.split(separator: "\n") {
            guard let equals = line.firstIndex(of: "=") else { return nil }
            self[line[..<equals]] = line[line.index(after: equals)...]
        }
    }
}
