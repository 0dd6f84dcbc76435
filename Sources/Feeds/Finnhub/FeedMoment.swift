/// One moment on both clocks: waits are measured on the monotonic one, what people are told on the wall's.
package struct FeedMoment: Sendable, Equatable {
    /// ns since some fixed point, never set back. It stands still while the machine sleeps.
    package var monotonic: Int64
    /// ns since 1970 UTC.
    package var wall: Int64

    package init(monotonic: Int64, wall: Int64) {
        self.monotonic = monotonic
        self.wall = wall
    }

    /// The wall clock at another reading of the monotonic one.
    func wall(at monotonic: Int64) -> Int64 { self.wall &+ (monotonic &- self.monotonic) }
}

/// The watch for a machine that slept: what the service sent meanwhile may be lost, and no monotonic deadline saw it.
package struct SleepWatch: Sendable {
    /// The wall clock may run ahead of the other by this much between two looks (a clock that is set right), in ns.
    static let tolerance: Int64 = 10_000_000_000

    private var last: FeedMoment?

    package init() {}

    /// Takes a look at both clocks; returns how much longer the wall's way was since the last look, in ns, when that
    /// is more than any clock is corrected by.
    package mutating func looked(_ now: FeedMoment) -> Int64? {
        defer { self.last = now }
        guard let last else { return nil }
        let slept = (now.wall &- last.wall) &- (now.monotonic &- last.monotonic)
        return slept > Self.tolerance ? slept : nil
    }
}
