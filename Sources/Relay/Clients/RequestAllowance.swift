import NIOCore

/// How many requests one client may make: a bucket of tokens; time is an argument.
///
/// Requests that are refused cost as much as the others. So who asks too often gets nothing until it has been calmer, and
/// who goes on all the same is soon so deep in debt that it is closed.
struct RequestAllowance: Equatable {
    enum Verdict: Equatable {
        case allowed
        /// Beyond the rate; to be told so.
        case refused
        /// Beyond the rate for so long that it is a flood.
        case flood
    }

    private let burst: Double
    private let perSecond: Double
    private var tokens: Double
    private var last: NIODeadline?

    /// - Parameters:
    ///   - burst: how many requests may come at once; as many beyond the rate are refused before the client is closed.
    ///   - perSecond: how many may come all the time.
    init(burst: Int, perSecond: Int) {
        self.burst = Double(max(burst, 1))
        self.perSecond = Double(max(perSecond, 1))
        self.tokens = self.burst
    }

    /// A request came.
    ///
    /// - Parameter cost: how many ordinary requests it is worth.
    mutating func requested(cost: Int = 1, now: NIODeadline) -> Verdict {
        if let last, now > last {
            let seconds = Double((now - last).nanoseconds) / 1_000_000_000
            self.tokens = min(self.burst, self.tokens + seconds * self.perSecond)
        }
        self.last = now
        // One that costs more than there can ever be is allowed to whoever has all of it.
        let isAllowed = self.tokens >= min(Double(cost), self.burst)
        self.tokens -= Double(cost)
        if isAllowed {
            self.tokens = max(self.tokens, 0)
            return .allowed
        }
        return self.tokens < -self.burst ? .flood : .refused
    }
}
