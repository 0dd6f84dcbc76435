/// The broker: which session has subscribed to what (WAMP, 5). A value without output.
///
/// Equal subscriptions of several sessions have one number, so that they get the same bytes.
struct WAMPBroker {
    struct Subscription {
        let id: UInt64
        let pattern: WAMPPattern
        fileprivate(set) var members: Set<UInt64> = []
    }

    private var subscriptions: [UInt64: Subscription] = [:]
    private var ids: [WAMPPattern: UInt64] = [:]
    private var idsOfSession: [UInt64: Set<UInt64>] = [:]
    private var lastID: UInt64 = 0
    /// The number of prefix subscriptions whose text has so many bytes.
    private var prefixLengths: [Int: Int] = [:]
    /// The components of the wildcard subscriptions.
    private var wildcards: [UInt64: [Substring]] = [:]
    /// Changes whenever a subscription that may match the feed's topics appears or vanishes, so that what was derived
    /// from them is derived again.
    private(set) var generation: UInt64 = 0

    subscript(id: UInt64) -> Subscription? { self.subscriptions[id] }

    /// Returns the number of a subscription that exists.
    func id(of pattern: WAMPPattern) -> UInt64? { self.ids[pattern] }

    /// Returns the topic as the events of a subscription have it; `nil` if the subscription itself names it.
    func topic(_ topic: @autoclosure () -> String, for id: UInt64) -> String? {
        self.subscriptions[id]?.pattern.match == .exact ? nil : topic()
    }

    /// Returns the numbers of all subscriptions with a match policy, in order.
    func all(_ match: WAMPMatch) -> [UInt64] {
        self.subscriptions.values.filter { $0.pattern.match == match }.map(\.id).sorted()
    }

    /// Returns the numbers of the subscriptions that match a topic, in order.
    func matching(_ topic: String) -> [UInt64] {
        var found: [UInt64] = []
        if let id = self.ids[WAMPPattern(text: topic, match: .exact)] { found.append(id) }
        if !self.prefixLengths.isEmpty {
            for length in self.prefixLengths.keys where length <= topic.utf8.count {
                guard let text = String(topic.utf8.prefix(length)) else { continue }
                if let id = self.ids[WAMPPattern(text: text, match: .prefix)] { found.append(id) }
            }
        }
        if !self.wildcards.isEmpty {
            let components = WAMPURI.components(topic)
            for (id, wildcard) in self.wildcards where WAMPPattern.matches(components, wildcard) { found.append(id) }
        }
        return found.sorted()
    }

    /// Subscribes a session; a repeated subscription has the same number.
    mutating func subscribe(_ session: UInt64, to pattern: WAMPPattern) throws(WAMPFailure) -> UInt64 {
        let known = self.ids[pattern]
        if let known, self.subscriptions[known]?.members.contains(session) == true { return known }
        if pattern.match == .wildcard { try self.checkWildcards(of: session, isNew: known == nil) }
        let id = known ?? self.lastID + 1
        if known == nil { self.add(Subscription(id: id, pattern: pattern)) }
        self.subscriptions[id]?.members.insert(session)
        self.idsOfSession[session, default: []].insert(id)
        return id
    }

    /// Checks the limits of wildcard subscriptions. That of a session keeps a few of them from taking all places.
    private func checkWildcards(of session: UInt64, isNew: Bool) throws(WAMPFailure) {
        let limit = WAMPLimits.wildcardsOfSession
        guard self.idsOfSession[session, default: []].count(where: { self.wildcards[$0] != nil }) < limit else {
            throw WAMPFailure(.tooManySubscriptions, "a session may have \(limit) wildcard subscriptions")
        }
        if isNew, self.wildcards.count >= WAMPLimits.wildcards {
            throw WAMPFailure(.tooManySubscriptions, "there are too many wildcard subscriptions")
        }
    }

    private mutating func add(_ subscription: Subscription) {
        self.lastID = subscription.id
        if !WAMPTopics(of: subscription.pattern).isEmpty { self.generation += 1 }
        self.subscriptions[subscription.id] = subscription
        self.ids[subscription.pattern] = subscription.id
        switch subscription.pattern.match {
        case .exact: break
        case .prefix: self.prefixLengths[subscription.pattern.text.utf8.count, default: 0] += 1
        case .wildcard: self.wildcards[subscription.id] = WAMPURI.components(subscription.pattern.text)
        }
    }

    /// Ends a session's subscription; returns whether it had one.
    mutating func unsubscribe(_ session: UInt64, from id: UInt64) -> Bool {
        guard self.idsOfSession[session]?.remove(id) != nil else { return false }
        self.subscriptions[id]?.members.remove(session)
        if let subscription = self.subscriptions[id], subscription.members.isEmpty { self.remove(subscription) }
        return true
    }

    private mutating func remove(_ subscription: Subscription) {
        if !WAMPTopics(of: subscription.pattern).isEmpty { self.generation += 1 }
        self.subscriptions[subscription.id] = nil
        self.ids[subscription.pattern] = nil
        switch subscription.pattern.match {
        case .exact: break
        case .prefix:
            let length = subscription.pattern.text.utf8.count
            let left = (self.prefixLengths[length] ?? 1) - 1
            self.prefixLengths[length] = left == 0 ? nil : left
        case .wildcard: self.wildcards[subscription.id] = nil
        }
    }

    /// Ends all subscriptions of a session.
    mutating func left(_ session: UInt64) {
        for id in self.idsOfSession[session] ?? [] { _ = self.unsubscribe(session, from: id) }
        self.idsOfSession[session] = nil
    }
}
