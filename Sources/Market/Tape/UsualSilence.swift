/// How long the silences of a symbol usually are at their longest: the longest of the last half hour to hour, in a few words
/// of memory.
///
/// Trades come in clusters, so that the median of their distances says nothing of the pauses between the clusters. What
/// calls a symbol late or quiet goes by the longest.
package struct UsualSilence: Sendable {
    /// What "recent" is: this long, and up to twice that, in ns.
    package static let window: Int64 = 1_800_000_000_000

    /// The longest in this window and in the one before, ns.
    private var longest: Int64 = 0
    private var longestBefore: Int64 = 0
    private var windowEnd: Int64 = .min

    package init() {}

    /// Takes a silence that is over, ns; `nil` where nobody knows how long it was.
    ///
    /// - Parameter now: monotonic ns.
    package mutating func ended(_ silence: Int64?, now: Int64) {
        if now >= self.windowEnd { self.turn(now: now) }
        if let silence, silence > self.longest { self.longest = silence }
    }

    /// The longest recent silence, ns; 0 before there was one.
    package func longest(now: Int64) -> Int64 {
        if now < self.windowEnd { return max(self.longest, self.longestBefore) }
        return now < self.windowEnd &+ Self.window ? self.longest : 0
    }

    /// From when on a silence is unusual where `longest` is the longest recent one: that so many times over, within bounds;
    /// ns.
    package static func limit(longest: Int64, times: Int, within bounds: ClosedRange<Int64>) -> Int64 {
        let (product, overflow) = longest.multipliedReportingOverflow(by: Int64(times))
        return min(max(bounds.lowerBound, overflow ? .max : product), bounds.upperBound)
    }

    private mutating func turn(now: Int64) {
        let isNext = self.windowEnd != .min && now < self.windowEnd &+ Self.window
        self.longestBefore = isNext ? self.longest : 0
        self.longest = 0
        self.windowEnd = now &+ Self.window
    }
}
