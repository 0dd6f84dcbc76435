import Market
import Measurements

/// What an output goes by when it says what is true of the feed, and of a price by its age.
///
/// Of a replay that somebody has paused nobody expects a trade, so that no age says anything there; and when it goes on, the
/// silence does from where it was, as in the feed. At its end a replay stands still for good.
struct FeedFacts: Sendable {
    var status: FeedStatus
    /// When the newest trade of all arrived; monotonic ns.
    var newestArrival: Int64?
    /// Where the replay stands, if it is one.
    var replay: ReplayPosition?
    var isPaused = false
    /// When a replay stood still.
    var pauses = ReplayPauses()
    var limits = FreshnessLimits()

    init(status: FeedStatus) { self.status = status }

    /// For how long something that came at `arrived` has had nothing behind it, as far as anything could have come; ns.
    func silence(since arrived: Int64, now: Int64) -> Int64 {
        self.isPaused ? 0 : now - arrived - self.pauses.stood(since: arrived, now: now)
    }

    /// How old something that came at `arrived` is, ns: in a replay that has ended, as old as it was at the end.
    func age(since arrived: Int64, now: Int64) -> Int64 {
        let age = now - arrived
        return self.status.phase == .ended ? age - self.pauses.stood(since: arrived, now: now) : age
    }

    /// The age of the newest trade of all as the words tell it, ns.
    func newestAge(now: Int64) -> Int64? {
        self.newestArrival.map { now - $0 - self.pauses.stood(since: $0, now: now) }
    }

    /// The feed's word, or, when it hangs, what it should have said. Of a silence in a pause nothing is said, though the feed
    /// spoke of one before.
    func effective(at now: Moment) -> FeedStatus {
        let silence = self.newestArrival.map { self.silence(since: $0, now: now.monotonic) }
        var status = self.isPaused ? self.status.heldStill : self.status
        if !self.isPaused { status.isPaused = false }
        return status.effective(newestAge: silence, wall: now.wall, limits: self.limits)
    }
}

extension DisplayState {
    /// What is true of the feed by this state.
    var facts: FeedFacts {
        var facts = FeedFacts(status: self.status)
        facts.newestArrival = self.rows.lazy.map(\.arrived).max()
        facts.replay = self.replay
        facts.isPaused = self.replay?.isPaused ?? false
        facts.pauses = self.pauses
        facts.limits = self.limits
        return facts
    }
}
