import Wire

/// The requests that wait for their turn: a few at once, then one at a time.
///
/// No limit of the service for them is known; careful clients leave 30 ms between two (reference, section 2).
struct RequestPacer: Sendable {
    private let burst: Int
    /// Between two requests, ns; 0 sends all at once.
    private let interval: Int64
    private var waiting: [FinnhubRequest] = []
    /// When all that was sent would have been sent without any burst; monotonic ns.
    private var paid: Int64 = .min

    init(burst: Int, interval: Int64) {
        self.burst = max(burst, 1)
        self.interval = interval
    }

    /// Forgets what waits: the connection it was for is gone.
    mutating func reset() {
        self.waiting = []
        self.paid = .min
    }

    mutating func append(_ request: FinnhubRequest) { self.waiting.append(request) }

    /// Takes back a request that has not been sent; returns whether there was one.
    mutating func remove(_ request: FinnhubRequest) -> Bool {
        guard let index = self.waiting.firstIndex(of: request) else { return false }
        self.waiting.remove(at: index)
        return true
    }

    func holds(_ request: FinnhubRequest) -> Bool { self.waiting.contains(request) }

    /// When the next request may go, if one waits; monotonic ns.
    var deadline: Int64? {
        guard !self.waiting.isEmpty else { return nil }
        return self.paid == .min ? .min : self.paid - self.interval * Int64(self.burst - 1)
    }

    /// The next request, if it may go now.
    mutating func take(now: Int64) -> FinnhubRequest? {
        guard let deadline, now >= deadline else { return nil }
        self.paid = max(self.paid, now) + self.interval
        return self.waiting.removeFirst()
    }
}
