/// The options of a message. An option that is absent or null has its default; one of another type is a violation.
extension WAMPDictionary {
    private func option<Value>(
        _ key: String,
        _ type: String,
        _ read: (WAMPValue) -> Value?
    ) throws(WAMPViolation) -> Value? {
        guard let value = self[key], value != .null else { return nil }
        guard let read = read(value) else { throw WAMPViolation("\(key) is not \(type)") }
        return read
    }

    func bool(_ key: String, default usual: Bool = false) throws(WAMPViolation) -> Bool {
        try self.option(key, "a boolean") { $0.bool } ?? usual
    }

    func text(_ key: String) throws(WAMPViolation) -> String? { try self.option(key, "a text") { $0.text } }

    func dictionary(_ key: String) throws(WAMPViolation) -> WAMPDictionary? {
        try self.option(key, "a dictionary") { $0.dictionary }
    }

    /// Returns a count that is not negative.
    func count(_ key: String) throws(WAMPViolation) -> Int64? {
        try self.option(key, "a count") { value in value.integer.flatMap { $0 >= 0 ? $0 : nil } }
    }

    func ids(_ key: String) throws(WAMPViolation) -> Set<UInt64>? {
        try self.option(key, "a list of session ids") { Self.all($0, \.id) }
    }

    func texts(_ key: String) throws(WAMPViolation) -> Set<String>? {
        try self.option(key, "a list of texts") { Self.all($0, \.text) }
    }

    private static func all<Element: Hashable>(
        _ value: WAMPValue,
        _ read: (WAMPValue) -> Element?
    ) -> Set<Element>? {
        guard let list = value.list else { return nil }
        var elements: Set<Element> = []
        for value in list {
            guard let element = read(value) else { return nil }
            elements.insert(element)
        }
        return elements
    }
}
