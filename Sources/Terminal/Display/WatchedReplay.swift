import Market

/// The position of another program's replay: what its relay reported last, extrapolated to now.
///
/// The relay reports changes only. A pure value: `now` is monotonic ns.
struct WatchedReplay: Sendable {
    private var reported: ReplayPosition?
    private var reportedAt: Int64 = 0
    /// The newest trade's time since that report: a replay that skips silences, or has no pace, is ahead of its clock.
    private var newestTrade: Int64?
    /// The number of the first trade after the last seek. Earlier trades were in transit at the seek.
    private var first: UInt64 = 0
    private var isLinked = true

    /// Takes the relay's report; `nil` where it plays no replay, or does not report it.
    mutating func reported(_ position: ReplayPosition?, now: Int64) {
        self.reported = position
        self.reportedAt = now
        self.newestTrade = nil
        self.isLinked = true
    }

    /// Takes the exchange time of a trade, ns since 1970, and its number, since the relay may send a price from before
    /// a seek after it. A time beyond the recording's end is of another clock, such as that of the demo's trades.
    mutating func traded(at time: Int64, sequence: UInt64) {
        guard sequence >= self.first, time <= self.reported?.end ?? .max else { return }
        self.newestTrade = max(self.newestTrade ?? time, time)
    }

    /// Takes a gap: after a seek, trades continue at another place.
    mutating func took(_ gap: Gap) {
        guard gap.symbol == nil else { return }
        guard gap.cause == .seek else {
            // After the gap the numbers may have begun anew.
            self.first = min(self.first, gap.nextSequence)
            return
        }
        self.newestTrade = nil
        self.first = gap.nextSequence
    }

    /// Records the loss of the connection: the position stands still from then on.
    mutating func lost(now: Int64) {
        guard self.isLinked else { return }
        self.reported = self.position(now: now)
        // The next run may have other numbers.
        self.first = 0
        self.isLinked = false
    }

    func position(now: Int64) -> ReplayPosition? {
        guard var position = self.reported, self.isLinked, !position.isPaused else { return self.reported }
        let played = Double(max(0, now - self.reportedAt)) * (position.speed ?? 0)
        let (at, isBeyond) = position.at.addingReportingOverflow(Int64(min(played, 1e18)))
        position.at = min(max(isBeyond ? .max : at, self.newestTrade ?? .min), max(position.end, position.at))
        return position
    }
}
