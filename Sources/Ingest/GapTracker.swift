package import Market

/// The interruptions of the feed, each of which becomes one gap: a machine.
///
/// A gap opens with the first interruption and keeps its reason while connections come and die without a trade. It is
/// published with the first trade after it; where none comes for a while, then, with the time at which the symbols were
/// asked for as its end. A clean stop is none, and neither is the time before the first connection.
package struct GapTracker: Sendable {
    private struct Open {
        /// Wall clock, ns since 1970.
        var from: Int64
        var reason: String
        var cause: FeedStatus.Cause?
        var attempts = 0
        /// When a connection was asked for the symbols again: wall clock, and monotonic ns.
        var asked: Moment?
    }

    private var open: Open?
    /// The newest that was published, with those that it follows at once, so that no stretch is told twice; wall clock, ns since 1970.
    private var reported: ClosedRange<Int64>?

    package init() {}

    package var isOpen: Bool { self.open != nil }

    /// Takes an interruption; within a gap it is no news.
    ///
    /// - Parameter from: the last moment of which nothing is missing, wall clock, ns since 1970: when the last frame before
    ///   it came, or for silent symbols when the first of them fell silent.
    package mutating func interrupted(from: Int64, reason: String, cause: FeedStatus.Cause? = nil) {
        let from = self.reported.map { $0.contains(from) ? $0.upperBound : from } ?? from
        guard let open = self.open else {
            self.open = Open(from: from, reason: reason, cause: cause)
            return
        }
        // What was asked for is no longer so. A silence that is noticed late may have begun before the gap.
        self.open?.asked = nil
        self.open?.from = min(open.from, from)
    }

    /// Notes that an attempt to connect began.
    package mutating func attempted() { self.open?.attempts += 1 }

    /// Notes that the connection that now stands has been asked for the symbols.
    package mutating func asked(_ now: Moment) { self.open?.asked = now }

    /// Takes trades that equal none of before the gap, received at that time on the wall clock; returns the gap that ends here.
    package mutating func traded(received: Int64, nextSequence: UInt64, epoch: UInt64) -> Gap? {
        self.close(to: received, nextSequence: nextSequence, epoch: epoch)
    }

    /// When ``deadlineReached(now:patience:nextSequence:epoch:)`` wants to be called; monotonic ns.
    package func deadline(patience: Int64) -> Int64? { self.open?.asked.map { $0.monotonic + patience } }

    /// Takes the passing of time; returns the gap that no trade ended.
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
