package import Market
import NIOConcurrencyHelpers
package import NIOCore
package import Wire

/// The program's subscriptions at its feed, on behalf of its settings, its screen and its clients.
///
/// Its methods answer at once, on any thread. Changes go to the feed in order, on the feed's loop, and never within the
/// call that made them. Until a feed is connected they wait, and there are never more of them than places. It is
/// created before the feed and its readers. It is the first reader of the tape, and learns there which symbols the
/// upstream refuses.
package final class Subscriptions: TapeReader {
    package struct Settings: Sendable, Equatable {
        /// The most symbols that one connection to the upstream subscribes to: those of all clients and of the program
        /// together. A client may have as many.
        package var limit: Int
        /// How long a symbol stays subscribed upstream after its last client has unsubscribed; 0 unsubscribes at once.
        package var linger: TimeAmount

        package init(limit: Int = 50, linger: TimeAmount = .seconds(10)) {
            self.limit = limit
            self.linger = linger
        }
    }

    private struct State {
        var table: SubscriptionTable
        var feed: (any SubscribingFeed)?
        /// Whether ``turn()`` is scheduled on the loop.
        var isTurnDue = false
        var timer: (at: NIODeadline, task: Scheduled<Void>)?
        /// Whether symbols are still unsubscribed at the end of their linger time.
        var hasTimer = true

        /// Whether a linger time ends before the timer fires.
        var mustArm: Bool {
            guard self.hasTimer, let deadline = self.table.deadline else { return false }
            return self.timer.map { deadline < $0.at } ?? true
        }

        var hasWork: Bool { self.feed != nil && self.table.hasChanges || self.mustArm }
    }

    /// The most symbols of all clients together, and of one client.
    package let limit: Int
    private let loop: any EventLoop
    private let state: NIOLockedValueBox<State>

    /// - Parameters:
    ///   - retained: the symbols of the settings, to which the feed subscribes by itself.
    ///   - loop: the feed's event loop.
    package init(_ settings: Settings, retained: [String] = [], loop: any EventLoop) {
        self.limit = settings.limit
        self.loop = loop
        self.state = NIOLockedValueBox(
            State(table: SubscriptionTable(limit: settings.limit, retained: retained, linger: settings.linger))
        )
    }

    /// Connects a feed, which receives all changes so far and from now on.
    package func connect(_ feed: any SubscribingFeed) {
        self.change { $0.feed = feed }
    }

    // MARK: Subscribers

    /// Adds one client's subscription to a symbol.
    package func subscribe(_ symbol: String) -> SubscriptionTable.Answer {
        self.change { $0.table.subscribe(symbol) }
    }

    /// Removes one client's subscription that was accepted. A symbol without a further one lingers.
    package func unsubscribe(_ symbol: String) {
        let now = self.loop.now
        self.change { $0.table.unsubscribe(symbol, now: now) }
    }

    /// Retains a symbol for the program itself, for example for its screen.
    package func retain(_ symbol: String) -> SubscriptionTable.Answer {
        self.change { $0.table.retain(symbol) }
    }

    /// Releases a symbol that the program retained. The symbol stays while a client wants it.
    package func release(_ symbol: String) { self.change { $0.table.release(symbol) } }

    /// The symbols to which the feed subscribes, sorted by name.
    package var symbols: [String] { self.state.withLockedValue { $0.table.symbols } }

    /// Whether the feed subscribes to the symbol.
    package func holds(_ symbol: String) -> Bool { self.state.withLockedValue { $0.table.holds(symbol) } }

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
        self.change { $0.table.note(status) }
    }

    package func symbolUnsubscribed(_ symbol: String) { self.change { $0.table.recovered(symbol) } }

    package func read(_ batch: TapeBatch) {}
    package func statusChanged(_ status: FeedStatus) {}
    package func gapFound(_ gap: Gap) {}

    // MARK: The feed's loop

    private func change<Answer>(_ change: (inout State) -> Answer) -> Answer {
        let (answer, mustTurn) = self.state.withLockedValue { state in
            let answer = change(&state)
            if state.feed == nil { state.table.cancelChanges() }
            let mustTurn = !state.isTurnDue && state.hasWork
            state.isTurnDue = state.isTurnDue || mustTurn
            return (answer, mustTurn)
        }
        if mustTurn { self.loop.execute { self.turn() } }
        return answer
    }

    /// Hands the changes to the feed, and makes the timer fire no later than the end of a linger time.
    private func turn() {
        let (feed, changes) = self.state.withLockedValue { state in
            state.isTurnDue = false
            return (state.feed, state.feed == nil ? [] : state.table.takeChanges())
        }
        if !changes.isEmpty { feed?.subscriptionsChanged(changes) }
        let late = self.state.withLockedValue { state -> Scheduled<Void>? in
            guard state.mustArm, let deadline = state.table.deadline else { return nil }
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
            state.table.timePassed(now: now)
        }
    }
}

extension SubscriptionTable {
    /// Notes whether the feed refuses the symbol.
    fileprivate mutating func note(_ status: SymbolStatus) {
        if status.isRefused { self.refused(status.symbol) } else { self.recovered(status.symbol) }
    }
}
