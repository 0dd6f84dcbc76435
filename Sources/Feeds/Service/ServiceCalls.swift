import NIOCore
import Wire

/// The calls of one program to the service, within a part of the limit that all programs with the key share.
///
/// Clients of the relay cause calls, too. They must not use up the limit, and a refusal for too many calls ends all
/// calls until the time that it names.
actor ServiceCalls {
    /// The most calls in any ``span``. Finnhub's free plan has 60 a minute for everything that uses the key.
    static let maximum = 20
    /// A minute, ns.
    static let span: Int64 = 60_000_000_000

    private let client: ServiceClient
    /// Nanoseconds since 1970.
    private let wallClock: @Sendable () -> Int64
    /// The times of the calls of the last ``span``, the oldest first; ns since 1970.
    private var calls: [Int64] = []
    /// The newest refusal for too many calls.
    private var refusal: (reason: ServiceFailure, until: Int64)?

    init(_ client: ServiceClient, wallClock: @escaping @Sendable () -> Int64) {
        self.client = client
        self.wallClock = wallClock
    }

    /// Requests a path, as ``ServiceClient/get(_:query:)`` does; fails without a request while none is allowed.
    func get(_ path: String, query: [(String, String)] = []) async -> Result<ByteBuffer, ServiceFailure> {
        let now = self.wallClock()
        if let obstacle = self.obstacle(now) { return .failure(obstacle) }
        self.calls.append(now)
        let result = await self.client.get(path, query: query)
        if case .failure(let failure) = result, case .rateLimited(let until) = failure.kind {
            self.refusal = (failure, until)
        }
        return result
    }

    private func obstacle(_ now: Int64) -> ServiceFailure? {
        // No wait is longer than the limit; a longer one means that the clock was set back.
        if let refusal, now < refusal.until, refusal.until - now <= RetryAfter.limit { return refusal.reason }
        self.calls.removeAll { $0 > now || $0 <= now - Self.span }
        guard self.calls.count >= Self.maximum, let oldest = self.calls.first else { return nil }
        return .rateLimited(
            until: oldest + Self.span,
            "this program asks the service \(Self.maximum) times a minute at most"
        )
    }
}
