import Market
package import NIOCore
package import Wire

/// The symbols that a program wants from its feed: those of the settings and the screen, and those of the clients.
///
/// It keeps hostile or mistaken names away from the upstream: names that cannot be symbols (``SymbolName``), and more
/// symbols than one connection may have. The upstream sees only the first subscription to a symbol and the end of the
/// last one, and that end only after the linger time (``LingeringSymbols``). If all places are taken, a new symbol gets
/// the place of the one that has lingered longest.
///
/// The places bound the table's size, whatever names clients make up: a name is held only while it has a subscriber or
/// lingers. A trade of a symbol does not make it held. It may be a late trade after the unsubscription, and a place
/// that it took would be lost for good.
package struct SubscriptionTable: Sendable {
    package enum Answer: Sendable, Equatable {
        /// The feed delivers the symbol, or will subscribe to it.
        case accepted
        /// All places are taken.
        case full
        /// No such symbol can exist.
        case invalid
    }

    let limit: Int
    /// The program's own symbols, which need no client: those of the settings and of the screen.
    private var retained: Set<String>
    /// The number of clients that want each symbol; 0 if it lingers. A retained symbol never lingers.
    private var subscribers: [String: Int] = [:]
    private var lingering: LingeringSymbols
    /// The changes that the upstream has not received yet.
    private var changes: [SubscriptionChange] = []
    /// The held symbols that the upstream does not send at present. They take none of its places.
    private var refusedSymbols: Set<String> = []

    /// How many refused symbols for each place may be held beside the accepted ones.
    private static let refusedPerPlace = 4

    /// - Parameters:
    ///   - limit: the most symbols that the upstream sends on one connection.
    ///   - retained: the symbols of the settings, to which the feed subscribes by itself.
    ///   - linger: how long the subscription to a symbol without a subscriber continues; 0 ends it at once.
    package init(limit: Int, retained: some Sequence<String> = [], linger: TimeAmount = .zero) {
        self.limit = limit
        self.retained = Set(retained)
        self.lingering = LingeringSymbols(time: linger)
    }

    /// The symbols to which the feed subscribes, sorted by name.
    package var symbols: [String] { self.retained.union(self.subscribers.keys).sorted() }

    /// When ``timePassed(now:)`` is due.
    package var deadline: NIODeadline? { self.lingering.deadline }

    /// Whether ``takeChanges()`` has changes to return.
    package var hasChanges: Bool { !self.changes.isEmpty }

    /// Whether the feed subscribes to the symbol.
    package func holds(_ symbol: String) -> Bool {
        self.retained.contains(symbol) || self.subscribers[symbol] != nil
    }

    // MARK: Clients

    /// Adds one subscriber of a symbol. A symbol that the feed does not deliver yet takes a place.
    package mutating func subscribe(_ symbol: String) -> Answer {
        guard SymbolName.isValid(symbol) else { return .invalid }
        if let count = self.subscribers[symbol] {
            if count == 0 { _ = self.lingering.remove(symbol) }
            self.subscribers[symbol] = count + 1
            return .accepted
        }
        // A retained symbol is counted, too, since the retention may end.
        if !self.retained.contains(symbol) {
            guard self.makePlace() else { return .full }
            self.changes.append(.subscribe(symbol))
        }
        self.subscribers[symbol] = 1
        return .accepted
    }

    /// Removes one subscriber that was accepted.
    package mutating func unsubscribe(_ symbol: String, now: NIODeadline) {
        guard let count = self.subscribers[symbol], count > 0 else { return }
        guard count == 1 else {
            self.subscribers[symbol] = count - 1
            return
        }
        guard !self.retained.contains(symbol) else {
            self.subscribers[symbol] = nil
            return
        }
        self.subscribers[symbol] = 0
        if self.refusedSymbols.contains(symbol) || !self.lingering.insert(symbol, now: now) { self.giveUp(symbol) }
    }

    // MARK: Retained symbols

    /// Makes a symbol one of the program's own. A symbol that the feed does not deliver yet takes a place.
    package mutating func retain(_ symbol: String) -> Answer {
        guard SymbolName.isValid(symbol) else { return .invalid }
        if self.retained.contains(symbol) { return .accepted }
        if let count = self.subscribers[symbol] {
            if count == 0 {
                _ = self.lingering.remove(symbol)
                self.subscribers[symbol] = nil
            }
        } else {
            guard self.makePlace() else { return .full }
            self.changes.append(.subscribe(symbol))
        }
        self.retained.insert(symbol)
        return .accepted
    }

    /// Ends the program's own interest in a symbol. The symbol stays while a client wants it.
    package mutating func release(_ symbol: String) {
        guard self.retained.remove(symbol) != nil, self.subscribers[symbol] == nil else { return }
        self.giveUp(symbol)
    }

    // MARK: Upstream and time

    /// Changes how long the subscription to a symbol without a subscriber continues.
    package mutating func change(linger: TimeAmount, now: NIODeadline) {
        self.lingering.change(time: linger, now: now)
    }

    /// Notes that the upstream does not send the symbol. Its place becomes free, although it is still wanted.
    package mutating func refused(_ symbol: String) {
        if self.lingering.remove(symbol) { return self.giveUp(symbol) }  // a refused symbol need not linger
        if self.holds(symbol) { self.refusedSymbols.insert(symbol) }
    }

    /// Notes that the upstream no longer refuses the symbol.
    package mutating func recovered(_ symbol: String) { self.refusedSymbols.remove(symbol) }

    /// Unsubscribes the symbols whose linger time has ended.
    package mutating func timePassed(now: NIODeadline) {
        for symbol in self.lingering.timePassed(now: now) { self.giveUp(symbol) }
    }

    /// Removes and returns the changes for the upstream, in order.
    package mutating func takeChanges() -> [SubscriptionChange] {
        defer { self.changes = [] }
        return self.changes
    }

    /// Drops pairs of changes that undo each other. A feed that is not connected yet need not see them.
    package mutating func cancelChanges() {
        var kept: [SubscriptionChange] = []
        for change in self.changes {
            if case .unsubscribe(let symbol) = change, let place = kept.firstIndex(of: .subscribe(symbol)) {
                kept.remove(at: place)
            } else {
                kept.append(change)
            }
        }
        self.changes = kept
    }

    /// Frees a place for one more symbol by ending the linger time of others, oldest first; returns whether there is
    /// one.
    private mutating func makePlace() -> Bool {
        // No lingering symbol is refused, so each one that leaves frees a place.
        guard self.hasPlace(without: self.lingering.count) else { return false }
        while !self.hasPlace(without: 0), let oldest = self.lingering.removeOldest() { self.giveUp(oldest) }
        return true
    }

    /// Whether one more symbol would have a place if `gone` symbols left.
    private func hasPlace(without gone: Int) -> Bool {
        let others = self.subscribers.keys.count { !self.retained.contains($0) }
        let all = self.retained.count + others - gone
        return all - self.refusedSymbols.count < self.limit && all < self.limit * (1 + Self.refusedPerPlace)
    }

    private mutating func giveUp(_ symbol: String) {
        self.subscribers[symbol] = nil
        self.refusedSymbols.remove(symbol)
        self.changes.append(.unsubscribe(symbol))
    }
}
