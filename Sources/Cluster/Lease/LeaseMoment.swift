/// A moment as the lease needs it, with the chance for a token.
///
/// It must be read after what it goes with: after an answer has arrived, and before a request is sent. A program that is
/// stopped between the reading and the event only believes that it is earlier than it is.
///
/// It differs from `Moment` in its first clock: a lease goes on while a machine sleeps.
package struct LeaseMoment: Sendable, Equatable {
    /// ns of Linux's `CLOCK_BOOTTIME`, which counts the time that the machine was suspended. It stands still while a
    /// hypervisor keeps the whole machine stopped; such a machine must not hold a lease.
    package var boottime: Int64
    /// ns since 1970 UTC. Only epochs and what people see depend on it.
    package var wall: Int64
    /// A random number of the kernel, drawn anew for each moment.
    package var chance: UInt64

    package init(boottime: Int64, wall: Int64, chance: UInt64) {
        self.boottime = boottime
        self.wall = wall
        self.chance = chance
    }
}
