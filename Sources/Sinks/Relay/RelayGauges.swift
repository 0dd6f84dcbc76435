import Synchronization

/// What other threads may see of a relay: how many clients it has, and whether one has ever subscribed.
final class RelayGauges: Sendable {
    private let clientCount = Atomic<Int>(0)
    private let hasSubscription = Atomic<Bool>(false)
    private let firstSubscription: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (self.firstSubscription, self.continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    var clients: Int { self.clientCount.load(ordering: .relaxed) }

    func clients(_ count: Int) { self.clientCount.store(count, ordering: .relaxed) }

    func subscribed() {
        guard !self.hasSubscription.exchange(true, ordering: .acquiringAndReleasing) else { return }
        self.continuation.yield()
        self.continuation.finish()
    }

    /// Nobody will subscribe any more.
    func stopped() { self.continuation.finish() }

    /// Waits for the first subscription; `false` when there will be none, or the task is cancelled. For one waiter.
    func firstSubscribe() async -> Bool {
        if self.hasSubscription.load(ordering: .acquiring) { return true }
        for await _ in self.firstSubscription { return true }
        return self.hasSubscription.load(ordering: .acquiring)
    }
}
