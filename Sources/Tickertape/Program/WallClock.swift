import Platform

/// The wall clock of the program. Its modules take a clock as a parameter.
enum WallClock {
    /// Nanoseconds since 1970 UTC.
    @Sendable static func now() -> Int64 { SystemClock.now().wall }
}
