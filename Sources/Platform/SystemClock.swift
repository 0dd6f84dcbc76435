package import Glibc
package import Market

/// The system's two clocks. State machines do not read them; they get the times as arguments.
package enum SystemClock {
    /// Monotonic ns (`CLOCK_MONOTONIC`), the clock of `DisplayRow.arrived`; NIO's `NIODeadline` reads the same one.
    package static func monotonic() -> Int64 { Self.read(CLOCK_MONOTONIC) }

    /// ns of `CLOCK_BOOTTIME`, which goes on while the machine is suspended.
    package static func boottime() -> Int64 { Self.read(CLOCK_BOOTTIME) }

    /// Returns the times of both clocks.
    package static func now() -> Moment {
        Moment(monotonic: Self.read(CLOCK_MONOTONIC), wall: Self.read(CLOCK_REALTIME))
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Waits until a descriptor is ready or the time has passed; `nil` waits without limit. A signal also ends the
    /// wait.
    package static func wait(_ descriptors: inout [pollfd], nanoseconds: Int64?) {
        // Rounded up, so that the wait is never too short.
        let milliseconds = nanoseconds.map { Int32((min(max($0, 0), 3_600_000_000_000) + 999_999) / 1_000_000) }
        _ = poll(&descriptors, nfds_t(descriptors.count), milliseconds ?? -1)
    }
}
