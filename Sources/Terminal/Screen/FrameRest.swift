import Synchronization

/// The time before which a screen draws no prices, shared by the thread that draws and by those who publish.
final class FrameRest: Sendable {
    /// So long before the screen looks at them prices are published, ns: a state that is given away is copied with the next
    /// trade, and what came at the very moment at which the screen looks would be seen a whole rest later.
    private static let lead: Int64 = 5_000_000

    private let end = Atomic<Int64>(.min)

    /// The time itself, monotonic ns.
    var until: Int64 {
        get { self.end.load(ordering: .relaxed) }
        set { self.end.store(newValue, ordering: .relaxed) }
    }

    /// When prices that come at `now` are to be published; monotonic ns, `nil` for at once.
    func publishingTime(now: Int64) -> Int64? {
        let time = self.until
        return time > now && time - Self.lead > now ? time - Self.lead : nil
    }
}
