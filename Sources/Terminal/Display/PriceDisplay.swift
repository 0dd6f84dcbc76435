package import Ingest
package import Market
package import NIOCore
import Platform
package import Wire

/// The reader that turns the tape, or a relay's stream, into what a person or a pipe sees: debounced prices without the
/// unchanged ones, and the state.
///
/// It works on the feed's own loop, since a machine's step costs less there than the way to another thread; what it makes
/// goes to the screen's or the printer's thread by the newest-wins mailbox or the bounded queue of ``LinePrinter``.
package final class PriceDisplay: TapeReader {
    /// What belongs to the feed's loop.
    struct State {
        var model: DisplayModel
        /// Both clocks at the newest read: between them a trade's arrival by the wall's clock becomes one by the monotonic.
        var newest: (received: Int64, monotonic: Int64)?
        /// Whether the screen gets the state at the end of this turn of the loop.
        var mustPublish = false
        /// Whether a timer gives it to the screen when that looks again.
        var isPublishingLater = false
        /// Whether lines have been told that the replay stands still.
        var isPaused = false
    }

    let loop: any EventLoop
    let prices: SettledPrices
    let output: any DisplayOutput
    let wallClock: @Sendable () -> Int64
    let relay: (@Sendable () -> DisplayRelay?)?
    let clients: (@Sendable () -> Int)?
    let replay: (@Sendable () -> ReplayPosition?)?
    let state: NIOLoopBoundBox<State>

    /// - Parameters:
    ///   - loop: the feed's loop, on which all news come.
    ///   - prices: the debounced prices of the same loop.
    ///   - symbols: what is subscribed, in the order of the screen.
    ///   - relay: what has become of the relay; read when something is shown on a screen.
    ///   - clients: how many clients the relay has; read when something is shown.
    ///   - limits: what goes by age where the feed says nothing.
    ///   - replay: where the replay stands, if it is one; read when something is shown.
    ///   - wallClock: ns since 1970.
    package init(
        output: any DisplayOutput,
        loop: any EventLoop,
        symbols: [String],
        prices: SettledPrices,
        status: FeedStatus,
        relay: (@Sendable () -> DisplayRelay?)?,
        clients: (@Sendable () -> Int)?,
        limits: FreshnessLimits,
        replay: (@Sendable () -> ReplayPosition?)? = nil,
        wallClock: @escaping @Sendable () -> Int64 = { SystemClock.now().wall }
    ) {
        self.loop = loop
        self.prices = prices
        self.wallClock = wallClock
        self.replay = replay
        self.relay = relay
        self.clients = clients
        let model = DisplayModel(symbols: symbols, status: status, relay: relay?(), limits: limits)
        self.output = output
        self.state = NIOLoopBoundBox.makeBoxSendingValue(
            State(model: model),
            eventLoop: loop
        )
        loop.execute { prices.add(self) }
        // Connecting may take long, and an empty screen says nothing.
        output.publish(model.state)
    }

    /// Shows what is held back, and begins the board anew.
    package func epochBegan(_ epoch: UInt64, symbols: SymbolTable) {
        let now = self.now
        let updates = self.prices.epochBegan(epoch)
        self.state.withValue { state in
            state.model.epochBegan()
            self.show(updates, in: &state, now: now)
        }
    }

    package func read(_ batch: TapeBatch) {
        guard !batch.trades.isEmpty else { return }
        let now = self.now
        let updates = self.prices.updates(of: batch)
        self.state.withValue { state in
            state.newest = (batch.received, batch.receivedMonotonic)
            self.show(updates, in: &state, now: now)
            if self.output.isScreen {
                let trades = batch.countedTrades
                state.model.chart(
                    trades,
                    symbols: batch.symbols,
                    received: batch.received,
                    now: now
                )
                self.observe(trades, in: &state, now: now)
            }
            self.publishPrices(&state, now: now)
        }
    }

    package func statusChanged(_ status: FeedStatus) {
        self.state.withValue { state in
            state.model.statusChanged(status, at: self.wallClock())
            self.output.show(.status(status))
            self.publishSoon(&state)
        }
    }

    package func symbolChanged(_ status: SymbolStatus) {
        self.state.withValue { state in
            let isRecalled = state.model.admission.isUnsubscribed(status.symbol)
            state.model.symbolChanged(status)
            // Its row went when nobody asked for it, and a price that is still the same would not bring it back.
            if isRecalled, self.output.isScreen { self.recall(status.symbol, in: &state) }
            self.output.show(.symbol(status))
            self.publishSoon(&state)
        }
    }

    package func symbolUnsubscribed(_ symbol: String) { self.symbolUnsubscribed(symbol, since: self.wallClock()) }

    /// - Parameter since: wall clock, ns since 1970.
    package func symbolUnsubscribed(_ symbol: String, since: Int64) {
        self.state.withValue { state in
            state.model.symbolUnsubscribed(symbol)
            self.output.show(.unsubscribed(symbol, since: since))
            self.publishSoon(&state)
        }
    }

    package func gapFound(_ gap: Gap) {
        if gap.movesClock { self.prices.clockMoved() }
        self.state.withValue { state in
            state.model.gapFound(gap)
            self.output.show(.gap(gap))
            self.publish(&state)
        }
    }

    /// Shows what is still held back: the last value always comes.
    package func finish() async {
        try? await self.loop.submit { self.showHeldBack() }.get()
    }

    /// The same, on the loop.
    package func showHeldBack() {
        self.prices.flush()
        self.state.withValue { self.publish(&$0) }
    }

    var now: Int64 { Int64(self.loop.now.uptimeNanoseconds) }

    func show(_ updates: [PriceUpdate], in state: inout State, now: Int64) {
        for update in updates {
            let arrived = state.newest.map { $0.monotonic - ($0.received - update.summary.received) } ?? now
            state.model.take(update, now: now, arrived: arrived)
            self.output.show(.price(update, arrived: arrived))
        }
    }

    /// Takes what the board knows of the symbols of these trades.
    private func observe(_ trades: [Trade], in state: inout State, now: Int64) {
        let board = self.prices.board
        var before: Int?
        for trade in trades {
            guard let row = board.row(of: trade.symbol), row != before else { continue }
            before = row
            state.model.observe(board.rows[row], now: now)
        }
    }
}
