package import Market
package import NIOCore
package import Wire

/// A reader of prices that become due between two reads of the feed.
package protocol SettledPriceReader: AnyObject {
    /// Takes prices that are due now. Called on the event loop of the ``SettledPrices``.
    func pricesSettled(_ updates: [PriceUpdate])
}

/// The newest price of every symbol, and the debounced prices of all readers on one event loop.
///
/// The readers of the tape ask for the prices of a batch, each at its own turn; the first one that asks has the
/// ``PricePipeline`` take the batch, and the others get the same prices. Prices that become due between two reads go to all
/// readers. All methods but ``init(settings:loop:)`` are to be called on the loop.
package final class SettledPrices: Sendable {
    private struct Reader {
        weak var reader: (any SettledPriceReader)?
    }

    /// The place of a batch on the tape.
    private struct Place: Equatable {
        var epoch: UInt64
        var firstSequence: UInt64
    }

    private struct State {
        var pipeline: PricePipeline
        var readers: [Reader] = []
        /// The newest epoch that began.
        var epoch: UInt64?
        /// The newest batch that the pipeline has taken in this epoch.
        var taken: Place?
        /// The prices that this batch, or the beginning of the epoch, has shown.
        var updates: [PriceUpdate] = []
        var timer: (deadline: Int64, task: Scheduled<Void>)?
    }

    private let loop: any EventLoop
    private let state: NIOLoopBoundBox<State>

    /// - Parameter loop: where the feed's batches are read, and where the timer of the held back prices runs.
    package init(settings: PricePipeline.Settings, loop: any EventLoop) {
        self.loop = loop
        self.state = .makeBoxSendingValue(State(pipeline: PricePipeline(settings: settings)), eventLoop: loop)
    }

    /// The newest of every symbol.
    package var board: Board { self.state.withValue { $0.pipeline.board } }

    /// Returns the newest of one row of the board.
    package func summary(ofRow row: Int) -> SymbolSummary { self.state.withValue { $0.pipeline.board.rows[row] } }

    /// Adds a reader, which it does not keep alive.
    package func add(_ reader: any SettledPriceReader) {
        self.state.withValue { $0.readers.append(Reader(reader: reader)) }
    }

    /// Returns the prices that a batch shows at once; the first call for a batch takes it in.
    package func updates(of batch: TapeBatch) -> [PriceUpdate] {
        guard !batch.trades.isEmpty else { return [] }
        let now = self.now
        return self.state.withValue { state in
            let place = Place(epoch: batch.epoch, firstSequence: batch.firstSequence)
            guard state.taken != place else { return state.updates }
            state.taken = place
            state.updates.removeAll(keepingCapacity: true)
            state.pipeline.take(
                trades: batch.countedTrades,
                firstSequence: batch.firstSequence,
                received: batch.received,
                symbols: batch.symbols,
                now: now,
                emit: { state.updates.append($0) }
            )
            self.arm(&state)
            return state.updates
        }
    }

    /// Begins the board anew for another epoch, and returns the prices that were held back until then; the same for each
    /// reader that passes on this epoch.
    package func epochBegan(_ epoch: UInt64) -> [PriceUpdate] {
        self.state.withValue { state in
            guard state.epoch != epoch else { return state.updates }
            state.epoch = epoch
            state.taken = nil
            state.updates.removeAll(keepingCapacity: true)
            state.pipeline.flush { state.updates.append($0) }
            state.pipeline = PricePipeline(settings: state.pipeline.settings)
            self.arm(&state)
            return state.updates
        }
    }

    /// Notes that the tape goes on at another time: the next trade of each symbol is its newest.
    package func clockMoved() { self.state.withValue { $0.pipeline.clockMoved() } }

    /// Gives all readers what is held back: the last price always comes.
    package func flush() {
        self.settle { pipeline, _, emit in pipeline.flush(emit: emit) }
    }

    private var now: Int64 { Int64(self.loop.now.uptimeNanoseconds) }

    /// Sees to it that the timer fires no later than the pipeline's deadline. One that fires too early looks again.
    private func arm(_ state: inout State) {
        guard let deadline = state.pipeline.deadline else { return }
        if let timer = state.timer {
            if timer.deadline <= deadline { return }
            timer.task.cancel()
        }
        let task = self.loop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(max(deadline, 0)))) {
            self.state.withValue { $0.timer = nil }
            self.settle { pipeline, now, emit in pipeline.fire(now: now, emit: emit) }
        }
        state.timer = (deadline, task)
    }

    private func settle(_ body: (inout PricePipeline, _ now: Int64, _ emit: (PriceUpdate) -> Void) -> Void) {
        let now = self.now
        var updates: [PriceUpdate] = []
        // A reader may ask for the newest prices, so none is called while they change.
        let readers = self.state.withValue { state in
            body(&state.pipeline, now) { updates.append($0) }
            self.arm(&state)
            return state.readers
        }
        guard !updates.isEmpty else { return }
        for reader in readers { reader.reader?.pricesSettled(updates) }
    }
}
