package import Glibc
package import Market

/// The two clocks of the shell; machines get their readings as arguments.
package enum SystemClock {
    /// Monotonic ns (`CLOCK_MONOTONIC`), the clock of `DisplayRow.arrived`; NIO's `NIODeadline` reads the same one.
    package static func monotonic() -> Int64 { Self.read(CLOCK_MONOTONIC) }

    package static func now() -> Moment {
        Moment(monotonic: Self.read(CLOCK_MONOTONIC), wall: Self.read(CLOCK_REALTIME))
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Waits on descriptors; `nil` waits without limit. An interruption counts as a wake.
    package static func wait(_ descriptors: inout [pollfd], nanoseconds: Int64?) {
        // Rounded up, so that the time waited for has come when the wait is over.
        let milliseconds = nanoseconds.map { Int32((min(max($0, 0), 3_600_000_000_000) + 999_999) / 1_000_000) }
        _ = poll(&descriptors, nfds_t(descriptors.count), milliseconds ?? -1)
    }
}
