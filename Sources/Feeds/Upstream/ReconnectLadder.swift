/// How long to wait before the next attempt: a machine whose time and chance are arguments.
///
/// The steps double from `first` to `limit`, each drawn evenly from zero to the step ("full jitter"), so that many
/// programs cut off together do not come back together. Only a connection that carried trades for `settled` puts the
/// ladder back to its first step: one that opens and dies at once is a failure like any other.
package struct ReconnectLadder: Sendable {
    /// The numbers, all in nanoseconds.
    package struct Settings: Sendable, Equatable {
        package var first: Int64 = 500_000_000
        package var limit: Int64 = 60_000_000_000
        /// How long a connection must have carried trades to count as good.
        package var settled: Int64 = 60_000_000_000
        /// The wait after a 429 without `Retry-After`; doubles up to `rateLimitedLimit`.
        package var rateLimited: Int64 = 60_000_000_000
        package var rateLimitedLimit: Int64 = 300_000_000_000

        package init() {}
    }

    package let settings: Settings
    /// Failures since the last good connection.
    package private(set) var failures = 0
    private var refusals = 0

    package init(settings: Settings = Settings()) {
        self.settings = settings
    }

    /// Takes the end of an attempt or a connection; answers with the wait before the next in nanoseconds.
    ///
    /// - Parameters:
    ///   - tradedFor: nanoseconds from the connection's first trade to its last, 0 if it had none.
    ///   - chance: evenly drawn from 0 to 1.
    package mutating func connectionEnded(tradedFor: Int64, chance: Double) -> Int64 {
        if tradedFor >= self.settings.settled {
            self.failures = 0
            self.refusals = 0
        }
        self.failures += 1
        let step = Self.doubled(self.settings.first, times: self.failures - 1, limit: self.settings.limit)
        return Int64(Double(step) * chance)
    }

    /// Takes a refusal for too many attempts (HTTP 429); answers with the wait in nanoseconds.
    ///
    /// - Parameter retryAfter: what the service asked for, in nanoseconds; at most an hour is believed.
    package mutating func rateLimited(retryAfter: Int64?) -> Int64 {
        self.failures += 1
        self.refusals += 1
        if let retryAfter, retryAfter > 0 { return min(retryAfter, 3_600_000_000_000) }
        return Self.doubled(
            self.settings.rateLimited,
            times: self.refusals - 1,
            limit: self.settings.rateLimitedLimit
        )
    }

    private static func doubled(_ start: Int64, times: Int, limit: Int64) -> Int64 {
        var step = start
        for _ in 0..<min(times, 62) where step < limit {
            step = step > limit / 2 ? limit : step * 2
        }
        return min(step, limit)
    }
}
