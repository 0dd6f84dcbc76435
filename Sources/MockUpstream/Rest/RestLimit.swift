import Market
import Wire

/// The limit of requests to a venue's REST service, and the count against it: a state machine with time as an argument,
/// monotonic ns.
///
/// - Binance (rest-api.md, limits): a weight of 6,000 in each minute; a request beyond it is answered with 429 and the
///   time to wait. A client that sends two more meanwhile is banned for two minutes (418), the shortest time documented.
/// - Coinbase (exchange/rest-api/rate-limits): 10 requests in a second.
/// - Kraken: about one request for trades in a second, answered with an error and status 200. Besides, every request is
///   an attempt at the edge, as a connection is.
struct RestLimit {
    typealias Refusal = AttemptCount.Refusal

    /// Binance's weight and window, ns.
    private static let weight = 6_000
    private static let window: Int64 = 60_000_000_000
    private static let ban: Int64 = 120_000_000_000
    /// How many requests during a refusal are refused with 429 before the ban.
    private static let patience = 1

    private let venue: Venue
    private let attempts: AttemptCount?
    private var requests: RollingLimit
    private var windowStart: Int64 = 0
    /// The weight used in the window.
    private(set) var used = 0
    private var refusedUntil: Int64?
    /// The requests that came during the refusal.
    private var ignored = 0
    private var bannedUntil: Int64?

    init(of venue: Venue, attempts: AttemptCount?) {
        self.venue = venue
        self.attempts = attempts
        self.requests =
            switch venue {
            case .binance, .coinbase: RollingLimit(count: 10, window: 1_000_000_000)
            case .kraken: RollingLimit(count: 1, window: 900_000_000)
            }
    }

    /// Notes a request; returns its refusal, or `nil`. The status of Kraken's own refusal is 200.
    ///
    /// - Parameter isForTrades: otherwise it is for a list of symbols.
    mutating func requested(weight: Int, isForTrades: Bool, now: Int64) -> Refusal? {
        switch self.venue {
        case .binance: return self.requested(weight: weight, now: now)
        case .coinbase: return self.requests.exceeds(now: now) ? Refusal(status: 429) : nil
        case .kraken:
            if let refusal = self.attempts?.attempted(now: now) { return refusal }
            return isForTrades && self.requests.exceeds(now: now) ? Refusal(status: 200) : nil
        }
    }

    /// Begins a time of refusals, as after a 429 with the time to wait in seconds. Only Binance bans a client that does
    /// not obey it.
    mutating func refuse(for seconds: Int64, now: Int64) {
        guard self.venue == .binance else { return }
        self.refusedUntil = now.addingCapped(seconds * 1_000_000_000)
        self.ignored = 0
    }

    private mutating func requested(weight: Int, now: Int64) -> Refusal? {
        if let bannedUntil, now < bannedUntil {
            return Refusal(status: 418, retryAfter: Self.seconds(until: bannedUntil, now))
        }
        if let refusedUntil, now < refusedUntil {
            self.ignored += 1
            guard self.ignored > Self.patience else {
                return Refusal(status: 429, retryAfter: Self.seconds(until: refusedUntil, now))
            }
            self.refusedUntil = nil
            self.bannedUntil = now.addingCapped(Self.ban)
            return Refusal(status: 418, retryAfter: Self.ban / 1_000_000_000)
        }
        if now - self.windowStart >= Self.window {
            self.windowStart = now - now % Self.window
            self.used = 0
        }
        self.used += weight
        guard self.used > Self.weight else { return nil }
        let wait = Self.seconds(until: self.windowStart + Self.window, now)
        self.refuse(for: wait, now: now)
        return Refusal(status: 429, retryAfter: wait)
    }

    private static func seconds(until time: Int64, _ now: Int64) -> Int64 { (time - now + 999_999_999) / 1_000_000_000 }
}
