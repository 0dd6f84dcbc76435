package import Logging
package import NIOCore

/// The environment of a feed and its connections: the loop, whose clock is the monotonic one, the wall clock, chance
/// and the log.
package struct FeedContext {
    package var loop: any EventLoop
    /// ns since 1970.
    package var wallClock: @Sendable () -> Int64
    /// Uniformly distributed from 0 to 1, for the jitter between attempts.
    package var chance: @Sendable () -> Double
    package var logger: Logger

    package init(
        loop: any EventLoop,
        wallClock: @escaping @Sendable () -> Int64,
        chance: @escaping @Sendable () -> Double,
        logger: Logger
    ) {
        self.loop = loop
        self.wallClock = wallClock
        self.chance = chance
        self.logger = logger
    }
}
