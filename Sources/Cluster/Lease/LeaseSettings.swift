/// The times of a lease, in ns.
///
/// All programs that share a lease must have the same ones: the holder counts on the others' ``timeToLive``.
package struct LeaseSettings: Sendable, Equatable {
    /// The time for which a candidate must have seen the same revision before it takes the lease.
    package var timeToLive: Int64 = 12_000_000_000
    /// The interval of the holder's renewals.
    package var renewal: Int64 = 1_000_000_000
    /// The time after its last proven renewal at which the holder fences itself.
    package var fence: Int64 = 10_500_000_000
    /// The interval of a candidate's reads, and the shortest between two tries.
    package var poll: Int64 = 500_000_000
    /// The time after which the outcome of a request is unknown.
    package var request: Int64 = 2_000_000_000
    /// What must be between the fence and the end of the time to live: the longest duration of one act that the guard has
    /// allowed, the lateness of a timer, and the difference of two machines' clocks in that time.
    package var margin: Int64 = 1_500_000_000
    /// The longest time from a request to stop to the last release, which can take ``request`` more.
    package var release: Int64 = 4_000_000_000

    package init() {}

    /// Whether a holder has fenced itself before another program can take the lease, and can fail once before that.
    package var isSafe: Bool {
        self.margin > 0 && self.fence + self.margin <= self.timeToLive && self.poll > 0 && self.renewal > 0
            && self.renewal + 2 * self.request < self.fence
    }
}
