package import Ingest
package import Market
package import NIOCore
import Platform
package import Wire

/// The reader that prepares the tape, or a relay's stream, for a person or a pipe: debounced prices without the
/// unchanged ones, and the feed's status.
///
/// It works on the feed's loop, since a step of the state machine costs less there than the way to another thread. The
/// results go to the screen's thread by a newest-wins mailbox, or to the printer's by the bounded queue of
/// ``LinePrinter``.
package final class PriceDisplay: TapeReader {
    /// The state owned by the feed's loop.
    struct State {
        /// The model, which lacks the held prices; see ``PriceDisplay/withState(_:)``.
        var model: DisplayModel
        /// The prices that the screen cannot draw yet, in the order of their arrival.
        var held: [HeldPrices] = []
        /// Both clocks at the newest batch. Their difference converts a trade's arrival from wall clock to monotonic
        /// time.
        var newest: (received: Int64, monotonic: Int64)?
        /// Whether the state is published at the end of this turn of the loop.
        var mustPublish = false
        /// Whether a timer will publish the state when the screen can draw it.
        var isPublishingLater = false
        /// Whether the lines have reported that the replay is paused.
        var isPaused = false
    }

    let loop: any EventLoop
    let prices: SettledPrices
    let output: any DisplayOutput
    let wallClock: @Sendable () -> Int64
    let relay: (@Sendable () -> DisplayRelay?)?
    let clients: (@Sendable () -> Int)?
    let recording: (@Sendable () -> DisplayRecording?)?
    let cluster: (@Sendable () -> ClusterState?)?
    let replay: (@Sendable () -> ReplayPosition?)?
    /// Shows a change of the replay.
    let replayTask: CoalescedTask
    let state: NIOLoopBoundBox<State>

    /// - Parameters:
    ///   - loop: the feed's loop, on which all events arrive.
    ///   - prices: the debounced prices of the same loop.
    ///   - symbols: the subscribed symbols, in the order of the screen.
    ///   - relay: returns the relay's state; called when the screen is updated.
    ///   - clients: returns the number of the relay's clients; called when the screen is updated.
    ///   - recording: returns the recording, if there is one; called when the screen is updated.
    ///   - cluster: returns the program's part in a cluster; called when the screen is updated.
    ///   - limits: the ages from which prices count as late or stale, where the feed reports no status.
    ///   - replay: returns the position of the replay, if there is one; called when the screen is updated.
    ///   - holdings: the person's, for a screen.
    ///   - clock: the clock of a screen.
    ///   - wallClock: ns since 1970.
    package init(
        output: any DisplayOutput,
        loop: any EventLoop,
        symbols: [String],
        prices: SettledPrices,
        status: FeedStatus,
        relay: (@Sendable () -> DisplayRelay?)?,
        clients: (@Sendable () -> Int)?,
        recording: (@Sendable () -> DisplayRecording?)? = nil,
        cluster: (@Sendable () -> ClusterState?)? = nil,
        limits: FreshnessLimits,
        replay: (@Sendable () -> ReplayPosition?)? = nil,
        holdings: Holdings = Holdings(),
        clock: ScreenClock = .utc,
        wallClock: @escaping @Sendable () -> Int64 = { SystemClock.now().wall }
    ) {
        self.loop = loop
        self.prices = prices
        self.wallClock = wallClock
        self.replay = replay
        self.replayTask = CoalescedTask(on: loop)
        self.relay = relay
        self.clients = clients
        self.recording = recording
        self.cluster = cluster
        var model = DisplayModel(symbols: symbols, status: status, relay: relay?(), limits: limits, clock: clock)
        model.state.holdings = holdings
        self.output = output
        self.state = NIOLoopBoundBox.makeBoxSendingValue(
            State(model: model),
            eventLoop: loop
        )
        loop.execute { prices.add(self) }
        // A connection attempt may take long, and an empty screen would look broken.
        output.publish(model.state)
    }

    /// Shows the prices held back, and begins the board anew.
    package func epochBegan(_ epoch: UInt64, first: UInt64, symbols: SymbolTable) {
        let now = self.now
        self.withState { state in
            let updates = self.prices.epochBegan(epoch)
            state.model.epochBegan()
            self.show(updates, in: &state, now: now)
        }
    }

    package func read(_ batch: TapeBatch) {
        guard !batch.trades.isEmpty else { return }
        let now = self.now
        self.holdApart(now: now)
        self.hold(self.prices.updates(of: batch), of: batch, now: now)
    }

    package func statusChanged(_ status: FeedStatus) {
        self.withState { state in
            state.model.statusChanged(status, at: self.wallClock())
            self.output.show(.status(status))
            self.publishSoon(&state)
        }
    }

    package func symbolChanged(_ status: SymbolStatus) {
        self.withState { state in
            let isRecalled = state.model.admission.isUnsubscribed(status.symbol)
            state.model.symbolChanged(status)
            // Its row was removed with the last subscription, and an unchanged price would not bring it back.
            if isRecalled, self.output.isScreen { self.recall(status.symbol, in: &state) }
            self.output.show(.symbol(status))
            self.publishSoon(&state)
        }
    }

    package func dayChanged(_ day: VenueDay) {
        self.output.show(.day(day))
        guard self.output.isScreen else { return }
        self.withState { state in
            state.model.dayChanged(day)
            self.publishSoon(&state)
        }
    }

    package func symbolUnsubscribed(_ symbol: String) { self.symbolUnsubscribed(symbol, since: self.wallClock()) }

    /// - Parameter since: wall clock, ns since 1970.
    package func symbolUnsubscribed(_ symbol: String, since: Int64) {
        self.withState { state in
            state.model.symbolUnsubscribed(symbol)
            self.output.show(.unsubscribed(symbol, since: since))
            self.publishSoon(&state)
        }
    }

    package func gapFound(_ gap: Gap) {
        if gap.movesClock { self.prices.clockMoved() }
        self.withState { state in
            state.model.gapFound(gap)
            self.output.show(.gap(gap))
            self.publish(&state)
        }
    }

    /// Records that another connection has taken the place of one that was about to end.
    package func connectionChanged(_ event: ConnectionEvent, monotonic: Int64) {
        guard case .disconnected(_, let reason, .replaced, _) = event else { return }
        self.withState { state in
            state.model.log.add(reason, isTrouble: false, at: self.wallClock())
            self.publishSoon(&state)
        }
    }

    package func gapSettled(_ outcome: GapOutcome) {
        let wall = self.wallClock()
        self.withState { state in
            state.model.gapSettled(outcome, at: wall)
            self.output.show(.settled(outcome, at: wall))
            self.publish(&state)
        }
    }

    /// Shows the prices still held back, so that the last value always appears.
    package func finish() async {
        try? await self.loop.submit { self.showHeldBack() }.get()
    }

    /// Shows the prices still held back. On the loop only.
    package func showHeldBack() {
        self.prices.flush()
        self.withState { self.publish(&$0) }
    }

    var now: Int64 { Int64(self.loop.now.uptimeNanoseconds) }

    func show(_ updates: [PriceUpdate], in state: inout State, now: Int64) {
        for update in updates {
            let arrived = state.newest.map { $0.monotonic - ($0.received - update.summary.received) } ?? now
            state.model.take(update, now: now, arrived: arrived)
            if !self.output.isScreen { self.output.show(.price(update, arrived: arrived)) }
        }
    }
}
