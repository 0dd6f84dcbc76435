/// A dictionary of WAMP, in the order of its message. Of equal keys the last one counts.
struct WAMPDictionary: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    struct Entry: Sendable, Equatable {
        var key: String
        var value: WAMPValue
    }

    private(set) var entries: [Entry] = []

    init() {}

    init(dictionaryLiteral elements: (String, WAMPValue)...) {
        self.init(elements.map { Entry(key: $0.0, value: $0.1) })
    }

    /// - Parameter entries: the entries of a message, in which keys may be repeated.
    init(_ entries: [Entry]) {
        guard entries.count > 1 else {
            self.entries = entries
            return
        }
        self.entries.reserveCapacity(entries.count)
        // A table, so that a message full of keys takes time in proportion to its size.
        var places: [WAMPText: Int] = [:]
        for entry in entries {
            let key = WAMPText(entry.key)
            if let place = places[key] {
                self.entries[place].value = entry.value
            } else {
                places[key] = self.entries.count
                self.entries.append(entry)
            }
        }
    }

    var isEmpty: Bool { self.entries.isEmpty }

    /// Returns the value of a key. The search is linear: what this program reads has few keys.
    subscript(key: String) -> WAMPValue? { self.entries.first { $0.key == key }?.value }

    /// Sets the value of a key that the dictionary does not have.
    mutating func append(_ key: String, _ value: WAMPValue) { self.entries.append(Entry(key: key, value: value)) }
}
