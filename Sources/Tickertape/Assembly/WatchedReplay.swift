import Market

/// Where a replay stands that another program plays: what its relay told last, and what must be true by now.
///
/// The relay tells of every change and of nothing between two. A pure value: `now` is monotonic ns.
struct WatchedReplay: Sendable {
    private var told: ReplayPosition?
    private var toldAt: Int64 = 0
    /// The newest trade's time since then: a replay that leaves silences out, or has no pace, is ahead of its clock.
    private var newestTrade: Int64?
    private var isLinked = true

    /// Takes what the relay says; `nil` where it plays none, or does not tell.
    mutating func told(_ position: ReplayPosition?, now: Int64) {
        self.told = position
        self.toldAt = now
        self.newestTrade = nil
        self.isLinked = true
    }

    /// Takes the exchange's time of a trade, ns since 1970.
    mutating func traded(at time: Int64) { self.newestTrade = max(self.newestTrade ?? time, time) }

    /// Takes that trades go on at another place than before.
    mutating func moved() { self.newestTrade = nil }

    /// Takes that nothing more is heard: nobody knows what becomes of it.
    mutating func lost(now: Int64) {
        guard self.isLinked else { return }
        self.told = self.position(now: now)
        self.isLinked = false
    }

    func position(now: Int64) -> ReplayPosition? {
        guard var position = self.told, self.isLinked, !position.isPaused else { return self.told }
        let played = Double(max(0, now - self.toldAt)) * (position.speed ?? 0)
        let (at, isBeyond) = position.at.addingReportingOverflow(Int64(min(played, 1e18)))
        position.at = min(max(isBeyond ? .max : at, self.newestTrade ?? .min), max(position.end, position.at))
        return position
    }
}
