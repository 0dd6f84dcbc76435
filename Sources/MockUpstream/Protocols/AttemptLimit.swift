/// An upstream's limit of connections, and what follows when a client exceeds it.
///
/// The upstreams count by address. A mock server's clients all have the same one, so it counts all of them.
package struct AttemptLimit: Sendable {
    /// The most attempts in the window, ns.
    package var count: Int
    package var window: Int64
    /// How long attempts are refused after one too many, ns. An attempt during that time begins it again. 0 refuses only
    /// the attempts that are too many.
    package var ban: Int64
    /// The HTTP status of a refusal.
    package var status: Int
    /// How many connections may break the upstream's rules before all attempts are refused for a time, ns, with a status;
    /// `nil` without such a rule.
    package var breaches: (count: Int, ban: Int64, status: Int)?

    package init(
        count: Int,
        window: Int64,
        ban: Int64 = 0,
        status: Int,
        breaches: (count: Int, ban: Int64, status: Int)? = nil
    ) {
        self.count = count
        self.window = window
        self.ban = ban
        self.status = status
        self.breaches = breaches
    }
}

/// The count of attempts and broken rules against an ``AttemptLimit``: a state machine with time as an argument, ns.
///
/// The connections and the REST service of a venue share it if its edge counts them together. It belongs to one loop.
package final class AttemptCount {
    /// A refusal: its HTTP status, and when the next attempt may succeed, in seconds; `nil` where the upstream does not
    /// say that.
    package struct Refusal: Sendable, Equatable {
        package var status: Int
        package var retryAfter: Int64?
    }

    private let limit: AttemptLimit
    private var attempts: RollingLimit
    private var breaches = 0
    private var ban: (until: Int64, length: Int64, status: Int, renews: Bool)?

    package init(_ limit: AttemptLimit) {
        self.limit = limit
        self.attempts = RollingLimit(count: limit.count, window: limit.window)
    }

    /// Notes an attempt; returns its refusal, or `nil`.
    package func attempted(now: Int64) -> Refusal? {
        let exceeds = self.attempts.exceeds(now: now)
        if let ban, now < ban.until {
            if ban.renews { self.ban?.until = now + ban.length }
            let left = ((self.ban?.until ?? now) - now + 999_999_999) / 1_000_000_000
            return Refusal(status: ban.status, retryAfter: ban.renews ? nil : left)
        }
        guard exceeds else { return nil }
        if self.limit.ban > 0 { self.ban = (now + self.limit.ban, self.limit.ban, self.limit.status, true) }
        return Refusal(status: self.limit.status, retryAfter: nil)
    }

    /// Notes that a client has broken a rule on an open connection.
    package func broken(now: Int64) {
        guard let rule = self.limit.breaches else { return }
        self.breaches += 1
        guard self.breaches >= rule.count else { return }
        self.breaches = 0
        self.ban = (now + rule.ban, rule.ban, rule.status, false)
    }
}
