import NIOCore

/// The rate limit of one client's requests: a token bucket, with time as an argument.
///
/// Refused requests cost as much as the others. A client above the rate gets nothing until it has slowed down. A client
/// that continues is soon so deep in debt that it is closed.
struct RequestAllowance: Equatable {
    enum Verdict: Equatable {
        case allowed
        /// Beyond the rate; the refusal is reported to the client.
        case refused
        /// Beyond the rate for so long that it is a flood.
        case flood
    }

    /// The further cost of a resumption, in requests: it may bring a hundred thousand trades.
    static let costOfResuming = 9

    private let burst: Double
    private let perSecond: Double
    private var tokens: Double
    private var last: NIODeadline?

    /// - Parameters:
    ///   - burst: how many requests may come at once. As many again are refused before the client is closed.
    ///   - perSecond: how many requests may come per second on average.
    init(burst: Int, perSecond: Int) {
        self.burst = Double(max(burst, 1))
        self.perSecond = Double(max(perSecond, 1))
        self.tokens = self.burst
    }

    /// Counts a request.
    ///
    /// - Parameter cost: the cost of the request, in ordinary requests.
    mutating func requested(cost: Int = 1, now: NIODeadline) -> Verdict {
        self.refill(now)
        // A request that costs more than a full bucket is allowed to a client with a full bucket.
        let isAllowed = self.tokens >= min(Double(cost), self.burst)
        self.tokens -= Double(cost)
        if isAllowed {
            self.tokens = max(self.tokens, 0)
            return .allowed
        }
        return self.tokens < -self.burst ? .flood : .refused
    }

    /// Counts a request if it is within the rate, and returns whether it is. A request beyond the rate costs nothing,
    /// unlike with ``requested(cost:now:)``.
    mutating func isWithin(now: NIODeadline) -> Bool {
        self.refill(now)
        guard self.tokens >= 1 else { return false }
        self.tokens -= 1
        return true
    }

    private mutating func refill(_ now: NIODeadline) {
        if let last, now > last {
            let seconds = Double((now - last).nanoseconds) / 1_000_000_000
            self.tokens = min(self.burst, self.tokens + seconds * self.perSecond)
        }
        self.last = now
    }
}
