import Cluster
import NIOCore

/// The leases of several programs in memory, on one loop; each has its own way to them.
final class MemoryLeaseStore {
    private let loop: any EventLoop
    private(set) var values: [String: (revision: UInt64, value: ByteBuffer)] = [:]
    private var revision: UInt64 = 0

    init(on loop: any EventLoop) { self.loop = loop }

    /// One program's way to the store.
    final class Way: LeaseStore {
        private let store: MemoryLeaseStore
        /// Whether requests reach the store.
        var isOpen = true

        init(_ store: MemoryLeaseStore) { self.store = store }

        func read(_ key: String, within limit: TimeAmount) -> EventLoopFuture<LeaseAnswer> {
            self.answer(within: limit) {
                .state(self.store.values[key].map { .value($0.value, revision: $0.revision) } ?? .absent)
            }
        }

        func write(
            _ key: String,
            _ value: ByteBuffer,
            expecting revision: UInt64,
            within limit: TimeAmount
        ) -> EventLoopFuture<LeaseAnswer> {
            self.answer(within: limit) {
                guard self.store.values[key]?.revision ?? 0 == revision else { return .refused }
                self.store.revision += 1
                self.store.values[key] = (self.store.revision, value)
                return .written(revision: self.store.revision)
            }
        }

        private func answer(
            within limit: TimeAmount,
            _ act: @escaping () -> LeaseAnswer
        ) -> EventLoopFuture<LeaseAnswer> {
            let promise = self.store.loop.makePromise(of: LeaseAnswer.self)
            let isOpen = self.isOpen
            let wait: TimeAmount = isOpen ? .milliseconds(1) : limit
            self.store.loop.assumeIsolated().scheduleTask(in: wait) { promise.succeed(isOpen ? act() : .unknown) }
            return promise.futureResult
        }
    }
}
