import NIOCore

/// Those who wait for one kind of answer of the disk, each of them for a limited time.
///
/// Once the disk has let one of them wait for too long, the next are not made to wait until it answers.
struct DiskQuestions<Answer> {
    /// One who waits: is answered once, by the disk or without it.
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

    /// What the timers change.
    private final class State {
        var waiting: [Waiting] = []
        var isAsking = false
        var isStuck = false
    }

    private let state = State()

    /// Whether the disk is at it.
    var isAsking: Bool { self.state.isAsking }

    /// - Parameter otherwise: the answer where the disk has none in time.
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

    /// Notes that the disk is asked now; `false` where it is at it already.
    func begin() -> Bool {
        defer { self.state.isAsking = true }
        return !self.state.isAsking
    }

    /// Takes the disk's answer.
    ///
    /// - Parameter answers: whether it is for those who wait.
    func end(_ answer: Answer, answers: Bool = true) {
        self.state.isAsking = false
        self.state.isStuck = false
        guard answers else { return }
        let waiting = self.state.waiting
        self.state.waiting = []
        for one in waiting { one.take(answer) }
    }
}
