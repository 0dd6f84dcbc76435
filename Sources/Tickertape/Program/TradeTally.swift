import Market
import NIOConcurrencyHelpers
import Platform
import Wire

/// The count of a replay's trades and its duration, for the last line.
final class TradeTally: TapeReader {
    private struct State {
        var trades: UInt64 = 0
        /// When the first and the newest trades came; monotonic ns.
        var first: Int64?
        var last: Int64?
    }

    private let state = NIOLockedValueBox(State())

    func read(_ batch: TapeBatch) {
        guard !batch.trades.isEmpty else { return }
        let now = SystemClock.monotonic()
        self.state.withLockedValue { state in
            state.trades += UInt64(batch.trades.count)
            state.first = state.first ?? now
            state.last = now
        }
    }

    func statusChanged(_ status: FeedStatus) {}

    func gapFound(_ gap: Gap) {}

    /// `replayed 19904 trades in 650.1 s`.
    var report: String {
        self.state.withLockedValue { state in
            guard let first = state.first, let last = state.last else { return "replayed no trade" }
            let milliseconds = (last - first) / 1_000_000
            let fraction = "\(1_000 + milliseconds % 1_000)".dropFirst()
            return "replayed \(state.trades) trades in \(milliseconds / 1_000).\(fraction) s"
        }
    }
}
