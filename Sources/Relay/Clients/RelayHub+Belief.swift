import Market
import NIOCore

/// How old things are, and what that makes true of the feed: the one place where the relay decides it.
///
/// A pause of a replay is no age. Nobody expects a trade then, and when it goes on the silence does from where it was.
extension RelayHub {
    /// Notes whether the replay stands still. What that changes of the state is told: one who comes in a pause hears of no
    /// silence, and the feed says nothing anew when the pause is over.
    func replayStood(isPaused: Bool) {
        self.changeStatus { $0.pauses.took(isPaused: isPaused, now: $0.monotonic) }
    }

    /// Changes what the status is made of, and tells it where it is another one then.
    func changeStatus(_ change: (RelayHub) -> Void) {
        let before = self.reportedStatus
        change(self)
        let status = self.reportedStatus
        guard status != before else { return }
        let message = self.message()
        for session in self.sessions.values { session.statusChanged(status, message) }
    }

    /// The feed's word of itself, to which a silence in a pause is none.
    var reportedStatus: FeedStatus { self.pauses.isStill ? self.status.heldStill : self.status }

    /// The feed's word, or what it should be when the feed hangs.
    var effectiveStatus: FeedStatus {
        guard !self.pauses.isStill else { return self.reportedStatus }
        let wall = self.lastArrival.map { $0.received + (self.monotonic - $0.monotonic) } ?? 0
        return self.status.effective(newestAge: self.newestAge, wall: wall, limits: self.freshness)
    }

    /// How long nothing has come since the newest trade of all, ns.
    var newestAge: Int64? { self.lastArrival.flatMap { self.silence(since: $0.received) } }

    /// How long nothing has come since something did at this time by our wall clock, as far as anything could; ns.
    func silence(since received: Int64) -> Int64? {
        guard let age = self.age(ofArrival: received) else { return nil }
        let now = self.monotonic
        return age - self.pauses.stood(since: now - age, now: now)
    }
}
