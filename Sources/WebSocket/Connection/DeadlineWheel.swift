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
    package static let grain: TimeAmount = .milliseconds(250)

    private let loop: any EventLoop
    /// The deadlines by the number of the grain at whose end they are served. There are at most as many grains as the
    /// longest wait spans.
    private var grains: [Int64: [Entry]] = [:]
    private var timer: (grain: Int64, task: Scheduled<Void>)?

    package init(loop: any EventLoop) { self.loop = loop }

    deinit { self.timer?.task.cancel() }

    /// Calls `body` once at the deadline, or up to a grain later.
    func schedule(at deadline: NIODeadline, _ body: @escaping () -> Void) -> Entry {
        let entry = Entry(body)
        let grain = (deadline - .uptimeNanoseconds(0)).nanoseconds / Self.grain.nanoseconds + 1
        self.grains[grain, default: []].append(entry)
        if self.timer.map({ grain < $0.grain }) ?? true { self.arm(grain) }
        return entry
    }

    private func arm(_ grain: Int64) {
        self.timer?.task.cancel()
        let deadline = NIODeadline.uptimeNanoseconds(0) + .nanoseconds(grain * Self.grain.nanoseconds)
        let task = self.loop.assumeIsolated().scheduleTask(deadline: deadline) { [weak self] () -> Void in
            self?.timeReached()
        }
        self.timer = (grain, task)
    }

    private func timeReached() {
        self.timer = nil
        let now = (self.loop.now - .uptimeNanoseconds(0)).nanoseconds / Self.grain.nanoseconds
        for grain in self.grains.keys.sorted() where grain <= now {
            for entry in self.grains.removeValue(forKey: grain) ?? [] {
                let body = entry.body
                entry.body = nil
                body?()
            }
        }
        // A body may have set the timer, for a grain that is not the earliest.
        if let next = self.grains.keys.min(), self.timer.map({ next < $0.grain }) ?? true { self.arm(next) }
    }
}
