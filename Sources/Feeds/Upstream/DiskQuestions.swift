import NIOCore

/// The callers that wait for one kind of answer from the disk, each for a limited time.
///
/// Once a caller's limit has passed, later callers do not wait until the disk has answered again.
struct DiskQuestions<Answer> {
    /// One waiting caller. It is answered exactly once, by the disk or by its timer.
    private final class Waiting {
        private var then: ((Answer) -> Void)?
        var timer: Scheduled<Void>?

        init(_ then: @escaping (Answer) -> Void) { self.then = then }

        func take(_ answer: Answer) {
            self.timer?.cancel()
            self.timer = nil
            let then = self.then
            self.then = nil
            then?(answer)
        }
    }

    /// The state that the timers change.
    private final class State {
        var waiting: [Waiting] = []
        var isAsking = false
        var isStuck = false
    }

    private let state = State()

    /// Whether a question is under way.
    var isAsking: Bool { self.state.isAsking }

    /// Adds a caller.
    ///
    /// - Parameter otherwise: makes the answer if the disk gives none in time.
    func add(
        _ then: @escaping (Answer) -> Void,
        on loop: any EventLoop,
        within limit: TimeAmount,
        otherwise: @escaping () -> Answer
    ) {
        guard !self.state.isStuck else { return then(otherwise()) }
        let waiting = Waiting(then)
        let state = self.state
        state.waiting.append(waiting)
        let bound = NIOLoopBound(
            {
                state.isStuck = true
                state.waiting.removeAll { $0 === waiting }
                waiting.take(otherwise())
            },
            eventLoop: loop
        )
        waiting.timer = loop.scheduleTask(in: limit) { bound.value() }
    }

    /// Notes that the disk is asked now; returns `false` if a question is under way already.
    func begin() -> Bool {
        defer { self.state.isAsking = true }
        return !self.state.isAsking
    }

    /// Takes the disk's answer.
    ///
    /// - Parameter answers: whether it answers the waiting callers.
    func end(_ answer: Answer, answers: Bool = true) {
        self.state.isAsking = false
        self.state.isStuck = false
        guard answers else { return }
        let waiting = self.state.waiting
        self.state.waiting = []
        for one in waiting { one.take(answer) }
    }
}
