import Synchronization

/// What other threads may see of a relay: how many clients it has, and how often one has subscribed.
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

    /// Nobody will subscribe any more.
    func stopped() { self.continuation.finish() }

    /// Waits for the first subscription; `false` when there will be none, or the task is cancelled. For one waiter.
    func firstSubscribe() async -> Bool {
        if self.hasSubscription { return true }
        for await _ in self.firstSubscription { return true }
        return self.hasSubscription
    }

    /// Waits until nobody has subscribed for so long.
    ///
    /// - Parameter rounds: after so many times that long it waits no more, though somebody always does.
    func subscriptionsSettle(_ pause: Duration, rounds: Int) async {
        for _ in 0..<rounds {
            let before = self.subscriptions.load(ordering: .acquiring)
            guard (try? await Task.sleep(for: pause)) != nil, self.subscriptions.load(ordering: .acquiring) != before
            else { return }
        }
    }

    private var hasSubscription: Bool { self.subscriptions.load(ordering: .acquiring) > 0 }
}
