package import Market
import NIOConcurrencyHelpers
package import NIOCore
package import Wire

/// The program's subscriptions at its feeds, on behalf of its settings, its screen and its clients.
///
/// Its methods answer at once, on any thread. Each symbol belongs to one feed, which has a table and a limit apart from
/// the others'. Changes go to the feed in order, on the feeds' loop, and never within the call that made them. Until a
/// feed is connected they wait, and there are never more of them than places. It is created before the feeds and their
/// readers. It is the first reader of the tape, and learns there which symbols an upstream refuses.
package final class Subscriptions: TapeReader {
    package struct Settings: Sendable, Equatable {
        /// The most symbols that one connection to the upstream subscribes to: those of all clients and of the program
        /// together. A client may have as many.
        package var limit: Int
        /// Whose limit it is, for people; `nil` if it is that of the setting `upstream.max-symbols`.
        package var limitOwner: String?
        /// How long a symbol stays subscribed upstream after its last client has unsubscribed; 0 unsubscribes at once.
        package var linger: TimeAmount

        package init(limit: Int = 50, linger: TimeAmount = .seconds(10)) {
            self.limit = limit
            self.linger = linger
        }
    }

    /// The symbols of one feed.
    package struct Share: Sendable {
        var settings: Settings
        package var retained: [String]
        let serves: @Sendable (String) -> Bool

        /// - Parameters:
        ///   - retained: the symbols of the settings, to which the feed subscribes by itself.
        ///   - serves: whether a symbol is the feed's; asked of one feed after the other.
        package init(
            _ settings: Settings,
            retained: [String] = [],
            serves: @escaping @Sendable (String) -> Bool = { _ in true }
        ) {
            self.settings = settings
            self.retained = retained
            self.serves = serves
        }
    }

    private struct Member {
        var table: SubscriptionTable
        var feed: (any SubscribingFeed)?
        let limitOwner: String?
        let serves: @Sendable (String) -> Bool

        var hasWork: Bool { self.feed != nil && self.table.hasChanges }
    }

    private struct State {
        var members: [Member]
        /// The program's own symbols in display order: those of the settings, and then those of the screen.
        var order: [String]
        /// Whether ``turn()`` is scheduled on the loop.
        var isTurnDue = false
        var timer: (at: NIODeadline, task: Scheduled<Void>)?
        /// Whether symbols are still unsubscribed at the end of their linger time.
        var hasTimer = true

        /// When the next linger time ends.
        var deadline: NIODeadline? { self.members.compactMap(\.table.deadline).min() }

        /// Whether a linger time ends before the timer fires.
        var mustArm: Bool {
            guard self.hasTimer, let deadline = self.deadline else { return false }
            return self.timer.map { deadline < $0.at } ?? true
        }

        var hasWork: Bool { self.members.contains { $0.hasWork } || self.mustArm }

        /// Changes the table of the feed that serves a symbol; `nil` if no feed does.
        mutating func change<Answer>(of symbol: String, _ change: (inout SubscriptionTable) -> Answer) -> Answer? {
            guard let index = self.members.firstIndex(where: { $0.serves(symbol) }) else { return nil }
            return change(&self.members[index].table)
        }
    }

    /// The most symbols of all clients together, and of one client.
    package let limit: Int
    /// Returns what to write instead of a name that no feed serves, in one line; `nil` where nothing better is known.
    package let hint: @Sendable (String) -> String?
    private let loop: any EventLoop
    private let state: NIOLockedValueBox<State>

    /// - Parameters:
    ///   - shares: the symbols of each feed.
    ///   - order: the symbols of the settings in display order; `nil` for that of the shares.
    ///   - loop: the feeds' event loop.
    ///   - hint: what to write instead of a name that no feed serves, in one line.
    package init(
        _ shares: [Share],
        order: [String]? = nil,
        loop: any EventLoop,
        hint: @escaping @Sendable (String) -> String? = { _ in nil }
    ) {
        self.limit = shares.reduce(0) { $0 + $1.settings.limit }
        self.loop = loop
        self.hint = hint
        self.state = NIOLockedValueBox(
            State(
                members: shares.map { share in
                    let (limit, linger) = (share.settings.limit, share.settings.linger)
                    let table = SubscriptionTable(limit: limit, retained: share.retained, linger: linger)
                    return Member(table: table, limitOwner: share.settings.limitOwner, serves: share.serves)
                },
                order: order ?? shares.flatMap(\.retained)
            )
        )
    }

    /// Returns the most symbols of the feed that serves a symbol, and whose limit that is (``Settings/limitOwner``).
    package func limit(of symbol: String) -> (count: Int, owner: String?) {
        self.state.withLockedValue { state in
            let member = state.members.first { $0.serves(symbol) }
            return (member?.table.limit ?? self.limit, member?.limitOwner)
        }
    }

    /// Creates the subscriptions at one feed.
    package convenience init(_ settings: Settings, retained: [String] = [], loop: any EventLoop) {
        self.init([Share(settings, retained: retained)], loop: loop)
    }

    /// Connects a feed, which receives all changes so far and from now on.
    ///
    /// - Parameter index: the place of its share.
    package func connect(_ feed: any SubscribingFeed, at index: Int = 0) {
        self.change { $0.members[index].feed = feed }
    }

    // MARK: Subscribers

    /// Adds one client's subscription to a symbol.
    package func subscribe(_ symbol: String) -> SubscriptionTable.Answer {
        self.change { $0.change(of: symbol) { $0.subscribe(symbol) } } ?? .invalid
    }

    /// Removes one client's subscription that was accepted. A symbol without a further one lingers.
    package func unsubscribe(_ symbol: String) {
        let now = self.loop.now
        self.change { _ = $0.change(of: symbol) { $0.unsubscribe(symbol, now: now) } }
    }

    /// Retains a symbol for the program itself, for example for its screen.
    package func retain(_ symbol: String) -> SubscriptionTable.Answer {
        self.change { state in
            let answer = state.change(of: symbol) { $0.retain(symbol) } ?? .invalid
            if answer == .accepted, !state.order.contains(symbol) { state.order.append(symbol) }
            return answer
        }
    }

    /// Releases a symbol that the program retained. The symbol stays while a client wants it.
    package func release(_ symbol: String) {
        self.change { state in
            state.order.removeAll { $0 == symbol }
            _ = state.change(of: symbol) { $0.release(symbol) }
        }
    }

    /// Changes how long a symbol stays subscribed upstream after its last client has unsubscribed.
    package func change(linger: TimeAmount) {
        let now = self.loop.now
        self.change { state in
            for index in state.members.indices { state.members[index].table.change(linger: linger, now: now) }
        }
    }

    /// The symbols to which the feeds subscribe, sorted by name.
    package var symbols: [String] {
        self.state.withLockedValue { state in
            // One table has them sorted.
            guard state.members.count > 1 else { return state.members.first?.table.symbols ?? [] }
            return state.members.flatMap(\.table.symbols).sorted()
        }
    }

    /// The same symbols in display order: those of the settings, those of the screen, and then the clients' by name.
    package var ordered: [String] {
        let (order, symbols) = (self.state.withLockedValue { $0.order }, self.symbols)
        let (held, own) = (Set(symbols), Set(order))
        return order.filter(held.contains) + symbols.filter { !own.contains($0) }
    }

    /// Whether a feed subscribes to the symbol.
    package func holds(_ symbol: String) -> Bool {
        self.state.withLockedValue { $0.members.contains { $0.table.holds(symbol) } }
    }

    /// Stops the linger timer for good: the clients leave because the program ends.
    package func cancelLinger() {
        let timer = self.state.withLockedValue { state in
            defer { state.timer = nil }
            state.hasTimer = false
            return state.timer
        }
        timer?.task.cancel()
    }

    // MARK: The tape

    package func symbolChanged(_ status: SymbolStatus) {
        self.change { _ = $0.change(of: status.symbol) { $0.note(status) } }
    }

    package func symbolUnsubscribed(_ symbol: String) {
        self.change { _ = $0.change(of: symbol) { $0.recovered(symbol) } }
    }

    package func read(_ batch: TapeBatch) {}
    package func statusChanged(_ status: FeedStatus) {}
    package func gapFound(_ gap: Gap) {}

    // MARK: The feed's loop

    private func change<Answer>(_ change: (inout State) -> Answer) -> Answer {
        let (answer, mustTurn) = self.state.withLockedValue { state in
            let answer = change(&state)
            for index in state.members.indices where state.members[index].feed == nil {
                state.members[index].table.cancelChanges()
            }
            let mustTurn = !state.isTurnDue && state.hasWork
            state.isTurnDue = state.isTurnDue || mustTurn
            return (answer, mustTurn)
        }
        if mustTurn { self.loop.execute { self.turn() } }
        return answer
    }

    /// Hands the changes to the feeds, and makes the timer fire no later than the end of a linger time.
    private func turn() {
        let work = self.state.withLockedValue { state in
            state.isTurnDue = false
            return state.members.indices.compactMap { index in
                state.members[index].hasWork
                    ? (state.members[index].feed, state.members[index].table.takeChanges()) : nil
            }
        }
        for (feed, changes) in work { feed?.subscriptionsChanged(changes) }
        let late = self.state.withLockedValue { state -> Scheduled<Void>? in
            guard state.mustArm, let deadline = state.deadline else { return nil }
            let before = state.timer?.task
            // One timer serves all symbols. If its symbol has a subscriber again, it is set anew.
            state.timer = (deadline, self.loop.scheduleTask(deadline: deadline) { self.lingerEnded() })
            return before
        }
        late?.cancel()
    }

    private func lingerEnded() {
        let now = self.loop.now
        self.change { state in
            state.timer = nil
            for index in state.members.indices { state.members[index].table.timePassed(now: now) }
        }
    }
}

extension SubscriptionTable {
    /// Notes whether the feed refuses the symbol.
    fileprivate mutating func note(_ status: SymbolStatus) {
        if status.isRefused { self.refused(status.symbol) } else { self.recovered(status.symbol) }
    }
}
