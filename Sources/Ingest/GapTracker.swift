package import Market

/// The state machine that turns the interruptions of a feed into gaps.
///
/// A gap opens with the first interruption. It keeps its reason while connections open and end without a trade. The
/// first trade after it ends and publishes it. If no trade comes for a while, the gap is published with the time of the
/// subscription as its end. A clean stop is not a gap, and neither is the time before the first connection.
package struct GapTracker: Sendable {
    private struct Open {
        /// Wall clock, ns since 1970.
        var from: Int64
        var reason: String
        var cause: FeedStatus.Cause?
        /// Whether ``resumed(isComplete:)`` may prove that nothing is missing.
        var isResumable: Bool
        var attempts = 0
        /// When the feed last subscribed on a new connection: wall clock, ns since 1970, and monotonic ns.
        var asked: Moment?
    }

    private var open: Open?
    /// The gap that ``resumed(isComplete:)`` dropped, until everything has come that the feed missed.
    private var dropped: Open?
    /// The newest published gap, joined with the gaps directly before it, so that no period is reported twice; wall
    /// clock, ns since 1970.
    private var reported: ClosedRange<Int64>?

    package init() {}

    package var isOpen: Bool { self.open != nil }

    /// Takes an interruption. An open gap absorbs it.
    ///
    /// - Parameters:
    ///   - from: the last moment before which nothing is missing; wall clock, ns since 1970. It is the arrival of the
    ///     last frame before the interruption, or for silent symbols the time at which the first of them fell silent.
    ///   - isResumable: whether the feed may still get what it misses; ``resumed(isComplete:)`` then drops the gap.
    package mutating func interrupted(
        from: Int64,
        reason: String,
        cause: FeedStatus.Cause? = nil,
        isResumable: Bool = false
    ) {
        let from = self.reported.map { $0.contains(from) ? $0.upperBound : from } ?? from
        // A part of what the feed missed before has not come.
        self.open = self.open ?? self.dropped
        self.dropped = nil
        guard let open = self.open else {
            self.open = Open(from: from, reason: reason, cause: cause, isResumable: isResumable)
            return
        }
        // The subscription has ended. A silence that is noticed late may have begun before the gap.
        self.open?.asked = nil
        self.open?.from = min(open.from, from)
        self.open?.isResumable = open.isResumable && isResumable
    }

    /// Notes that an attempt to connect began.
    package mutating func attempted() { self.open?.attempts += 1 }

    /// Notes that the feed has subscribed on the present connection.
    package mutating func asked(_ now: Moment) { self.open?.asked = now }

    /// Notes whether the feed gets everything that it missed, so that there is no gap. Another interruption before
    /// ``caughtUp()`` opens the same gap again.
    ///
    /// - Returns: whether a gap is no longer open.
    package mutating func resumed(isComplete: Bool) -> Bool {
        guard isComplete, self.open?.isResumable == true else {
            self.open?.isResumable = false
            return false
        }
        self.dropped = self.open
        self.open = nil
        return true
    }

    /// Notes that everything has come that the feed missed.
    package mutating func caughtUp() { self.dropped = nil }

    /// Takes trades that do not repeat any from before the gap. Returns the gap that ends here.
    ///
    /// - Parameter received: the arrival of the trades; wall clock, ns since 1970.
    package mutating func traded(received: Int64, nextSequence: UInt64, epoch: UInt64) -> Gap? {
        self.close(to: received, nextSequence: nextSequence, epoch: epoch)
    }

    /// When ``deadlineReached(now:patience:nextSequence:epoch:)`` is due; monotonic ns.
    package func deadline(patience: Int64) -> Int64? { self.open?.asked.map { $0.monotonic + patience } }

    /// Takes the passing of time; returns the gap that no trade ended within `patience` ns of the subscription.
    package mutating func deadlineReached(now: Int64, patience: Int64, nextSequence: UInt64, epoch: UInt64) -> Gap? {
        guard let asked = self.open?.asked, now - asked.monotonic >= patience else { return nil }
        return self.close(to: asked.wall, nextSequence: nextSequence, epoch: epoch)
    }

    private mutating func close(to: Int64, nextSequence: UInt64, epoch: UInt64) -> Gap? {
        guard let open else { return nil }
        self.open = nil
        // The wall clock may have been set back.
        let to = max(to, open.from)
        self.reported =
            self.reported.map { $0.upperBound == open.from ? $0.lowerBound...to : open.from...to } ?? open.from...to
        return Gap(
            from: open.from,
            to: to,
            reason: open.attempts > 1 ? "\(open.reason), \(open.attempts) attempts" : open.reason,
            nextSequence: nextSequence,
            epoch: epoch,
            cause: open.cause
        )
    }
}
