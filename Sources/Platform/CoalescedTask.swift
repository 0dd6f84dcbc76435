package import NIOCore
import Synchronization

/// A task of an event loop that any thread can request. Requests made before it runs count as one.
///
/// A thread that is faster than the loop thus adds one task to the loop's queue, and not one for each request.
package final class CoalescedTask: Sendable {
    private let loop: any EventLoop
    private let isPending = Atomic(false)

    package init(on loop: any EventLoop) { self.loop = loop }

    /// Runs `body` on the loop, unless an earlier request is still pending. All requests must have the same `body`.
    package func request(_ body: @escaping @Sendable () -> Void) {
        guard !self.isPending.exchange(true, ordering: .acquiringAndReleasing) else { return }
        self.loop.execute {
            // Before the body: a request made while the body runs may come too late for it.
            _ = self.isPending.exchange(false, ordering: .acquiringAndReleasing)
            body()
        }
    }
}
