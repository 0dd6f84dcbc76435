import Market
package import NIOCore

/// The symbols that a program wants from its feed: those of the settings and the screen, and those of the clients.
///
/// It keeps hostile or mistaken names away from the upstream: names that cannot be symbols (``SymbolName``), and more symbols
/// than one connection may have. Only a symbol's first subscriber and the end of its last one concern the upstream, and that
/// end only after the linger time (``LingeringSymbols``); where all places are taken, a new symbol gets that of the one that
/// has lingered longest.
///
/// What it holds is bounded by the places, whatever names clients make up: a name is held while it has a subscriber, and
/// while it lingers. That a symbol trades says nothing here: it may be a late trade of one that was given up, and a place
/// that such a symbol took would be lost for good.
package struct SubscriptionTable: Sendable {
    package enum Answer: Sendable, Equatable {
        /// The feed delivers the symbol, or is asked for it.
        case accepted
        /// All places are taken.
        case full
        /// No such symbol can exist.
        case invalid
    }

    private let limit: Int
    /// The program's own symbols, which are there without any client: those of the settings and of the screen.
    private var retained: Set<String>
    /// How many clients want each; 0 where it lingers, which a retained one never does.
    private var subscribers: [String: Int] = [:]
    private var lingering: LingeringSymbols
    /// Changes that the upstream does not know yet.
    private var changes: [SubscriptionChange] = []
    /// Those that the upstream does not send now; they take none of its places.
    private var refusedSymbols: Set<String> = []

    /// How many refused symbols may be asked for beside the others, for each place.
    private static let refusedPerPlace = 4

    /// - Parameters:
    ///   - limit: the most symbols that the upstream sends on one connection.
    ///   - retained: those of the settings, which the feed asks for by itself.
    ///   - linger: how long a symbol without a subscriber is still asked for; 0 gives it up at once.
    package init(limit: Int, retained: some Sequence<String> = [], linger: TimeAmount = .zero) {
        self.limit = limit
        self.retained = Set(retained)
        self.lingering = LingeringSymbols(time: linger)
    }

    /// The symbols that the feed is asked for, in order of their names.
    package var symbols: [String] { self.retained.union(self.subscribers.keys).sorted() }

    /// When ``timePassed(now:)`` wants to be called.
    package var deadline: NIODeadline? { self.lingering.deadline }

    /// Whether there is something for ``takeChanges()``.
    package var hasChanges: Bool { !self.changes.isEmpty }

    /// Whether the feed is asked for the symbol.
    package func holds(_ symbol: String) -> Bool {
        self.retained.contains(symbol) || self.subscribers[symbol] != nil
    }

    // MARK: Clients

    /// Adds one subscriber of a symbol, which takes a place if the feed is not asked for it already.
    package mutating func subscribe(_ symbol: String) -> Answer {
        guard SymbolName.isValid(symbol) else { return .invalid }
        if let count = self.subscribers[symbol] {
            if count == 0 { _ = self.lingering.remove(symbol) }
            self.subscribers[symbol] = count + 1
            return .accepted
        }
        // Counted although it is retained: that may end some day.
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

    // MARK: The program's own

    /// Makes a symbol one of the program's own, which takes a place if the feed is not asked for it already.
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

    /// Makes a symbol one of the program's own no more: it stays while a client wants it.
    package mutating func release(_ symbol: String) {
        guard self.retained.remove(symbol) != nil, self.subscribers[symbol] == nil else { return }
        self.giveUp(symbol)
    }

    // MARK: The upstream and the time

    /// Notes that the upstream does not send the symbol: its place is free, though it is still wanted.
    package mutating func refused(_ symbol: String) {
        if self.lingering.remove(symbol) { return self.giveUp(symbol) }  // there is nothing to come back for
        if self.holds(symbol) { self.refusedSymbols.insert(symbol) }
    }

    /// Notes that the upstream refuses the symbol no longer.
    package mutating func recovered(_ symbol: String) { self.refusedSymbols.remove(symbol) }

    /// Gives up the symbols whose linger time is over.
    package mutating func timePassed(now: NIODeadline) {
        for symbol in self.lingering.timePassed(now: now) { self.giveUp(symbol) }
    }

    /// Removes and returns the changes for the upstream, in order.
    package mutating func takeChanges() -> [SubscriptionChange] {
        defer { self.changes = [] }
        return self.changes
    }

    /// Drops the changes that undo each other, which a feed that is not there yet need not hear of.
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

    /// Makes room for one more symbol, for which lingering ones go; returns whether there is any.
    private mutating func makePlace() -> Bool {
        // None that lingers is refused, so each that goes makes a place.
        guard self.hasPlace(without: self.lingering.count) else { return false }
        while !self.hasPlace(without: 0), let oldest = self.lingering.removeOldest() { self.giveUp(oldest) }
        return true
    }

    /// Whether there would be a place for one more symbol with `gone` symbols less.
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
