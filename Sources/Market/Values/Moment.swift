/// A moment on both clocks: the monotonic clock measures ages and waits, the wall clock gives dates.
package struct Moment: Sendable, Equatable {
    /// ns since an arbitrary fixed point. It is never set back, and stands still while the machine sleeps.
    package var monotonic: Int64
    /// ns since 1970 UTC.
    package var wall: Int64

    package init(monotonic: Int64, wall: Int64) {
        self.monotonic = monotonic
        self.wall = wall
    }

    /// Returns the wall clock at another reading of the monotonic clock.
    package func wall(at monotonic: Int64) -> Int64 { self.wall &+ (monotonic &- self.monotonic) }
}
