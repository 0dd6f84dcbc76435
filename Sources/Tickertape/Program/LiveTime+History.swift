import History
import Market
import Measurements

extension LiveTime {
    /// Finds the gaps of a span of time in the history.
    ///
    /// - Parameters:
    ///   - from: ns since 1970, as all times here.
    ///   - current: the period in which this program's feed is now; its end is written later.
    ///   - now: the present time, if a program may be running whose newest period is not written to its end; `nil` if
    ///     no program runs.
    init(
        from: Int64,
        to: Int64,
        in store: HistoryStore,
        current: FeedPeriod? = nil,
        now: Int64? = nil
    ) throws(HistoryFailure) {
        var (first, periods) = try store.periods(from: from, to: to)
        if var current, let now {
            current.ended = max(now, current.begun)
            periods.removeAll { $0.run == current.run && $0.begun == current.begun }
            periods.append(current)
            first = min(first ?? current.begun, current.begun)
        } else if let now, let newest = periods.indices.last,
            now - periods[newest].ended < HistoryRecorder.periodInterval + 2_000_000_000
        {
            periods[newest].ended = now
        }
        self.init(from: from, to: to, first: first, periods: periods)
    }
}
