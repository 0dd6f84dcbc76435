import Glibc

/// The local time of this machine, for the screen and for quiet hours.
enum LocalTime {
    /// Reads the time zone once. Must be called before there are other threads.
    ///
    /// Without `TZ`, the C library checks `/etc/localtime` for each log line, on the logging thread, which may be an
    /// event loop (tzset(3)).
    static func readZone() {
        setenv("TZ", ":/etc/localtime", 0)
        tzset()
    }

    /// Returns the offset of local time from UTC at `time` (ns since 1970), ns.
    @Sendable static func offset(at time: Int64) -> Int64 {
        var seconds = time_t(time / 1_000_000_000)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return 0 }
        return Int64(parts.tm_gmtoff) * 1_000_000_000
    }
}
