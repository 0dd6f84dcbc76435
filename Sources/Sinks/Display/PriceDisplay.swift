package import Market
package import NIOCore
package import Wire

/// The reader that turns the tape, or a relay's stream, into what a person or a pipe sees: debounced prices without the
/// unchanged ones, and the state.
///
/// It works on the feed's own loop, since a machine's step costs less there than the way to another thread; what it makes
/// goes to the screen's or the printer's thread by the newest-wins mailbox or the bounded queue of ``LinePrinter``.
package final class PriceDisplay: TapeReader {
    /// Where it shows.
    package enum Output: Sendable {
        case screen(TerminalDisplay)
        case lines(LinePrinter)
        /// Somebody on the feed's loop who is told what either would show.
        case rehearsal(DisplayRehearsal)
    }

    /// What belongs to the feed's loop.
    private struct State {
        var pipeline: PricePipeline
        /// That of the trades which the pipeline has.
        var epoch: UInt64?
        var model: DisplayModel
        var timer: Scheduled<Void>?
        var timerDeadline: Int64?
        /// Both clocks at the newest read: between them a trade's arrival by the wall's clock becomes one by the monotonic.
        var newest: (received: Int64, monotonic: Int64)?
        /// Whether the screen gets the state at the end of this turn of the loop.
        var mustPublish = false
        /// Whether a timer gives it to the screen when that looks again.
        var isPublishingLater = false
        /// Whether lines have been told that the replay stands still.
        var isPaused = false
    }

    /// So long before the screen looks at them prices are published, ns.
    private static let lead: Int64 = 5_000_000

    private let loop: any EventLoop
    private let output: Output
    let wallClock: @Sendable () -> Int64
    private let clients: (@Sendable () -> Int)?
    private let replay: (@Sendable () -> ReplayPosition?)?
    private let state: NIOLoopBoundBox<State>

    /// - Parameters:
    ///   - loop: the feed's loop, on which all news come.
    ///   - symbols: what is subscribed, in the order of the screen.
    ///   - relay: where the relay listens, for the screen.
    ///   - clients: how many clients the relay has; read when something is shown.
    ///   - limits: what goes by age where the feed says nothing.
    ///   - replay: where the replay stands, if it is one; read when something is shown.
    ///   - wallClock: ns since 1970.
    package init(
        output: Output,
        loop: any EventLoop,
        symbols: [String],
        pipeline: PricePipeline.Settings,
        status: FeedStatus,
        relay: String?,
        clients: (@Sendable () -> Int)?,
        limits: FreshnessLimits,
        replay: (@Sendable () -> ReplayPosition?)? = nil,
        wallClock: @escaping @Sendable () -> Int64 = { DisplayClock.now().wall }
    ) {
        self.loop = loop
        self.wallClock = wallClock
        self.replay = replay
        self.clients = clients
        let model = DisplayModel(symbols: symbols, status: status, relay: relay, limits: limits)
        self.output = output
        self.state = NIOLoopBoundBox.makeBoxSendingValue(
            State(
                pipeline: PricePipeline(settings: pipeline),
                model: model
            ),
            eventLoop: loop
        )
        // Connecting may take long, and an empty screen says nothing.
        output.publish(model.state)
    }

    package func read(_ batch: TapeBatch) {
        guard !batch.trades.isEmpty else { return }
        let now = self.now
        self.state.withValue { state in
            state.newest = (batch.received, batch.receivedMonotonic)
            var updates: [PriceUpdate] = []
            if let epoch = state.epoch, epoch != batch.epoch {
                // Another epoch has other numbers for the symbols: what was held back is shown, and the board begins anew.
                state.pipeline.flush { updates.append($0) }
                state.pipeline = PricePipeline(settings: state.pipeline.settings)
            }
            state.epoch = batch.epoch
            state.pipeline.take(
                trades: batch.trades,
                firstSequence: batch.firstSequence,
                received: batch.received,
                symbols: batch.symbols,
                now: now,
                emit: { updates.append($0) }
            )
            self.show(updates, in: &state, now: now)
            if self.output.isScreen {
                state.model.chart(
                    batch.trades,
                    symbols: batch.symbols,
                    epoch: batch.epoch,
                    received: batch.received,
                    now: now
                )
                self.observe(batch.trades, in: &state, now: now)
            }
            self.publishPrices(&state, now: now)
            self.arm(&state)
        }
    }

    package func statusChanged(_ status: FeedStatus) {
        self.state.withValue { state in
            state.model.statusChanged(status, at: self.wallClock())
            self.output.tell(.status(status))
            self.publishSoon(&state)
        }
    }

    package func symbolChanged(_ status: SymbolStatus) {
        self.state.withValue { state in
            state.model.symbolChanged(status)
            self.output.tell(.symbol(status))
            self.publishSoon(&state)
        }
    }

    package func symbolUnwished(_ symbol: String) {
        self.state.withValue { state in
            state.model.symbolUnwished(symbol)
            self.output.tell(.unwished(symbol))
            self.publishSoon(&state)
        }
    }

    package func gapFound(_ gap: Gap) {
        self.state.withValue { state in
            state.model.gapFound(gap)
            self.output.tell(.gap(gap))
            self.publish(&state)
        }
    }

    /// Takes a price that somebody else has debounced already: a relay, for `watch`. On the loop only.
    ///
    /// - Parameter age: how long ago its trade arrived there, ns; `nil` for one that has just come.
    package func show(_ update: PriceUpdate, age: Int64? = nil) {
        let now = self.now
        self.state.withValue { state in
            if let age {
                // One that was there before us says nothing of how long the way takes.
                state.model.take(update, now: now, age: age)
                self.output.tell(.snapshot(update, arrived: now - age))
            } else {
                self.show([update], in: &state, now: now)
            }
            state.model.chart(update.summary, now: now)
            // After a break there may be a hundred thousand in a row.
            if age != nil { self.publishSoon(&state) } else { self.publishPrices(&state, now: now) }
        }
    }

    /// Takes which symbols a relay has, for an output that is to wait for all of them.
    package func expect(_ symbols: [String]) {
        self.output.tell(.expected(symbols))
    }

    /// Takes that trades came without a new price, from a relay. On the loop only.
    package func observe(_ summary: SymbolSummary) {
        let now = self.now
        self.state.withValue { state in
            state.model.observe(summary, now: now)
            state.model.chart(summary, now: now)
            self.publishPrices(&state, now: now)
        }
    }

    /// Shows a warning in the picture for a while; without a picture, nothing. From any thread.
    package func notice(_ text: String) {
        guard self.output.isScreen else { return }
        self.loop.execute {
            self.state.withValue { state in
                state.model.noticed(text, now: self.now, at: self.wallClock())
                self.publish(&state)
            }
        }
    }

    /// Shows that the replay has been moved, stopped or let go. From any thread.
    package func replayMoved() {
        guard let replay else { return }
        self.loop.execute {
            self.state.withValue { state in
                let isPaused = replay()?.isPaused ?? false
                if isPaused != state.isPaused { self.output.tell(.paused(isPaused)) }
                state.isPaused = isPaused
                self.publish(&state)
            }
        }
    }

    /// Changes what the screen shows, on the loop; without a screen, nothing. From any thread.
    func change(_ body: @escaping @Sendable (inout DisplayModel) -> Void) {
        guard self.output.isScreen else { return }
        self.loop.execute {
            self.state.withValue { state in
                body(&state.model)
                self.publish(&state)
            }
        }
    }

    /// Shows the alerts that are set, and where they stand. On the loop only.
    package func alertsChanged(_ alerts: [DisplayAlert]) {
        self.state.withValue { state in
            state.model.alertsChanged(alerts)
            self.publishSoon(&state)
        }
    }

    /// Tells of an alert: as a line, and to the terminal by its own means. From any thread.
    package func fired(_ alert: Alert, actions: Set<AlertAction>) {
        let call = AlertText.call(alert, actions)
        switch self.output {
        case .screen(let display): display.call(call)
        case .lines(let printer): printer.alert(alert, call: call)
        case .rehearsal(let rehearsal): rehearsal.item?(.alert(alert, call: call))
        }
    }

    /// Shows what is still held back: the last value always comes.
    package func finish() async {
        try? await self.loop.submit { self.showHeldBack() }.get()
    }

    /// The same, on the loop.
    func showHeldBack() {
        self.state.withValue { state in
            state.timer?.cancel()
            var updates: [PriceUpdate] = []
            state.pipeline.flush { updates.append($0) }
            self.show(updates, in: &state, now: self.now)
            self.publish(&state)
        }
    }

    private var now: Int64 { Int64(self.loop.now.uptimeNanoseconds) }

    private func show(_ updates: [PriceUpdate], in state: inout State, now: Int64) {
        for update in updates {
            let arrived = state.newest.map { $0.monotonic - ($0.received - update.summary.received) } ?? now
            state.model.take(update, now: now, arrived: arrived)
            self.output.tell(.price(update, arrived: arrived))
        }
    }

    /// Takes what the board knows of the symbols of these trades.
    private func observe(_ trades: [Trade], in state: inout State, now: Int64) {
        let board = state.pipeline.board
        var before: Int?
        for trade in trades {
            guard let row = board.row(of: trade.symbol), row != before else { continue }
            before = row
            state.model.observe(board.rows[row], now: now)
        }
    }

    /// Publishes at the end of the loop's turn. `live` is told just before the trades that made it true: a frame drawn for
    /// the word alone would hold their price back for as long as the cap on frames wants.
    private func publishSoon(_ state: inout State) {
        guard self.output.isScreen, !state.mustPublish else { return }
        state.mustPublish = true
        self.loop.execute {
            self.state.withValue { state in
                if state.mustPublish { self.publish(&state) }
            }
        }
    }

    /// Publishes prices when the screen looks at them next: a state that is given away is copied with the next trade.
    private func publishPrices(_ state: inout State, now: Int64) {
        // What came at the very moment at which the screen looks would be seen a whole rest later.
        guard let restsUntil = self.output.restsUntil, restsUntil > now, case let due = restsUntil - Self.lead,
            due > now
        else {
            return self.publish(&state)
        }
        guard !state.isPublishingLater else { return }
        state.isPublishingLater = true
        self.loop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(due))) {
            self.state.withValue { state in
                if state.isPublishingLater { self.publish(&state) }
            }
        }
    }

    private func publish(_ state: inout State) {
        guard self.output.isScreen else { return }
        state.mustPublish = false
        state.isPublishingLater = false
        if let clients { state.model.clientsChanged(clients()) }
        if let replay { state.model.replayMoved(replay(), now: self.now) }
        state.model.state.publishedAt = self.now
        self.output.publish(state.model.state)
    }

    /// Sees to it that what is held back comes in time; one timer, moved only when its deadline did.
    private func arm(_ state: inout State) {
        guard state.pipeline.deadline != state.timerDeadline else { return }
        state.timer?.cancel()
        state.timer = nil
        state.timerDeadline = state.pipeline.deadline
        guard let deadline = state.pipeline.deadline else { return }
        state.timer = self.loop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(max(deadline, 0)))) {
            self.fire()
        }
    }

    private func fire() {
        let now = self.now
        self.state.withValue { state in
            state.timer = nil
            state.timerDeadline = nil
            var updates: [PriceUpdate] = []
            state.pipeline.fire(now: now) { updates.append($0) }
            self.show(updates, in: &state, now: now)
            self.publishPrices(&state, now: now)
            self.arm(&state)
        }
    }
}

extension PriceDisplay.Output {
    /// Whether it is shown whole states, and not single items.
    fileprivate var isScreen: Bool {
        switch self {
        case .screen: true
        case .lines: false
        case .rehearsal(let rehearsal): rehearsal.state != nil
        }
    }

    /// Before this time a screen draws no prices, monotonic ns.
    fileprivate var restsUntil: Int64? {
        switch self {
        case .screen(let display): display.restsUntil
        case .lines, .rehearsal: nil
        }
    }

    fileprivate func publish(_ state: DisplayState) {
        switch self {
        case .screen(let display): display.publish(state)
        case .lines: break
        case .rehearsal(let rehearsal): rehearsal.state?(state)
        }
    }

    fileprivate func tell(_ item: LineItem) {
        switch self {
        case .screen: break
        case .lines(let printer): printer.print(item)
        case .rehearsal(let rehearsal): rehearsal.item?(item)
        }
    }
}
