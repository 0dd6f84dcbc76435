/// An index of the relay's sessions by the symbols that they follow.
///
/// Its results are copies: a write may close a session's client, and the session then leaves the index at once.
struct SessionIndex {
    private typealias Sessions = [ObjectIdentifier: any RelayProtocol]

    private var subscribers: [String: Sessions] = [:]
    private var followers: Sessions = [:]

    /// Notes that a session has subscribed to a symbol by its name.
    mutating func insert(_ session: any RelayProtocol, _ symbol: String) {
        self.subscribers[symbol, default: [:]][ObjectIdentifier(session)] = session
    }

    mutating func remove(_ session: any RelayProtocol, _ symbol: String) {
        self.subscribers[symbol]?[ObjectIdentifier(session)] = nil
        if self.subscribers[symbol]?.isEmpty == true { self.subscribers[symbol] = nil }
    }

    /// Notes whether a session follows all symbols.
    mutating func setFollowsAll(_ session: any RelayProtocol, _ followsAll: Bool) {
        self.followers[ObjectIdentifier(session)] = followsAll ? session : nil
    }

    /// Returns the sessions that have subscribed to a symbol by its name.
    func subscribers(of symbol: String) -> [any RelayProtocol] {
        self.subscribers[symbol].map { Array($0.values) } ?? []
    }

    /// The sessions that follow all symbols.
    var allFollowers: [any RelayProtocol] { Array(self.followers.values) }

    /// Returns the sessions that follow a symbol, by its name or because they follow all.
    func sessions(of symbol: String) -> [any RelayProtocol] {
        guard let named = self.subscribers[symbol] else { return self.allFollowers }
        var sessions = Array(named.values)
        for (id, session) in self.followers where named[id] == nil { sessions.append(session) }
        return sessions
    }
}
