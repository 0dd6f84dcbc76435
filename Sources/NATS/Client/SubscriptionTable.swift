/// The subscriptions of a client, which outlive its connections. A value.
struct SubscriptionTable: Sendable {
    private struct Subscription: Sendable {
        var pattern: NATSPattern
        var queue: String?
        var received: UInt64 = 0
        /// Those received before this connection: a server counts from the subscription's begin on its own.
        var earlier: UInt64 = 0
        /// The number of messages after which it ends.
        var limit: UInt64?
    }

    private var subscriptions: [UInt64: Subscription] = [:]

    /// The numbers of all subscriptions, in order.
    var numbers: [UInt64] { self.subscriptions.keys.sorted() }

    func contains(_ number: UInt64) -> Bool { self.subscriptions[number] != nil }

    mutating func add(_ number: UInt64, _ pattern: NATSPattern, queue: String?) -> ClientOperation {
        self.subscriptions[number] = Subscription(pattern: pattern, queue: queue)
        return .subscribe(pattern, queue: queue, number: number)
    }

    /// Ends a subscription, at once or after so many messages; `nil` if it has ended.
    mutating func end(_ number: UInt64, after limit: UInt64?) -> ClientOperation? {
        guard let subscription = self.subscriptions[number] else { return nil }
        guard let limit, limit > subscription.received else {
            self.subscriptions[number] = nil
            return .unsubscribe(number: number, after: nil)
        }
        self.subscriptions[number]?.limit = limit
        return .unsubscribe(number: number, after: limit - subscription.earlier)
    }

    /// Counts a message; returns whether the subscription has not ended before.
    mutating func take(_ number: UInt64) -> Bool {
        guard var subscription = self.subscriptions[number] else { return false }
        subscription.received += 1
        let isLast = subscription.limit.map { subscription.received >= $0 } ?? false
        self.subscriptions[number] = isLast ? nil : subscription
        return true
    }

    /// Begins all of them on a new connection.
    mutating func restore() -> [ClientOperation] {
        self.numbers.flatMap { number -> [ClientOperation] in
            guard let subscription = self.subscriptions[number] else { return [] }
            self.subscriptions[number]?.earlier = subscription.received
            let begin = ClientOperation.subscribe(subscription.pattern, queue: subscription.queue, number: number)
            guard let limit = subscription.limit else { return [begin] }
            return [begin, .unsubscribe(number: number, after: limit - subscription.received)]
        }
    }
}
