import NIOCore

/// One timer for several deadlines that mostly move away.
///
/// It is set anew only when it fires or when a deadline comes nearer: a deadline that moves away costs nothing, and a
/// timer that fires too early finds nothing to do and is set again.
struct DeadlineTimer {
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

    /// - Parameter wheel: what keeps the time of many connections on the same loop; nil for a timer of the loop.
    init(wheel: DeadlineWheel?) { self.wheel = wheel }

    /// Sees to it that `body` is called no later than the earliest deadline (or as late as the wheel is); with none, leaves
    /// a set timer as it is.
    mutating func arm(for deadlines: [NIODeadline?], on loop: any EventLoop, _ body: @escaping () -> Void) {
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

    /// Notes that the timer has fired; to be called first thing in the body.
    mutating func fired() {
        self.set = nil
    }

    mutating func cancel() {
        self.set?.task.cancel()
        self.set = nil
    }
}
