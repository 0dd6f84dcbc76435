/// The connections by their keys, if a key may be used by one connection at a time.
///
/// The real service was seen to treat a second connection in three ways (both cut, the older cut, the newer refused
/// with 429), so there are three rules.
package struct KeyHolders: Sendable {
    /// The treatment of two connections with one key.
    package enum Rule: String, Sendable, Equatable, CaseIterable {
        case both
        case older
        case refuse
    }

    private let rule: Rule
    /// The connection of each key.
    private var holders: [String: Int] = [:]

    package init(rule: Rule) {
        self.rule = rule
    }

    /// Returns whether a request with a key is refused.
    package func refuses(_ key: String) -> Bool {
        switch self.rule {
        case .both, .older: false
        case .refuse: self.holders[key] != nil
        }
    }

    /// Notes the open of a connection; returns the connections that are closed for it.
    package mutating func opened(_ key: String, by connection: Int) -> [Int] {
        guard let older = self.holders.updateValue(connection, forKey: key) else { return [] }
        switch self.rule {
        case .both:
            self.holders[key] = nil
            return [older, connection]
        case .older, .refuse:
            return [older]
        }
    }

    /// Notes the end of a connection.
    package mutating func ended(_ key: String, by connection: Int) {
        if self.holders[key] == connection { self.holders[key] = nil }
    }
}
