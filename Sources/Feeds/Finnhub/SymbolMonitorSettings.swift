package import Market

extension SymbolMonitor {
    /// The numbers, all times in nanoseconds.
    package struct Settings: Sendable, Equatable {
        /// When the feed is late, and the threshold of a symbol: `staleAfter`, or `staleFactor` times its longest recent gap
        /// where that is longer, and never more than `staleLimit`.
        package var freshness = FreshnessLimits()
        package var staleFactor = 3
        package var staleLimit: Int64 = 3_600_000_000_000
        /// The pause after a round of steps for a quiet symbol; it doubles.
        package var coolDown: Int64 = 60_000_000_000
        package var coolDownLimit: Int64 = 600_000_000_000
        /// Whether anything is done about a quiet symbol. Not in a replay: a recorded night was as quiet as it was.
        package var takesSteps = true
        /// Requests sent at once, and the pause between those that follow.
        package var subscribeBurst = 10
        package var subscribeInterval: Int64 = 30_000_000
        /// Symbols that one connection is asked for.
        package var symbolLimit = 50
        /// When a symbol that is unknown or not permitted is asked for again; it doubles. (Valid ones were refused for 45
        /// minutes: reference, section 1.5.)
        package var retryRefused: Int64 = 300_000_000_000
        /// The same for a symbol that was one too many.
        package var retryOverLimit: Int64 = 600_000_000_000
        package var retryLimit: Int64 = 3_600_000_000_000

        package init() {}
    }

    /// How long after a request the service's error to it may come, ns; generous.
    static let answerTime: Int64 = 10_000_000_000

    static func doubled(_ start: Int64, times: Int, limit: Int64) -> Int64 {
        var step = start
        for _ in 0..<min(times, 62) where step < limit { step = step > limit / 2 ? limit : step * 2 }
        return min(step, limit)
    }
}
