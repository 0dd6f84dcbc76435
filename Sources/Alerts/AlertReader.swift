import CoreMetrics
package import Market
package import Measurements
package import NIOCore
package import Wire

/// The reader of the tape that evaluates the alert rules. It works on the feed's loop and does nothing for a trade if
/// no rule is set. The actions of an alert happen on other threads.
package final class AlertReader: TapeReader {
    /// The actions of alerts; each must return at once.
    package struct Actions: Sendable {
        /// Called on the loop for each alert.
        package var fired: [@Sendable (Alert) -> Void] = []
        /// Called on the loop after a change of the displayed list.
        package var listChanged: (@Sendable ([ListedAlert]) -> Void)?
        /// Called on the loop, at most once a second, after a change of the state that outlives the program.
        package var keep: (@Sendable (AlertState) -> Void)?

        package init() {}
    }

    private struct State {
        var watch: AlertEvaluator
        var timer: Scheduled<Void>?
        var timerDeadline: Int64?
        var saveTimer: Scheduled<Void>?
        var isFinished = false
        /// The symbols of a feed that brings summaries and no tape; they have numbers of their own here.
        var symbols = SymbolTable()
        /// The symbols whose price is that of a trade that is ahead.
        var ahead: Set<String> = []
    }

    private static let keepPause = TimeAmount.seconds(1)

    private let board: AlertBoard
    private let loop: any EventLoop
    private let actions: Actions
    private let wallClock: @Sendable () -> Int64
    private let counter: Counter
    private let state: NIOLoopBoundBox<State>

    /// - Parameters:
    ///   - loop: the feed's loop, on which all events come.
    ///   - symbols: the subscribed symbols.
    ///   - remembered: the states of the rules that an earlier run saved.
    ///   - offset: how far local time is ahead of UTC at a time (ns since 1970), ns.
    package init(
        board: AlertBoard,
        loop: any EventLoop,
        settings: AlertEvaluator.Settings,
        symbols: [String],
        remembered: [AlertState.State] = [],
        offset: @escaping @Sendable (Int64) -> Int64 = { _ in 0 },
        actions: Actions,
        registry: MetricRegistry,
        wallClock: @escaping @Sendable () -> Int64
    ) {
        self.board = board
        self.loop = loop
        self.actions = actions
        self.wallClock = wallClock
        registry.describe(Self.metric, "Alerts that have fired.")
        self.counter = Counter(label: Self.metric, factory: registry)
        self.counter.increment(by: 0)
        let watch = AlertEvaluator(settings: settings, symbols: symbols, remembered: remembered, offset: offset)
        self.state = .makeBoxSendingValue(State(watch: watch), eventLoop: loop)
        board.connect { [weak self] in
            guard let self else { return }
            loop.execute { self.takeRules(areNew: true) }
        }
        loop.execute { self.takeRules(areNew: false) }
    }

    private static let metric = "tickertape_alerts_total"

    // MARK: The tape

    package func epochBegan(_ epoch: UInt64, first: UInt64, symbols: SymbolTable) {
        self.state.withValue { $0.watch.symbolsRenewed() }
    }

    package func read(_ batch: TapeBatch) {
        self.state.withValue { state in
            guard !batch.trades.isEmpty else { return }
            guard !state.watch.isEmpty else { return }
            for trade in batch.countedTrades where !trade.isFilled {
                state.watch.traded(
                    trade,
                    name: { batch.symbols.name(of: trade.symbol) },
                    arrived: batch.received,
                    emit: { self.fire($0) }
                )
            }
            self.settle(&state)
        }
    }

    /// Takes a message of a relay, for `watch`. The prices are the relay's debounced ones. Called on the loop only.
    package func take(_ message: StreamMessage) {
        switch message {
        case .snapshot(let update, _), .price(let update): self.take(update.summary)
        case .trades(let summary): self.takeRepeated(summary)
        case .gap(let gap): self.gapFound(gap)
        case .hello, .trade, .status, .symbol, .released, .settled, .venueDay, .resumed, .replay, .error, .unknown,
            .malformed:
            break
        }
    }

    /// Takes trades without a new price. If the displayed price was that of a trade that is ahead, it counts from here
    /// on.
    private func takeRepeated(_ summary: SymbolSummary) {
        let wasAhead = self.state.withValue { $0.ahead.contains(summary.symbol) }
        if wasAhead, !summary.isAhead { self.take(summary) }
    }

    private func take(_ summary: SymbolSummary) {
        self.state.withValue { state in
            guard !state.watch.isEmpty, let symbol = state.symbols.intern(summary.symbol) else { return }
            if summary.isAhead { state.ahead.insert(summary.symbol) } else { state.ahead.remove(summary.symbol) }
            state.watch.traded(
                Trade(
                    price: summary.price,
                    size: summary.size,
                    exchangeTime: summary.exchangeTime,
                    symbol: symbol,
                    marks: summary.isAhead ? .ahead : []
                ),
                name: { summary.symbol },
                arrived: self.wallClock(),
                emit: { self.fire($0) }
            )
            self.settle(&state)
        }
    }

    package func statusChanged(_ status: FeedStatus) {
        guard let reason = status.silencesFeed else { return }
        self.silenced(nil, reason: reason)
    }

    package func symbolChanged(_ status: SymbolStatus) {
        guard status.isRefused else { return }
        self.silenced(status.symbol, reason: status.reason ?? status.word)
    }

    package func gapFound(_ gap: Gap) {
        if gap.movesClock { self.state.withValue { $0.watch.clockMoved() } }
    }

    private func silenced(_ symbol: String?, reason: String) {
        self.state.withValue { state in
            guard !state.watch.isEmpty else { return }
            state.watch.silenced(symbol, reason: reason, now: self.wallClock()) { self.fire($0) }
            self.settle(&state)
        }
    }

    /// Changes the settings of all rules that do not name their own. May be called on any thread.
    package func change(hysteresis: ExactDecimal, cooldown: Int64, quiet: QuietHours?) {
        self.loop.execute {
            self.state.withValue { state in
                var settings = state.watch.settings
                (settings.hysteresis, settings.cooldown, settings.quiet) = (hysteresis, cooldown, quiet)
                state.watch.change(settings)
                self.settle(&state)
            }
        }
    }

    /// Saves the state if a change waits for it, and stops the timers.
    package func finish() async {
        try? await self.loop.submit {
            self.state.withValue { state in
                state.isFinished = true
                state.timer?.cancel()
                guard let saveTimer = state.saveTimer else { return }
                saveTimer.cancel()
                self.keep(state.watch)
            }
        }.get()
    }

    // MARK: Inside

    private func takeRules(areNew: Bool) {
        self.state.withValue { state in
            state.watch.setRules(self.board.rules)
            // Silence counts from now, since a first trade may never come.
            state.watch.timePassed(now: self.wallClock()) { self.fire($0) }
            if areNew { self.keepSoon(&state) }
            self.settle(&state)
        }
    }

    private func fire(_ alert: Alert) {
        self.counter.increment()
        self.board.fired(alert.rule, at: Int64(self.loop.now.uptimeNanoseconds))
        for action in self.actions.fired { action(alert) }
    }

    private func settle(_ state: inout State) {
        if state.watch.takeChange() {
            self.board.publish(state.watch.states)
            self.actions.listChanged?(self.board.list)
            self.keepSoon(&state)
        }
        self.arm(&state)
    }

    private func keepSoon(_ state: inout State) {
        guard self.actions.keep != nil, state.saveTimer == nil, !state.isFinished else { return }
        state.saveTimer = self.loop.assumeIsolated().scheduleTask(in: Self.keepPause) { [weak self] in
            guard let self else { return }
            self.state.withValue { state in
                state.saveTimer = nil
                self.keep(state.watch)
            }
        }
    }

    private func keep(_ watch: AlertEvaluator) {
        self.actions.keep?(AlertState(rules: self.board.keptRules, states: watch.memory))
    }

    /// Sets the one timer for all silences. It may fire too early, which does no harm.
    private func arm(_ state: inout State) {
        let deadline = state.isFinished ? nil : state.watch.deadline
        guard deadline != state.timerDeadline else { return }
        state.timer?.cancel()
        state.timer = nil
        state.timerDeadline = deadline
        guard let deadline else { return }
        let wait = min(max(0, deadline &- self.wallClock()), 3_600_000_000_000)
        state.timer = self.loop.assumeIsolated().scheduleTask(in: .nanoseconds(wait)) { [weak self] in
            guard let self else { return }
            self.state.withValue { state in
                state.timer = nil
                state.timerDeadline = nil
                state.watch.timePassed(now: self.wallClock()) { self.fire($0) }
                self.settle(&state)
            }
        }
    }
}

extension FeedStatus {
    /// The reason why no trades can be expected, if the feed knows one.
    fileprivate var silencesFeed: String? {
        switch self.phase {
        case .stale, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol, .notPermitted:
            self.reason.map { "\(self.word): \($0)" } ?? self.word
        case .connecting, .waiting, .live, .late, .reconnecting, .ended, .stopped: nil
        }
    }
}
