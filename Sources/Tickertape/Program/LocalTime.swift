import Glibc

/// The local clock, for quiet hours.
enum LocalTime {
    /// Has the C library read the time zone once and for all: without `TZ` it looks at `/etc/localtime` for each line of the
    /// log, on the thread that writes it, which may be an event loop's (tzset(3)). Before there are other threads.
    static func readZone() {
        setenv("TZ", ":/etc/localtime", 0)
        tzset()
    }

    /// How far local time is ahead of UTC at `time` (ns since 1970), ns.
    @Sendable static func offset(at time: Int64) -> Int64 {
        var seconds = time_t(time / 1_000_000_000)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return 0 }
        return Int64(parts.tm_gmtoff) * 1_000_000_000
    }
}
