package import Market

/// The detector of a computer that slept. The service's messages of that time may be lost, and no monotonic deadline
/// fires for them.
package struct SleepDetector: Sendable {
    /// The largest lead of the wall clock over the monotonic clock between two looks that a clock correction explains,
    /// in ns.
    static let tolerance: Int64 = 10_000_000_000

    private var last: Moment?

    package init() {}

    /// Takes a look at both clocks. Returns how much more time the wall clock counted since the last look, in ns; `nil`
    /// up to ``tolerance``.
    package mutating func looked(_ now: Moment) -> Int64? {
        defer { self.last = now }
        guard let last else { return nil }
        let slept = (now.wall &- last.wall) &- (now.monotonic &- last.monotonic)
        return slept > Self.tolerance ? slept : nil
    }
}
