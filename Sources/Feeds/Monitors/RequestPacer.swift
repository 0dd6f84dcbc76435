import Wire

/// The queue of requests to the service: a burst of messages at first, then one at a time.
///
/// The service states no limit for requests; careful clients leave 30 ms between two (reference, section 2).
struct RequestPacer: Sendable {
    private let burst: Int
    /// The most changes of one message.
    private let batch: Int
    /// The time between two messages, ns; 0 sends all at once.
    private let interval: Int64
    /// The requests that have not been sent, in order.
    private(set) var waiting: [SubscriptionChange] = []
    /// When the requests so far would have been sent at the regular rate, without a burst; monotonic ns.
    private var paid: Int64 = .min

    init(burst: Int, interval: Int64, batch: Int = 1) {
        self.burst = max(burst, 1)
        self.batch = max(batch, 1)
        self.interval = interval
    }

    /// Drops the waiting requests, because their connection has ended.
    mutating func reset() {
        self.waiting = []
        self.paid = .min
    }

    /// An empty queue of the same pace, for another connection.
    var renewed: RequestPacer { RequestPacer(burst: self.burst, interval: self.interval, batch: self.batch) }

    mutating func append(_ request: SubscriptionChange) { self.waiting.append(request) }

    /// Removes a request that has not been sent; returns whether there was one.
    mutating func remove(_ request: SubscriptionChange) -> Bool {
        guard let index = self.waiting.firstIndex(of: request) else { return false }
        self.waiting.remove(at: index)
        return true
    }

    func holds(_ request: SubscriptionChange) -> Bool { self.waiting.contains(request) }

    /// When the next waiting request may be sent; monotonic ns.
    var deadline: Int64? {
        guard !self.waiting.isEmpty else { return nil }
        return self.paid == .min ? .min : self.paid - self.interval * Int64(self.burst - 1)
    }

    /// Removes and returns the changes of the next message, if it may be sent now: those at the front that are of one
    /// kind.
    mutating func take(now: Int64) -> ArraySlice<SubscriptionChange>? {
        guard let deadline, now >= deadline, let first = self.waiting.first else { return nil }
        self.paid = max(self.paid, now) + self.interval
        let message = self.waiting.prefix(self.batch).prefix { $0.isSubscription == first.isSubscription }
        self.waiting.removeFirst(message.count)
        return message
    }
}

extension SubscriptionChange {
    /// Whether a subscription begins.
    var isSubscription: Bool {
        switch self {
        case .subscribe: true
        case .unsubscribe: false
        }
    }
}
