/// One moment on both clocks: ages and waits are measured on the monotonic one, dates are the wall clock's.
package struct Moment: Sendable, Equatable {
    /// ns since some fixed point, never set back. It stands still while the machine sleeps.
    package var monotonic: Int64
    /// ns since 1970 UTC.
    package var wall: Int64

    package init(monotonic: Int64, wall: Int64) {
        self.monotonic = monotonic
        self.wall = wall
    }

    /// The wall clock at another reading of the monotonic one.
    package func wall(at monotonic: Int64) -> Int64 { self.wall &+ (monotonic &- self.monotonic) }
}
