import Synchronization

/// The time before which the screen draws no prices, shared by the drawing thread and the publishers.
final class FrameRest: Sendable {
    /// How long before the screen's next look prices are published, ns. Publishing early would copy the state with the
    /// next trade; publishing at the very moment of the look might be a whole rest too late.
    private static let lead: Int64 = 5_000_000

    private let end = Atomic<Int64>(.min)

    /// The time itself, monotonic ns.
    var until: Int64 {
        get { self.end.load(ordering: .relaxed) }
        set { self.end.store(newValue, ordering: .relaxed) }
    }

    /// Returns when prices that arrive at `now` should be published; monotonic ns, `nil` for at once.
    func publishingTime(now: Int64) -> Int64? {
        let time = self.until
        return time > now && time - Self.lead > now ? time - Self.lead : nil
    }
}
