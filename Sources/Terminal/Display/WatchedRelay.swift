package import Market
import NIOConcurrencyHelpers
package import Wire

/// The relay that `watch` displays. Translates each of its messages for the display.
///
/// Prices, ages and the figures of the session are the relay's own; there is no tape. Called on the display's loop,
/// except for ``position()``.
package final class WatchedRelay: Sendable {
    private let symbols: [String]
    private let replay = NIOLockedValueBox(WatchedReplay())
    private let monotonic: @Sendable () -> Int64

    /// - Parameters:
    ///   - symbols: the watched symbols; empty for all that the relay has.
    ///   - monotonic: the clock by which a replay advances between two messages, ns.
    package init(symbols: [String], monotonic: @escaping @Sendable () -> Int64) {
        self.symbols = symbols
        self.monotonic = monotonic
    }

    /// Returns the position of the relay's replay; `nil` where it plays none, or does not report it. Callable from any
    /// thread.
    package func position() -> ReplayPosition? {
        self.replay.withLockedValue { $0.position(now: self.monotonic()) }
    }

    /// Shows a message.
    package func show(_ message: StreamMessage, on display: PriceDisplay) {
        switch message {
        case .snapshot(let update, let age):
            display.show(update, age: age)
        case .price(let update):
            let summary = update.summary
            self.replay.withLockedValue { $0.traded(at: summary.exchangeTime, sequence: summary.sequence) }
            display.show(update)
        case .trades(let summary):
            display.observe(summary)
        case .gap(let gap):
            self.replay.withLockedValue { $0.took(gap) }
            display.gapFound(gap)
        case .settled(let outcome):
            display.gapSettled(outcome)
        case .venueDay(let day):
            display.dayChanged(day)
        case .symbol(let status):
            display.symbolChanged(status)
        case .released(let symbol, let since):
            display.symbolUnsubscribed(symbol, since: since)
        case .hello(_, _, let names, let status, let position):
            if self.symbols.isEmpty { display.expect(names) }
            display.statusChanged(status)
            self.replayMoved(to: position, on: display)
        case .replay(let position):
            self.replayMoved(to: position, on: display)
        case .status(let status):
            display.statusChanged(status)
        case .trade, .resumed, .error, .unknown, .malformed: break
        }
    }

    /// Shows that the connection to the relay is lost.
    package func showLost(_ status: FeedStatus, on display: PriceDisplay) {
        self.replay.withLockedValue { $0.lost(now: self.monotonic()) }
        display.statusChanged(status)
    }

    private func replayMoved(to position: ReplayPosition?, on display: PriceDisplay) {
        self.replay.withLockedValue { $0.reported(position, now: self.monotonic()) }
        display.replayMoved()
    }
}
