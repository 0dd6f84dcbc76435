import Synchronization

/// The figures of a relay that other threads may read: the number of clients, and whether one has subscribed.
package final class RelayGauges: Sendable {
    private let clientCount = Atomic<Int>(0)
    private let subscriptions = Atomic<Int>(0)
    private let firstSubscription: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    package init() {
        (self.firstSubscription, self.continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    var clients: Int { self.clientCount.load(ordering: .relaxed) }

    func clients(_ count: Int) { self.clientCount.store(count, ordering: .relaxed) }

    func subscribed() {
        guard self.subscriptions.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue == 0 else { return }
        self.continuation.yield()
        self.continuation.finish()
    }

    /// Notes that there will be no further subscription.
    func stopped() { self.continuation.finish() }

    /// Waits for the first subscription. Returns `false` if there will be none or the task is cancelled. For one
    /// waiter.
    func firstSubscribe() async -> Bool {
        if self.hasSubscription { return true }
        for await _ in self.firstSubscription { return true }
        return self.hasSubscription
    }

    /// Waits until no client has subscribed for the length of a pause.
    ///
    /// - Parameter rounds: the most pauses to wait for, even if clients keep subscribing.
    func subscriptionsSettle(_ pause: Duration, rounds: Int) async {
        for _ in 0..<rounds {
            let before = self.subscriptions.load(ordering: .acquiring)
            guard (try? await Task.sleep(for: pause)) != nil, self.subscriptions.load(ordering: .acquiring) != before
            else { return }
        }
    }

    private var hasSubscription: Bool { self.subscriptions.load(ordering: .acquiring) > 0 }
}
