import Market
import NIOCore

/// The effective status of the feed: the one place where the relay judges it by the age of its data.
///
/// A pause of a replay does not count as age. No trade is due in a pause, and the silence before it continues after it.
extension RelayHub {
    /// Notes whether the replay is paused, and reports the status if that changes it. A client that connects during a
    /// pause gets no `late` or `stale` status, and the feed repeats nothing when the pause is over.
    func replayStood(isPaused: Bool) {
        self.changeStatus { $0.pauses.took(isPaused: isPaused, now: $0.monotonic) }
    }

    /// Changes an input of the status, and reports the status if it is a different one then.
    func changeStatus(_ change: (RelayHub) -> Void) {
        let before = self.reportedStatus
        change(self)
        let status = self.reportedStatus
        guard status != before else { return }
        let message = self.message()
        for session in self.sessions.values { session.statusChanged(status, message) }
    }

    /// The status that the feed reports; in a pause of a replay, silence does not count.
    var reportedStatus: FeedStatus { self.pauses.isStill ? self.status.heldStill : self.status }

    /// The feed's status, or the one that follows from the age of its data when the feed hangs.
    var effectiveStatus: FeedStatus {
        guard !self.pauses.isStill else { return self.reportedStatus }
        let wall = self.lastArrival.map { $0.received + (self.monotonic - $0.monotonic) } ?? 0
        return self.status.effective(newestAge: self.newestAge, wall: wall, limits: self.freshness)
    }

    /// The time since the newest trade of all symbols, without pauses of a replay, ns.
    var newestAge: Int64? { self.lastArrival.flatMap { self.silence(since: $0.received) } }

    /// Returns the time since an arrival (wall clock, ns since 1970), without pauses of a replay, ns.
    func silence(since received: Int64) -> Int64? {
        guard let age = self.age(ofArrival: received) else { return nil }
        let now = self.monotonic
        return age - self.pauses.stood(since: now - age, now: now)
    }
}
