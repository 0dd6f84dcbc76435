/// The evaluation of all alert rules over the tape: trades in, alerts out.
///
/// A pure state machine. It judges prices trade by trade and by the exchange's clock, so that the same trades give the
/// same alerts, however they are batched and however fast they arrive. It judges silence by the clock of arrival. The
/// pace of a replay means nothing, so there it judges silence by the exchange's time of all trades together: the next
/// trade reveals a silence, and the alert carries the time at which the symbol became silent.
package struct AlertEvaluator: Sendable {
    /// The largest number of pairs of a rule and a symbol that are watched.
    package static let maximumWatchers = 512
    /// The name that stands for all symbols together.
    package static let feedName = "feed"

    /// The defaults for rules that leave an option out, and the choice of the clock.
    package struct Settings: Sendable, Equatable {
        /// In percent.
        package var hysteresis = ExactDecimal(normalisedSignificand: 1, exponent: -1)
        /// The shortest time between two alerts of a rule for a symbol, ns.
        package var cooldown: Int64 = 60_000_000_000
        package var quiet: QuietHours?
        /// The span without a trade after which a symbol is stale, ns.
        package var staleAfter = FreshnessLimits().staleAfter
        /// Whether silence is judged only by the times of the trades.
        package var isReplay = false

        package init() {}
    }

    private struct Entry {
        var number: Int
        var rule: AlertRule
        var text: String
    }

    package private(set) var settings: Settings
    private let offset: @Sendable (Int64) -> Int64
    private var entries: [Entry] = []
    private var watchers: [AlertRuleState] = []
    /// The watchers of each symbol, by its number; `nil` until the symbol's first trade.
    private var ofSymbol: [[Int]?] = []
    private var ofFeed: [Int] = []
    private var watchesSilence = false
    /// The symbols known to the rules for every symbol.
    private var names: [String] = []
    private var known: Set<String> = []
    /// The states of an earlier run that no watcher has taken over yet.
    private var remembered: [AlertState.State]
    /// The clock by which silence is judged, ns since 1970; `nil` before the first event.
    private var clock: Int64?
    /// Whether the tape's time has jumped since `clock`.
    private var isMoved = false
    /// The earliest time at which a watcher of silence must be checked.
    private var nextCheck = Int64.max
    private var hasChanged = false
    /// The number of pairs that are not watched because there are too many.
    package private(set) var unwatched = 0

    /// - Parameters:
    ///   - symbols: the subscribed symbols, for rules about more than one symbol.
    ///   - remembered: the states that an earlier run left.
    ///   - offset: how far local time is ahead of UTC at a given time (ns since 1970), ns.
    package init(
        settings: Settings = Settings(),
        symbols: [String] = [],
        remembered: [AlertState.State] = [],
        offset: @escaping @Sendable (Int64) -> Int64 = { _ in 0 }
    ) {
        self.settings = settings
        self.offset = offset
        self.remembered = Array(remembered.prefix(Self.maximumWatchers))
        for name in symbols { self.note(name) }
    }

    /// Whether there are no rules.
    package var isEmpty: Bool { self.entries.isEmpty }

    /// Returns whether a state that a person can see has changed since the last call.
    package mutating func takeChange() -> Bool {
        var hasChanged = self.hasChanged
        self.hasChanged = false
        for index in self.watchers.indices where self.watchers[index].hasChanged {
            self.watchers[index].hasChanged = false
            hasChanged = true
        }
        return hasChanged
    }

    // MARK: Rules

    /// Changes the settings. The rules keep whether they are armed; a span such as that of `moves 2% in 5m` begins anew.
    package mutating func change(_ settings: Settings) {
        guard settings != self.settings else { return }
        self.remembered = Array(self.memory.prefix(Self.maximumWatchers))
        self.settings = settings
        let rules = self.entries.map { (number: $0.number, rule: $0.rule) }
        self.entries = []
        self.watchers = []
        self.setRules(rules)
    }

    /// Sets the rules in force, each with its own number. A rule that stays keeps its state.
    package mutating func setRules(_ rules: [(number: Int, rule: AlertRule)]) {
        let rules = rules.prefix(AlertRule.most)
        let kept = Set(rules.map(\.number))
        let old = Set(self.entries.map(\.number))
        self.entries = rules.map { Entry(number: $0.number, rule: $0.rule, text: $0.rule.description) }
        self.watchers.removeAll { !kept.contains($0.rule) }
        self.unwatched = 0
        for entry in self.entries where !old.contains(entry.number) {
            if case .feed = entry.rule.subject { self.watch(entry, Self.feedName) }
            if let name = entry.rule.onlySymbol, !self.names.contains(where: entry.rule.isAbout) {
                self.watch(entry, name)
            }
            for name in self.names where entry.rule.isAbout(name) { self.watch(entry, name) }
        }
        self.reindex()
        self.hasChanged = true
    }

    private mutating func watch(_ entry: Entry, _ name: String) {
        guard self.watchers.count < Self.maximumWatchers else {
            self.unwatched += 1
            return
        }
        var watcher = AlertRuleState(
            rule: entry.number,
            text: entry.rule,
            symbol: name,
            settings: self.settings,
            offset: self.offset
        )
        if let index = self.remembered.firstIndex(where: { $0.rule == entry.text && $0.symbol == name }) {
            watcher.restore(self.remembered.remove(at: index))
        }
        if let clock = self.clock { watcher.began(at: clock) }
        self.watchers.append(watcher)
    }

    private mutating func reindex() {
        self.ofSymbol = []
        self.ofFeed = self.watchers.indices.filter { self.watchers[$0].symbol == Self.feedName && self.isFeed($0) }
        self.watchesSilence = self.watchers.contains { $0.silence != nil }
        self.settleChecks()
    }

    private func isFeed(_ index: Int) -> Bool {
        guard let entry = self.entries.first(where: { $0.number == self.watchers[index].rule }) else { return false }
        if case .feed = entry.rule.subject { return true }
        return false
    }

    /// Notes that a new epoch has begun, in which the symbols' numbers have other meanings.
    package mutating func symbolsRenewed() { self.ofSymbol = [] }

    private mutating func note(_ name: String) {
        guard self.names.count < SymbolTable.capacity, self.known.insert(name).inserted else { return }
        self.names.append(name)
    }

    /// Returns the watchers of a symbol whose number appears for the first time.
    private mutating func resolve(_ symbol: SymbolID, _ name: String) -> [Int] {
        if !self.known.contains(name) {
            self.note(name)
            for entry in self.entries
            where entry.rule.isAbout(name)
                && !self.watchers.contains(where: { $0.rule == entry.number && self.isSame($0.symbol, name) })
            {
                self.watch(entry, name)
            }
            self.watchesSilence = self.watchers.contains { $0.silence != nil }
            self.settleChecks()
        }
        let found = self.watchers.indices.filter { index in
            self.isSame(self.watchers[index].symbol, name) && !self.ofFeed.contains(index)
        }
        for place in found { self.watchers[place].symbol = name }
        let index = Int(symbol.index)
        while self.ofSymbol.count <= index { self.ofSymbol.append(nil) }
        self.ofSymbol[index] = found
        return found
    }

    /// Compares two names without regard to case: a rule's symbol may have been typed in small letters.
    private func isSame(_ one: String, _ other: String) -> Bool {
        one == other || one.utf8.count == other.utf8.count && one.uppercased() == other.uppercased()
    }

    // MARK: Events

    /// Takes a trade. A trade that is ahead ends a silence and fires no price rule: when its price was made is not
    /// known.
    ///
    /// - Parameters:
    ///   - name: the symbol's name; called only when its number appears for the first time.
    ///   - arrived: our wall clock at its arrival, ns since 1970; ignored in a replay.
    package mutating func traded(_ trade: Trade, name: () -> String, arrived: Int64, emit: (Alert) -> Void) {
        guard !self.entries.isEmpty else { return }
        let isAhead = trade.marks.contains(.ahead)
        if self.watchesSilence, !(isAhead && self.settings.isReplay) {
            self.advance(to: self.settings.isReplay ? trade.exchangeTime : arrived, emit: emit)
        }
        let index = Int(trade.symbol.index)
        let watching: [Int]
        if index < self.ofSymbol.count, let known = self.ofSymbol[index] {
            watching = known
        } else {
            watching = self.resolve(trade.symbol, name())
        }
        let clock = self.clock ?? arrived
        for place in self.ofFeed {
            self.received(place, trade.price, at: clock, emit)
        }
        for place in watching {
            if self.watchers[place].silence != nil {
                self.received(place, trade.price, at: clock, emit)
            } else if !isAhead, let firing = self.watchers[place].traded(trade.price, time: trade.exchangeTime) {
                self.notify(place, firing, emit)
            }
        }
    }

    private mutating func received(_ place: Int, _ price: ExactDecimal, at clock: Int64, _ emit: (Alert) -> Void) {
        let firing = self.watchers[place].received(price, at: clock)
        // Every trade postpones the watcher's check. The earliest check of all is computed again when it is due.
        self.nextCheck = min(self.nextCheck, self.watchers[place].silence?.nextCheck ?? .max)
        if let firing { self.notify(place, firing, emit) }
    }

    /// Notes that our wall clock shows `now`, ns since 1970; does nothing in a replay.
    package mutating func timePassed(now: Int64, emit: (Alert) -> Void) {
        guard !self.settings.isReplay, self.watchesSilence else { return }
        self.advance(to: now, emit: emit)
    }

    /// The time of the next call of ``timePassed(now:emit:)``, ns since 1970; `nil` if none is needed.
    package var deadline: Int64? {
        guard !self.settings.isReplay, self.watchesSilence, self.clock != nil else { return nil }
        // Trades postpone the checks without updating this, so that it may be too early but never too late.
        return self.nextCheck == .max ? nil : self.nextCheck
    }

    /// Takes the feed's report that a symbol (all symbols for `nil`) will not trade for now; does nothing in a replay.
    package mutating func silenced(_ symbol: String?, reason: String, now: Int64, emit: (Alert) -> Void) {
        guard !self.settings.isReplay, self.watchesSilence else { return }
        self.advance(to: now, emit: emit)
        for place in self.watchers.indices where self.watchers[place].silence != nil {
            if let symbol {
                guard !self.ofFeed.contains(place), self.isSame(self.watchers[place].symbol, symbol) else { continue }
            } else {
                guard self.ofFeed.contains(place) else { continue }
            }
            if let firing = self.watchers[place].wasSilenced(at: now, reason: reason) {
                self.notify(place, firing, emit)
            }
        }
        self.settleChecks()
    }

    /// Notes that the tape's time jumps, as it does when a replay is moved. Trades after the jump are not late compared
    /// with trades before it.
    package mutating func clockMoved() {
        for place in self.watchers.indices { self.watchers[place].clockMoved() }
        self.isMoved = self.settings.isReplay
    }

    /// Moves the clock of silence forward, or back if it was set back, and reports what has become silent by then.
    private mutating func advance(to time: Int64, emit: (Alert) -> Void) {
        guard let clock = self.clock else {
            self.clock = time
            for place in self.watchers.indices { self.watchers[place].began(at: time) }
            self.settleChecks()
            return
        }
        if time < clock {
            // A late trade or a small difference between two clocks does not count.
            guard self.isMoved || clock &- time > Board.reorderWindow || clock &- time < 0 else { return }
            self.isMoved = false
            for place in self.watchers.indices { self.watchers[place].clockWasSet(to: time) }
            self.clock = time
            self.settleChecks()
            return
        }
        self.clock = time
        self.isMoved = false
        guard time >= self.nextCheck else { return }
        // In the order in which the symbols fell silent, independent of when this is called.
        while true {
            self.settleChecks()
            guard self.nextCheck <= time,
                let place = self.watchers.firstIndex(where: { $0.silence?.nextCheck == self.nextCheck })
            else { return }
            if let firing = self.watchers[place].clockReached(time) { self.notify(place, firing, emit) }
        }
    }

    private mutating func settleChecks() {
        self.nextCheck = self.watchers.reduce(Int64.max) { min($0, $1.silence?.nextCheck ?? .max) }
    }

    private mutating func notify(_ place: Int, _ firing: AlertRuleState.Firing, _ emit: (Alert) -> Void) {
        let watcher = self.watchers[place]
        guard let entry = self.entries.first(where: { $0.number == watcher.rule }) else { return }
        self.hasChanged = true
        emit(
            Alert(
                rule: entry.text,
                kind: entry.rule.kind,
                symbol: watcher.symbol,
                price: firing.price,
                time: firing.time,
                reason: firing.reason,
                count: watcher.gate.count
            )
        )
    }

    // MARK: Reading the state

    /// Each rule's number, and its state in a few words.
    package var states: [(number: Int, words: String)] {
        self.entries.map { entry in
            (
                entry.number,
                AlertStateText.of(self.watchers.filter { $0.rule == entry.number }, offset: self.offset)
            )
        }
    }

    /// The states that survive a restart. States that no rule of this run has taken over are kept for the next run.
    package var memory: [AlertState.State] {
        var states = self.watchers.compactMap { watcher -> AlertState.State? in
            guard var state = watcher.memory, let entry = self.entries.first(where: { $0.number == watcher.rule })
            else {
                return nil
            }
            state.rule = entry.text
            return state
        }
        states += self.remembered.prefix(max(0, Self.maximumWatchers - states.count))
        return states
    }
}
