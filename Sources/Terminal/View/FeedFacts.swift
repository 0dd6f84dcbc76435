import Market
import Measurements
import Wire

/// The facts from which an output derives the feed's status and the freshness of prices.
///
/// A paused replay delivers no trades, so a pause does not count as silence. Afterwards the silence continues from its
/// former length, as in the feed. At its end, a replay is paused for good.
struct FeedFacts: Sendable {
    var status: FeedStatus
    /// The arrival of the newest trade of all symbols; monotonic ns.
    var newestArrival: Int64?
    /// The position of the replay, if this is one.
    var replay: ReplayPosition?
    var isPaused = false
    /// The pauses of the replay.
    var pauses = ReplayPauses()
    var limits = FreshnessLimits()

    init(status: FeedStatus) { self.status = status }

    /// Returns how long no trade has followed one that arrived at `arrived`, without pauses; 0 during a pause; ns.
    func silence(since arrived: Int64, now: Int64) -> Int64 {
        self.isPaused ? 0 : now - arrived - self.pauses.stood(since: arrived, now: now)
    }

    /// Returns the age of a trade that arrived at `arrived`, ns. The age stays constant after a replay's end.
    func age(since arrived: Int64, now: Int64) -> Int64 {
        let age = now - arrived
        return self.status.phase == .ended ? age - self.pauses.stood(since: arrived, now: now) : age
    }

    /// Returns the displayed age of the newest trade of all symbols, ns; `nil` before the first one.
    func newestAge(now: Int64) -> Int64? {
        self.newestArrival.map { now - $0 - self.pauses.stood(since: $0, now: now) }
    }

    /// Returns the feed's status, or, if the feed hangs, the status that it should have reported. A pause hides an
    /// earlier status about silence.
    func effective(at now: Moment) -> FeedStatus {
        let silence = self.newestArrival.map { self.silence(since: $0, now: now.monotonic) }
        var status = self.isPaused ? self.status.heldStill : self.status
        if !self.isPaused { status.isPaused = false }
        return status.effective(newestAge: silence, wall: now.wall, limits: self.limits)
    }
}

extension DisplayState {
    /// The feed's facts in this state.
    var facts: FeedFacts {
        var facts = FeedFacts(status: self.status)
        facts.newestArrival = self.rows.lazy.map(\.arrived).max()
        facts.replay = self.replay
        facts.isPaused = self.replay?.isPaused ?? false
        facts.pauses = self.pauses
        facts.limits = self.limits
        if self.replay?.isAtEnd == true, [.live, .late, .stale].contains(self.status.phase) {
            facts.status.phase = .ended
            facts.status.reason = ReplayEnd.closeReason
        }
        return facts
    }
}

extension ReplayPosition {
    /// Whether everything has been played. A replay with a screen pauses there.
    var isAtEnd: Bool { self.isPaused && self.hasEnd && self.at >= self.end }
}
