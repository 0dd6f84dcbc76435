/// Trades per second over the last ten seconds, from a ring of counts by the second.
///
/// Time is an argument, in ns of any one clock; a step back of that clock counts into the second that is current.
package struct TradeRate: Sendable {
    /// How many seconds the rate looks back.
    package static let span = 10

    private var counts = InlineArray<10, UInt32>(repeating: 0)
    /// The newest second that has a count.
    private var second: Int64 = 0
    /// When the first trade was counted; `nil` before it.
    private var start: Int64?

    package init() {}

    /// Counts trades that arrived at `now`.
    package mutating func count(_ trades: UInt32 = 1, now: Int64) {
        if self.start == nil {
            self.start = now
            self.second = Self.second(of: now)
        }
        self.advance(to: Self.second(of: now))
        self.counts[Self.slot(of: self.second)] &+= trades
    }

    /// Trades per second over the last ten seconds, or since the first trade if that is less (but one second at least).
    package func perSecond(now: Int64) -> Double {
        guard let start = self.start else { return 0 }
        var ring = self
        ring.advance(to: Self.second(of: now))
        var total: UInt64 = 0
        for slot in ring.counts.indices { total += UInt64(ring.counts[slot]) }
        // The current second is not over: the ring covers nine whole ones and a part.
        let intoSecond = now - Self.second(of: now) * 1_000_000_000
        let covered = Int64(Self.span - 1) * 1_000_000_000 + max(0, intoSecond)
        let elapsed = min(max(now - start, 1_000_000_000), covered)
        return Double(total) * 1_000_000_000 / Double(elapsed)
    }

    /// Empties the seconds between the newest count and `second`.
    private mutating func advance(to second: Int64) {
        guard second > self.second else { return }
        let steps = min(second - self.second, Int64(Self.span))
        for step in 0..<steps { self.counts[Self.slot(of: second - step)] = 0 }
        self.second = second
    }

    private static func second(of time: Int64) -> Int64 {
        let (quotient, remainder) = time.quotientAndRemainder(dividingBy: 1_000_000_000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    private static func slot(of second: Int64) -> Int {
        let remainder = Int(second % Int64(Self.span))
        return remainder < 0 ? remainder + Self.span : remainder
    }
}
