/// The most connections, or requests, that are begun within a time, by this program and by those before it.
package struct AttemptBudget: Sendable, Equatable {
    /// The largest number of ``attempts``: a file of attempts holds the time of each.
    static let maximum = 120

    /// The most attempts within ``span``; at most ``maximum``.
    package var attempts: Int
    /// The period of the budget, in nanoseconds.
    package var span: Int64
    /// Whether the budget also delays the attempts of one running program. Otherwise only its first one waits for it.
    package var isStrict: Bool
    /// The shortest time between two attempts, in nanoseconds.
    package var interval: Int64

    package init(attempts: Int, span: Int64, isStrict: Bool, interval: Int64 = 0) {
        self.attempts = min(attempts, Self.maximum)
        self.span = span
        self.isStrict = isStrict
        self.interval = interval
    }

    /// The budget that all programs with one key share. Takeovers can follow each other faster than the steps of the
    /// backoff, and the service does not distinguish programs.
    package static let ofKey = AttemptBudget(attempts: 6, span: 20_000_000_000, isStrict: false)

    /// Returns the wait before the next attempt, in nanoseconds.
    ///
    /// An attempt in the future, as after the clock was set back, counts as made now.
    ///
    /// - Parameter recent: when the newest attempts began, oldest first; wall clock, ns since 1970.
    func wait(after recent: [Int64], at now: Int64) -> Int64 {
        let pause = recent.last.map { Self.rest(of: self.interval, since: $0, at: now) } ?? 0
        guard recent.count >= self.attempts else { return pause }
        return max(pause, Self.rest(of: self.span, since: recent[recent.count - self.attempts], at: now))
    }

    private static func rest(of span: Int64, since start: Int64, at now: Int64) -> Int64 {
        span - min(now - min(start, now), span)
    }
}
