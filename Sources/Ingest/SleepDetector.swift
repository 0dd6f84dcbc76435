package import Market

/// The watch for a machine that slept: what the service sent meanwhile may be lost, and no monotonic deadline saw it.
package struct SleepDetector: Sendable {
    /// The wall clock may run ahead of the other by this much between two looks (a clock that is set right), in ns.
    static let tolerance: Int64 = 10_000_000_000

    private var last: Moment?

    package init() {}

    /// Takes a look at both clocks; returns how much longer the wall's way was since the last look, in ns, when that
    /// is more than any clock is corrected by.
    package mutating func looked(_ now: Moment) -> Int64? {
        defer { self.last = now }
        guard let last else { return nil }
        let slept = (now.wall &- last.wall) &- (now.monotonic &- last.monotonic)
        return slept > Self.tolerance ? slept : nil
    }
}
