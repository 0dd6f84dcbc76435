/// The longest recent silence of a symbol, over the last half hour to hour, in a few words of memory.
///
/// Trades come in clusters, so the median distance between trades does not describe the pauses between clusters.
/// Whether a symbol is late or quiet is therefore judged by the longest silence.
package struct UsualSilence: Sendable {
    /// The length of a window, ns. "Recent" covers one to two windows.
    package static let window: Int64 = 1_800_000_000_000

    /// The longest silence in this window and in the previous one, ns.
    private var longest: Int64 = 0
    private var longestBefore: Int64 = 0
    private var windowEnd: Int64 = .min

    package init() {}

    /// Takes a silence that is over, ns; `nil` if its length is unknown.
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

    /// Returns the span after which a silence is unusual, ns: `times` times the longest recent one, within bounds.
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
