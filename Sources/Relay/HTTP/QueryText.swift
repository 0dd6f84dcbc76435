import Market

/// The parameters of a request's query, by name.
struct QueryText {
    private var values: [String: String] = [:]

    /// - Throws: ``HTTPRefusal`` for a parameter that is malformed, given twice, or not in `known` (unless that is
    ///   `nil`).
    init(_ query: String?, known: Set<String>?) throws(HTTPRefusal) {
        for pair in (query ?? "").split(separator: "&") {
            guard let (name, value) = PercentText.pair(pair) else { throw .badQuery("the query cannot be decoded") }
            // The key that clients of Finnhub send by habit; it is ignored here.
            if name == "token" { continue }
            if let known, !known.contains(name) {
                throw .badQuery("there is no parameter \(name.prefix(32)) here", known: known)
            }
            guard self.values.updateValue(value, forKey: name) == nil else {
                throw .badQuery("\(name) is given twice", known: known ?? [])
            }
        }
    }

    /// Returns the value of a parameter.
    func text(_ name: String) -> String? { self.values[name] }

    /// Returns the value of a parameter; `nil` if it is missing or has only blanks.
    ///
    /// - Parameter limit: the most bytes.
    func text(_ name: String, atMost limit: Int) throws(HTTPRefusal) -> String? {
        guard let text = self.values[name], !text.allSatisfy(\.isWhitespace) else { return nil }
        guard text.utf8.count <= limit else { throw .badQuery("\(name) must have \(limit) bytes at most") }
        return text
    }

    /// Returns the value of a parameter as a whole number in the range, or the default.
    func number(_ name: String, in range: ClosedRange<Int>, default usual: Int) throws(HTTPRefusal) -> Int {
        guard let text = self.values[name] else { return usual }
        guard text.utf8.count <= 10, let number = Int(text), range.contains(number) else {
            throw .badQuery("\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
