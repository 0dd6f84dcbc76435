import Market
import NIOCore
import Wire

/// The subscriptions of a client.
extension WAMPClient {
    func subscribe(
        _ request: UInt64,
        _ text: String,
        _ match: WAMPMatch?,
        _ session: UInt64
    ) throws(WAMPFailure) {
        guard let match else { throw WAMPFailure(.optionNotAllowed, "match is exact, prefix or wildcard") }
        let subscription = try WAMPSubscription(
            text,
            match,
            allowsOthers: self.isBroker,
            hasRooms: self.context.settings.rooms
        )
        let known = self.fanout.router.broker.id(of: subscription.pattern)
        let isNew = known.map { self.subscriptions[$0] == nil } ?? true
        if isNew, subscription.isCounted,
            self.subscriptions.values.count(where: \.isCounted) >= WAMPLimits.subscriptions
        {
            throw WAMPFailure(.tooManySubscriptions, "a session may have \(WAMPLimits.subscriptions) subscriptions")
        }
        let isSymbolNew =
            try subscription.topic?.symbol.map { symbol throws(WAMPFailure) in
                try self.takePlace(for: symbol)
            } ?? false
        if case .room(let room)? = subscription.topic { try self.enter(room) }
        let id = try self.fanout.change { router throws(WAMPFailure) in
            (try router.subscribe(session, to: subscription.pattern), [])
        }
        self.subscriptions[id] = subscription
        self.answer(.subscribed(request, subscription: id))
        if isNew { self.wishesChanged() }
        self.context.noteSubscribed()
        self.showState(to: id, subscription)
        if let symbol = subscription.topic?.symbol, self.context.isRefused(symbol) {
            // The refusal is reported once for a symbol, and here for its second topic.
            if isSymbolNew {
                self.context.reportRefusal(of: symbol, to: self)
            } else {
                self.showRefusal(of: symbol, to: id)
            }
        }
    }

    /// Subscribes to a symbol upstream; returns whether the session had not.
    private func takePlace(for symbol: String) throws(WAMPFailure) -> Bool {
        let index = self.context.index
        guard !index.isSubscribed(self, to: symbol) else { return false }
        let isFull = index.symbolCount(of: self) >= self.context.symbolLimit
        switch isFull ? .full : index.subscribe(self, to: symbol) {
        case .invalid: throw WAMPFailure(.invalidURI, self.context.invalid(symbol))
        case .full: throw WAMPFailure(.tooManySymbols, SymbolErrors.tooMany(symbol))
        case .accepted: return true
        }
    }

    func unsubscribe(_ id: UInt64, _ session: UInt64) throws(WAMPFailure) {
        guard let subscription = self.subscriptions.removeValue(forKey: id) else {
            throw WAMPFailure(.noSuchSubscription, "the session has no such subscription")
        }
        self.fanout.act { router in
            _ = router.unsubscribe(session, from: id)
            return []
        }
        self.wishesChanged()
        self.unfollowRows(of: subscription)
        if case .room(let room)? = subscription.topic { self.context.rooms.leave(room, self) }
        guard let symbol = subscription.topic?.symbol else { return }
        // A symbol has two topics.
        guard !self.subscriptions.values.contains(where: { $0.topic?.symbol == symbol }) else { return }
        self.context.index.unsubscribe(self, from: symbol)
    }

    /// Stops following the rows of a subscription that has ended, except those that another one needs.
    private func unfollowRows(of subscription: WAMPSubscription) {
        guard subscription.topics.contains(.prices) else { return }
        let rows: [Int]
        if let topic = subscription.topic {
            rows = topic.symbol.flatMap { self.context.knownRow(of: $0) }.map { [$0] } ?? []
        } else {
            rows = self.rows.rows
        }
        for row in rows
        where self.rows.follows(row) && self.own(.price(self.context.symbol(ofRow: row))).isEmpty {
            self.rows.unfollow(row)
        }
    }

    /// Whether any subscription may match topics of this kind.
    func wants(_ topics: WAMPTopics) -> Bool {
        self.subscriptions.values.contains { !$0.topics.isDisjoint(with: topics) }
    }

    /// Returns the session's subscriptions that match a topic of the feed.
    func own(_ topic: WAMPTopic) -> [UInt64] {
        self.fanout.matching(topic).filter { self.subscriptions[$0] != nil }
    }

    /// Applies the subscriptions to the index and to the fan-out.
    private func wishesChanged() {
        let followsAll = self.subscriptions.values.contains { subscription in
            // A gap may be one of any symbol.
            subscription.topics.contains(.gaps)
                || subscription.topic == nil && subscription.topics.contains(.prices)
        }
        self.context.index.setFollowsAll(self, self.isOpen && followsAll)
        let trades = self.subscriptions.filter { $0.value.topics.contains(.trades) }
        // The slot of a client that has gone is another's.
        self.fanout.setTrades(of: self, self.isOpen ? trades.keys.sorted() : [])
        self.feedWaitsChanged()
    }

    // MARK: Pace

    /// Whether the client gets every trade, and so is closed when it is too slow.
    var wantsTrades: Bool { self.wants(.trades) }

    func feedWaitsChanged() {
        let feedWaits = self.context.feedWaits && self.wantsTrades
        self.pace.setPolicy(
            feedWaits: feedWaits,
            limit: self.context.settings.waitingLimit(feedWaits: feedWaits),
            messageLimit: feedWaits ? .max : self.context.settings.maximumWaitingMessages,
            closes: self.wantsTrades
        )
    }

    func obey(_ verdict: Backlog.Verdict) {
        switch verdict {
        case .keep, .goOn: break
        case .close(let missed): self.closeTooSlow(missed: missed)
        }
    }

    func closeTooSlow(missed: UInt64) {
        guard self.isOpen else { return }
        self.closeSlow(missed: missed, reason: "too slow: \(missed) trades missed")
    }
}
