import Market

/// Where a replay stands that another program plays: what its relay told last, and what must be true by now.
///
/// The relay tells of every change and of nothing between two. A pure value: `now` is monotonic ns.
struct WatchedReplay: Sendable {
    private var reported: ReplayPosition?
    private var reportedAt: Int64 = 0
    /// The newest trade's time since then: a replay that leaves silences out, or has no pace, is ahead of its clock.
    private var newestTrade: Int64?
    /// The number of the first trade at the place where it stands; those before were on their way when it was moved.
    private var first: UInt64 = 0
    private var isLinked = true

    /// Takes what the relay says; `nil` where it plays none, or does not tell.
    mutating func reported(_ position: ReplayPosition?, now: Int64) {
        self.reported = position
        self.reportedAt = now
        self.newestTrade = nil
        self.isLinked = true
    }

    /// Takes the exchange's time of a trade, ns since 1970, and its number: a price that the relay held back over a move is told
    /// behind it. One beyond the recording's end has another clock than the recording, as the trades of the demo have ours.
    mutating func traded(at time: Int64, sequence: UInt64) {
        guard sequence >= self.first, time <= self.reported?.end ?? .max else { return }
        self.newestTrade = max(self.newestTrade ?? time, time)
    }

    /// Takes a gap: behind one that a move made, trades go on at another place than before.
    mutating func took(_ gap: Gap) {
        guard gap.symbol == nil else { return }
        guard gap.cause == .seek else {
            // Behind it the numbers may have begun anew.
            self.first = min(self.first, gap.nextSequence)
            return
        }
        self.newestTrade = nil
        self.first = gap.nextSequence
    }

    /// Notes that nothing more is heard: nobody knows what becomes of it.
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
