import Glibc

/// The wall clock that the program gives to its rooms, which read none by themselves.
enum WallClock {
    /// Nanoseconds since 1970 UTC.
    @Sendable static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
