package import NIOCore

/// One timer of a loop for the deadlines of many connections, which it serves up to ``grain`` late. A scheduled task
/// for each connection would take as much memory as the rest of an idle connection's state machines, and the loop
/// searches all its tasks to cancel one.
package final class DeadlineWheel {
    /// One connection's deadline; cancelling it releases its body.
    final class Entry {
        fileprivate var body: (() -> Void)?
        fileprivate init(_ body: @escaping () -> Void) { self.body = body }
        func cancel() { self.body = nil }
    }

    /// The largest delay of a deadline.
    package static let resolution: TimeAmount = .milliseconds(250)

    private let loop: any EventLoop
    /// The deadlines by the number of the grain at whose end they are served. There are at most as many grains as the
    /// longest wait spans.
    private var grains: [Int64: [Entry]] = [:]
    private var timer: (resolution: Int64, task: Scheduled<Void>)?

    package init(loop: any EventLoop) { self.loop = loop }

    deinit { self.timer?.task.cancel() }

    /// Calls `body` once at the deadline, or up to a grain later.
    func schedule(at deadline: NIODeadline, _ body: @escaping () -> Void) -> Entry {
        let entry = Entry(body)
        let resolution = (deadline - .uptimeNanoseconds(0)).nanoseconds / Self.resolution.nanoseconds + 1
        self.grains[resolution, default: []].append(entry)
        if self.timer.map({ resolution < $0.resolution }) ?? true { self.arm(resolution) }
        return entry
    }

    private func arm(_ resolution: Int64) {
        self.timer?.task.cancel()
        let deadline = NIODeadline.uptimeNanoseconds(0) + .nanoseconds(resolution * Self.resolution.nanoseconds)
        let task = self.loop.assumeIsolated().scheduleTask(deadline: deadline) { [weak self] () -> Void in
            self?.timeReached()
        }
        self.timer = (resolution, task)
    }

    private func timeReached() {
        self.timer = nil
        let now = (self.loop.now - .uptimeNanoseconds(0)).nanoseconds / Self.resolution.nanoseconds
        for resolution in self.grains.keys.sorted() where resolution <= now {
            for entry in self.grains.removeValue(forKey: resolution) ?? [] {
                let body = entry.body
                entry.body = nil
                body?()
            }
        }
        // A body may have set the timer, for a grain that is not the earliest.
        if let next = self.grains.keys.min(), self.timer.map({ next < $0.resolution }) ?? true { self.arm(next) }
    }
}
