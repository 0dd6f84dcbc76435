import Ingest
import Market
import Wire

/// Prices that the screen cannot draw yet: those of one read, or those that became due between two.
struct HeldPrices {
    var updates: [PriceUpdate]
    /// The read, without its frames; `nil` for prices that became due between two.
    var batch: TapeBatch?
    /// When they came, monotonic ns.
    var at: Int64

    /// Whether the trade with this number came with this read.
    func has(_ sequence: UInt64) -> Bool {
        self.batch.map { sequence >= $0.firstSequence && sequence - $0.firstSequence < $0.trades.count } ?? false
    }
}

/// The model takes the prices of several reads together, shortly before the screen draws them. Reads with a rest
/// between them cost more, because other programs use the processor's caches meanwhile.
extension PriceDisplay {
    /// The most reads that are held. More would save nothing.
    private static let mostHeld = 64

    /// Takes prices that came now, at once or together with the next ones.
    func hold(_ updates: [PriceUpdate], of batch: TapeBatch? = nil, now: Int64) {
        var prices = HeldPrices(updates: updates, batch: batch, at: now)
        // The frames would keep the buffers of the reads.
        prices.batch?.frames = []
        self.state.withValue { state in
            state.held.append(prices)
            if self.output.isScreen { self.publishPrices(&state, now: now) } else { self.takeHeld(&state) }
        }
    }

    /// Lets the model take the held prices before the board has the next read, if that is not to be held with them. A
    /// rate counts by the second, so that reads of one second count together as they do one by one.
    func holdApart(now: Int64) {
        self.state.withValue { state in
            guard let first = state.held.first else { return }
            let isFull = state.held.count >= Self.mostHeld
            if isFull || DisplayRate.second(of: first.at) != DisplayRate.second(of: now) { self.takeHeld(&state) }
        }
    }

    /// Reads or changes the state when the model has taken the held prices.
    func withState<Result>(_ body: (inout State) -> Result) -> Result {
        self.state.withValue { state in
            self.takeHeld(&state)
            return body(&state)
        }
    }

    /// Lets the model take the held prices.
    func takeHeld(_ state: inout State) {
        guard !state.held.isEmpty else { return }
        var held: [HeldPrices] = []
        swap(&held, &state.held)
        for prices in held {
            if let batch = prices.batch, batch.hasLiveTrade {
                state.newest = (batch.received, batch.receivedMonotonic)
            }
            if self.output.isScreen, let batch = prices.batch { state.model.filled(batch) }
            self.show(prices.updates, in: &state, now: prices.at)
            if self.output.isScreen, let batch = prices.batch {
                state.model.chart(
                    batch.countedTrades,
                    symbols: batch.symbols,
                    received: batch.received,
                    now: prices.at
                )
            }
        }
        if self.output.isScreen { self.observe(held, in: &state) }
        held.removeAll(keepingCapacity: true)
        swap(&held, &state.held)
    }

    /// Takes the board's current values of the symbols in these reads.
    private func observe(_ held: [HeldPrices], in state: inout State) {
        let board = self.prices.board
        var isObserved = [Bool](repeating: false, count: board.rows.count)
        for prices in held {
            for trade in prices.batch?.trades ?? [] {
                guard let row = board.row(of: trade.symbol), !isObserved[row] else { continue }
                isObserved[row] = true
                let summary = board.rows[row]
                let arrived = held.last { $0.has(summary.sequence) }?.at
                state.model.observe(summary, now: prices.at, arrived: arrived)
            }
        }
    }
}
