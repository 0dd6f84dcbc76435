package import Market
import NIOConcurrencyHelpers
import NIOCore
package import Wire

/// A reader of the tape that records everything, for tests to examine and to wait for.
package final class TapeLog: TapeReader {
    package struct Contents: Sendable {
        package var trades: [Trade] = []
        package var sequences: [UInt64] = []
        /// The monotonic time of each read's arrival.
        package var arrivals: [Int64] = []
        package var frames: [String] = []
        /// The losses of each read.
        package var losses: [TapeBatch.Losses] = []
        package var malformedFrames = 0
        /// The clock offset of each read.
        package var clockOffsets: [Int64] = []
        package var statuses: [FeedStatus] = []
        package var gaps: [Gap] = []
        package var outcomes: [GapOutcome] = []
        package var events: [ConnectionEvent] = []
        package var symbolStates: [SymbolStatus] = []
        package var unsubscribed: [String] = []
        /// `gap`, `settled` (the outcome of a gap) and `read N` (N trades), in order.
        package var order: [String] = []
        package var symbols = SymbolTable()

        package init() {}

        /// The trades as `SYMBOL PRICE SIZE`.
        package var lines: [String] {
            self.trades.map { "\(self.symbols.name(of: $0.symbol)) \($0.price) \($0.size)" }
        }

        /// Returns the words of one symbol's statuses.
        package func words(of symbol: String) -> [String] {
            self.symbolStates.filter { $0.symbol == symbol }.map(\.word)
        }

        /// The words of the feed's statuses, without repetition.
        package var words: [String] {
            self.statuses.reduce(into: []) { if $0.last != $1.word { $0.append($1.word) } }
        }
    }

    private struct State {
        var contents = Contents()
        var waiting: [(condition: @Sendable (Contents) -> Bool, wake: @Sendable (Bool) -> Void)] = []
    }

    private let state = NIOLockedValueBox(State())

    package init() {}

    package var contents: Contents { self.state.withLockedValue { $0.contents } }

    /// Waits until the contents satisfy the condition, at most for `limit`; returns whether they do.
    package func waits(
        atMost limit: Duration = .seconds(60),
        until condition: @escaping @Sendable (Contents) -> Bool
    ) async -> Bool {
        let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
        self.state.withLockedValue { state in
            if condition(state.contents) {
                continuation.yield(true)
            } else {
                state.waiting.append((condition, { continuation.yield($0) }))
            }
        }
        let timer = Task {
            try await Task.sleep(for: limit * Patience.factor)
            continuation.yield(false)
        }
        defer { timer.cancel() }
        for await answer in stream { return answer }
        return false
    }

    package func connectionChanged(_ event: ConnectionEvent, monotonic: Int64) {
        self.change { $0.events.append(event) }
    }

    package func read(_ batch: TapeBatch) {
        self.change { contents in
            contents.trades += batch.trades
            contents.arrivals.append(batch.receivedMonotonic)
            contents.losses.append(batch.losses)
            contents.sequences += batch.trades.indices.map { batch.firstSequence + UInt64($0) }
            contents.frames += batch.frames.map { String(buffer: $0.bytes) }
            contents.malformedFrames += batch.frames.count { $0.isMalformed }
            contents.clockOffsets.append(batch.clockOffset)
            contents.symbols = batch.symbols
            if !batch.trades.isEmpty { contents.order.append("read \(batch.trades.count)") }
        }
    }

    package func statusChanged(_ status: FeedStatus) { self.change { $0.statuses.append(status) } }

    package func gapFound(_ gap: Gap) {
        self.change { contents in
            contents.gaps.append(gap)
            contents.order.append("gap")
        }
    }

    package func gapSettled(_ outcome: GapOutcome) {
        self.change { contents in
            contents.outcomes.append(outcome)
            contents.order.append("settled")
        }
    }

    package func symbolChanged(_ status: SymbolStatus) { self.change { $0.symbolStates.append(status) } }

    package func symbolUnsubscribed(_ symbol: String) { self.change { $0.unsubscribed.append(symbol) } }

    private func change(_ change: (inout Contents) -> Void) {
        self.state.withLockedValue { state in
            change(&state.contents)
            let contents = state.contents
            state.waiting.removeAll { waiter in
                guard waiter.condition(contents) else { return false }
                waiter.wake(true)
                return true
            }
        }
    }
}
