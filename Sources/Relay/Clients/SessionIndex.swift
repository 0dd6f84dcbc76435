/// The sessions of the relay by the symbols that matter to them.
///
/// Answers with copies: a session that writes to its client may lose it, and leave the index at once.
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

    /// The sessions that have subscribed to a symbol by its name.
    func subscribers(of symbol: String) -> [any RelayProtocol] {
        self.subscribers[symbol].map { Array($0.values) } ?? []
    }

    /// The sessions that follow all symbols.
    var allFollowers: [any RelayProtocol] { Array(self.followers.values) }

    /// The sessions to which a symbol may matter: those that have subscribed to it, and those that follow all.
    func sessions(of symbol: String) -> [any RelayProtocol] {
        guard let named = self.subscribers[symbol] else { return self.allFollowers }
        var sessions = Array(named.values)
        for (id, session) in self.followers where named[id] == nil { sessions.append(session) }
        return sessions
    }
}
