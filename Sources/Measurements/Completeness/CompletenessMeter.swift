import Completeness
package import Market
import NIOConcurrencyHelpers
package import Wire

/// The tape reader that keeps the completeness of each symbol and hour, wherever trades have ids.
///
/// It runs on the feed's loop: some 130 ns a trade for the line and its hash, and no allocation where nothing is
/// missing. A batch without ids costs one comparison. Everything else is asked for on any thread.
package final class CompletenessMeter: TapeReader {
    private let book = NIOLockedValueBox(CompletenessBook())

    package init() {}

    // MARK: The tape

    package func epochBegan(_ epoch: UInt64, first: UInt64, symbols: SymbolTable) {
        self.book.withLockedValue { $0.epochBegan() }
    }

    package func read(_ batch: TapeBatch) {
        // The trades of a batch are of one feed, so all have ids or none has.
        guard batch.trades.first?.id != nil || !batch.repeated.isEmpty else { return }
        self.book.withLockedValue { book in
            book.readBegan(batch.receivedMonotonic, symbols: batch.symbols)
            // An answer has a batch of its own.
            book.take(batch.trades[...], isAnswer: batch.frames.first?.dialect.answering != nil)
            for trade in batch.repeated { book.takeRepeated(trade) }
        }
    }

    package func statusChanged(_ status: FeedStatus) {}

    package func gapFound(_ gap: Gap) {
        guard gap.missing != nil || gap.movesClock else { return }
        self.book.withLockedValue { $0.gapFound(gap) }
    }

    package func gapSettled(_ outcome: GapOutcome) { self.book.withLockedValue { $0.gapSettled(outcome) } }

    // MARK: The report

    /// Returns the hours of a symbol, or of all, the oldest first of each symbol. It computes hashes, so it must not be
    /// called on an event loop.
    package func hours(of symbol: String? = nil) -> [CompletenessHour] {
        // One symbol at a time, so that the feed's loop never waits for the hashes of all.
        let names = symbol.map { [$0] } ?? self.book.withLockedValue { $0.names }
        return names.flatMap { name in self.book.withLockedValue { $0.hours(of: name) } }
    }

    /// The counts of each symbol, in the order of their first trades.
    package var totals: [(symbol: String, counts: CompletenessTotals)] { self.book.withLockedValue { $0.totals } }

    package var summary: CompletenessSummary { self.book.withLockedValue { $0.summary } }
}
