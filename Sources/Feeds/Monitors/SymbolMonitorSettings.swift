package import Market

extension SymbolMonitor {
    /// The settings of the monitor; all times in nanoseconds.
    package struct Settings: Sendable, Equatable {
        /// When the feed counts as late, and the shortest threshold of a quiet symbol (`staleAfter`). If `staleFactor`
        /// times the symbol's longest recent gap is longer, that is the threshold, up to `staleLimit`.
        package var freshness = FreshnessLimits()
        package var staleFactor = 3
        package var staleLimit: Int64 = 3_600_000_000_000
        /// The pause after a round of steps for a quiet symbol; it doubles up to `coolDownLimit`.
        package var coolDown: Int64 = 60_000_000_000
        package var coolDownLimit: Int64 = 600_000_000_000
        /// Whether steps are taken for a quiet symbol. Not in a replay, since a recording cannot bring more.
        package var takesSteps = true
        /// The number of requests that are sent at once, and the time between later ones.
        package var subscribeBurst = 10
        /// The most symbols of one request.
        package var subscribeBatch = 1
        package var subscribeInterval: Int64 = 30_000_000
        /// When to subscribe again to a symbol that is unknown or not permitted; it doubles. (Valid ones were refused
        /// for 45 minutes: reference, section 1.5.)
        package var retryRefused: Int64 = 300_000_000_000
        /// The same for a symbol beyond the service's limit.
        package var retryOverLimit: Int64 = 600_000_000_000
        package var retryLimit: Int64 = 3_600_000_000_000

        package init() {}
    }

    /// How long after a request the service's error may come, ns; generous.
    static let answerTime: Int64 = 10_000_000_000
}
