@testable import Feeds

/// The waits that the settings allow, computed from what the service sees of each attempt; times are monotonic ns.
struct SoakBackoff {
    let settings = ReconnectBackoff.Settings()
    private(set) var attempts = 0
    /// The beginnings of attempts in the last minute, and the most in any minute.
    private var recent: [Int64] = []
    private(set) var maximumInAMinute = 0
    /// The longest wait.
    private(set) var longestWait: Int64 = 0
    private(set) var wrongs: [String] = []

    private var began: Int64 = 0
    private var openedAt: Int64?
    private var firstTrade: Int64?
    private var lastTrade: Int64?
    private var rateLimit: (isMet: Bool, retryAfter: Int64?) = (false, nil)
    private var failures = 0
    private var refusals = 0
    private var briefLives = 0
    /// The time of the next attempt.
    private var due: Int64?

    mutating func began(now: Int64) {
        self.attempts += 1
        if let due, now != due {
            self.wrongs.append("attempt \(self.attempts) began \((now - due) / 1_000_000) ms beside its time")
        }
        self.due = nil
        self.began = now
        self.openedAt = nil
        self.firstTrade = nil
        self.lastTrade = nil
        self.rateLimit = (false, nil)
        self.recent.removeAll { now - $0 >= 60 * SoakClock.second }
        self.recent.append(now)
        self.maximumInAMinute = max(self.maximumInAMinute, self.recent.count)
    }

    mutating func meets(rateLimit: Bool, retryAfter: Int64?) { self.rateLimit = (rateLimit, retryAfter) }

    mutating func opened(now: Int64) { self.openedAt = now }

    mutating func traded(now: Int64) {
        self.firstTrade = self.firstTrade ?? now
        self.lastTrade = now
    }

    /// Notes that the program waits; returns the length of the wait, ns.
    ///
    /// - Parameter chance: the number drawn for its jitter.
    mutating func paused(now: Int64, chance: Double) -> Int64 {
        if let firstTrade, let lastTrade, lastTrade - firstTrade >= self.settings.settled {
            (self.failures, self.refusals, self.briefLives) = (0, 0, 0)
        }
        self.failures += 1
        let wait: Int64
        if self.rateLimit.isMet {
            self.refusals += 1
            let step = self.settings.rateLimited << Int64(min(self.refusals - 1, 10))
            wait = self.rateLimit.retryAfter.map { $0 * SoakClock.second } ?? min(step, self.settings.rateLimitedLimit)
        } else {
            let isBrief = self.openedAt.map { now - $0 < self.settings.brief } ?? false
            self.briefLives = isBrief ? self.briefLives + 1 : 0
            let step = min(self.settings.first << Int64(min(self.failures - 1, 20)), self.settings.limit)
            wait =
                self.briefLives >= self.settings.briefLimit
                ? self.settings.keyInUse : max(self.settings.floor, Int64(Double(step) * chance))
        }
        self.due = now + wait
        self.longestWait = max(self.longestWait, wait)
        return wait
    }
}
