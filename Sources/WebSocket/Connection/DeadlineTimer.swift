package import NIOCore

/// One timer for several deadlines that usually move later.
///
/// It is rescheduled only when it fires or when a deadline moves earlier. A deadline that moves later costs nothing:
/// the timer fires too early, finds nothing to do, and is scheduled again.
package struct DeadlineTimer {
    private enum Task {
        case own(Scheduled<Void>)
        case shared(DeadlineWheel.Entry)

        func cancel() {
            switch self {
            case .own(let task): task.cancel()
            case .shared(let entry): entry.cancel()
            }
        }
    }

    private let wheel: DeadlineWheel?
    private var set: (at: NIODeadline, task: Task)?

    /// - Parameter wheel: the shared timer of many connections on the same loop; `nil` for a scheduled task of the
    ///   loop.
    package init(wheel: DeadlineWheel?) { self.wheel = wheel }

    /// Schedules `body` for the earliest deadline at the latest, plus the delay of a wheel. Without a deadline, a
    /// scheduled timer stays as it is.
    package mutating func arm(for deadlines: [NIODeadline?], on loop: any EventLoop, _ body: @escaping () -> Void) {
        guard let deadline = deadlines.compactMap(\.self).min() else { return }
        if let set = self.set {
            if set.at <= deadline { return }
            set.task.cancel()
        }
        let task: Task =
            if let wheel = self.wheel {
                .shared(wheel.schedule(at: deadline, body))
            } else {
                .own(loop.assumeIsolated().scheduleTask(deadline: deadline, body))
            }
        self.set = (deadline, task)
    }

    /// Records that the timer has fired; must be called first in the body.
    package mutating func fired() {
        self.set = nil
    }

    package mutating func cancel() {
        self.set?.task.cancel()
        self.set = nil
    }
}
