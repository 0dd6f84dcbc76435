import NIOCore

/// One timer for several deadlines that mostly move away.
///
/// It is set anew only when it fires or when a deadline comes nearer: a deadline that moves away costs nothing, and a
/// timer that fires too early finds nothing to do and is set again.
struct DeadlineTimer {
    private var set: (at: NIODeadline, task: Scheduled<Void>)?

    /// Sees to it that `body` is called no later than the earliest deadline; with none, leaves a set timer as it is.
    mutating func arm(for deadlines: [NIODeadline?], on loop: any EventLoop, _ body: @escaping () -> Void) {
        guard let deadline = deadlines.compactMap(\.self).min() else { return }
        if let set = self.set {
            if set.at <= deadline { return }
            set.task.cancel()
        }
        self.set = (deadline, loop.assumeIsolated().scheduleTask(deadline: deadline, body))
    }

    /// Notes that the timer has fired; to be called first thing in the body.
    mutating func fired() {
        self.set = nil
    }

    mutating func cancel() {
        self.set?.task.cancel()
        self.set = nil
    }
}
