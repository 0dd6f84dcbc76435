import Glibc

/// The clocks of the measurements, in nanoseconds.
enum Clock {
    static let second: Int64 = 1_000_000_000

    /// Monotonic time.
    static func now() -> Int64 { Self.read(CLOCK_MONOTONIC) }

    /// Returns the CPU time of a process so far, all threads together; `nil` after its end.
    static func cpu(of process: pid_t) -> Int64? {
        var clock = clockid_t()
        guard clock_getcpuclockid(process, &clock) == 0 else { return nil }
        return Self.read(clock)
    }

    /// Sleeps.
    static func pause(milliseconds: Int) { usleep(UInt32(milliseconds) * 1_000) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * Self.second + Int64(time.tv_nsec)
    }
}
