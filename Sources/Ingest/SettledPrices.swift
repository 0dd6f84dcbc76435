package import Market
package import NIOCore
package import Wire

/// A reader of the prices that become due between two reads of the feed.
package protocol SettledPriceReader: AnyObject {
    /// Takes the prices that are due now. Called on the event loop of the ``SettledPrices``.
    func pricesSettled(_ updates: [PriceUpdate])
}

/// The newest price of every symbol, and the debounced prices of all readers on one event loop.
///
/// Each reader of the tape asks for the prices of a batch when the batch reaches it. The first one that asks has the
/// ``PricePipeline`` take the batch, and the others get the same prices. Prices that become due between two reads go to
/// all readers. All methods except ``init(settings:loop:)`` must be called on the loop.
package final class SettledPrices: Sendable {
    private struct Reader {
        weak var reader: (any SettledPriceReader)?
    }

    /// The position of a batch on the tape.
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
        /// The prices that this batch, or the start of the epoch, made visible.
        var updates: [PriceUpdate] = []
        var timer: (deadline: Int64, task: Scheduled<Void>)?
    }

    private let loop: any EventLoop
    private let state: NIOLoopBoundBox<State>

    /// - Parameter loop: the loop that reads the feed's batches. The timer of the held back prices runs on it.
    package init(settings: PricePipeline.Settings, loop: any EventLoop) {
        self.loop = loop
        self.state = .makeBoxSendingValue(State(pipeline: PricePipeline(settings: settings)), eventLoop: loop)
    }

    /// The newest price and figures of every symbol.
    package var board: Board { self.state.withValue { $0.pipeline.board } }

    /// Returns the newest price and figures in one row of the board.
    package func summary(ofRow row: Int) -> SymbolSummary { self.state.withValue { $0.pipeline.board.rows[row] } }

    /// Adds a reader. The reference is weak.
    package func add(_ reader: any SettledPriceReader) {
        self.state.withValue { $0.readers.append(Reader(reader: reader)) }
    }

    /// Returns the prices that a batch makes visible at once. The first call for a batch takes it in.
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

    /// Starts a new board for another epoch. Returns the prices that were held back until then; every reader that
    /// reports this epoch gets the same ones.
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

    /// Notes that the tape continues at another time: the next trade of each symbol counts as its newest.
    package func clockMoved() { self.state.withValue { $0.pipeline.clockMoved() } }

    /// Gives all readers the prices that are held back, so that the last price always comes.
    package func flush() {
        self.settle { pipeline, _, emit in pipeline.flush(emit: emit) }
    }

    private var now: Int64 { Int64(self.loop.now.uptimeNanoseconds) }

    /// Makes the timer fire no later than the pipeline's deadline. A timer that fires too early is set again.
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
        // A reader may ask for the newest prices, so readers are called only after the state has been released.
        let readers = self.state.withValue { state in
            body(&state.pipeline, now) { updates.append($0) }
            self.arm(&state)
            return state.readers
        }
        guard !updates.isEmpty else { return }
        for reader in readers { reader.reader?.pricesSettled(updates) }
    }
}
