/// The application's part of a message: a list of arguments and a dictionary of named ones, each of which may be absent.
struct WAMPPayload: Sendable, Equatable {
    var arguments: [WAMPValue]?
    var keywords: WAMPDictionary?

    /// The last elements of the message. The arguments are present where the named ones are.
    var elements: [WAMPValue] {
        if let keywords { return [.list(self.arguments ?? []), .dictionary(keywords)] }
        return self.arguments.map { [.list($0)] } ?? []
    }

    /// Returns the argument at a place, or the one with a name; `nil` if there is neither, or it is null.
    func value(_ place: Int, or name: String) -> WAMPValue? {
        let placed = self.arguments.flatMap { $0.indices.contains(place) ? $0[place] : nil }
        let value = placed ?? self.keywords?[name]
        return value == .null ? nil : value
    }
}
