import Platform

/// The wall clock that the program gives to its modules, which read no clock themselves.
enum WallClock {
    /// Nanoseconds since 1970 UTC.
    @Sendable static func now() -> Int64 { SystemClock.now().wall }
}
