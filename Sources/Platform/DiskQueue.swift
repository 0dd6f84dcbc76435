import NIOConcurrencyHelpers
package import NIOCore

/// Work on files that an event loop needs done and must not wait for.
package protocol DiskWorker: Sendable {
    /// Does the work behind what was given before, and takes its answer to the loop, which does not wait.
    func perform<Answer: Sendable>(
        on loop: any EventLoop,
        _ work: @escaping @Sendable () -> Answer,
        then: @escaping (Answer) -> Void
    )
    /// Does the work behind what was given before. From any thread; never waits.
    func submit(_ work: @escaping @Sendable () -> Void)
}

extension DiskWorker {
    package func perform<Answer: Sendable>(
        on loop: any EventLoop,
        _ work: @escaping @Sendable () -> Answer,
        then: @escaping (Answer) -> Void
    ) {
        let bound = NIOLoopBound(then, eventLoop: loop)
        self.submit {
            let answer = work()
            loop.execute { bound.value(answer) }
        }
    }

    /// The work's answer; `nil` where the disk takes longer than that, and the work goes on.
    package func answer<Answer: Sendable>(
        within limit: Duration = DiskThread.patience,
        _ work: @escaping @Sendable () -> Answer
    ) async -> Answer? {
        await DiskThread.answer(within: limit) {
            await withCheckedContinuation { continuation in
                self.submit { continuation.resume(returning: work()) }
            }
        }
    }
}

/// A thread for work on files, one piece after the other: where the disk hangs it hangs, and nothing else does.
///
/// Files that may lie on different disks have a queue each. The thread begins with the first work, and ends when nobody has
/// the queue any more and all is done.
package final class DiskQueue: DiskWorker {
    /// What the thread shares with those who give it work.
    private final class Shared: Sendable {
        struct State {
            var waiting: [@Sendable () -> Void] = []
            /// Wakes the thread; `nil` where there is none.
            var wake: WakeSignal?
            var isClosed = false
        }

        let name: String
        let state = NIOLockedValueBox(State())

        init(name: String) { self.name = name }

        func run(_ wake: WakeSignal) {
            // Others wait for what it does: an attempt for its line in the file, a takeover for the lock.
            DiskThread.begin(self.name, niceness: 0)
            while true {
                let (work, isOver) = self.state.withLockedValue { state in
                    defer { state.waiting = [] }
                    return (state.waiting, state.isClosed)
                }
                for piece in work { piece() }
                if work.isEmpty {
                    if isOver { return }
                    wake.wait(atMost: .max)
                }
            }
        }
    }

    private let shared: Shared

    /// - Parameter name: the thread's, for `top -H` and the like; 15 bytes at most.
    package init(_ name: String) { self.shared = Shared(name: name) }

    deinit {
        let wake = self.shared.state.withLockedValue { state in
            state.isClosed = true
            return state.wake
        }
        wake?.ring()
    }

    package func submit(_ work: @escaping @Sendable () -> Void) {
        let wake = self.shared.state.withLockedValue { state in
            state.waiting.append(work)
            if state.wake == nil { state.wake = Self.start(self.shared) }
            return state.wake
        }
        wake?.ring()
    }

    /// Starts the thread; `nil` where the system has none left, or nothing to wake it with: perhaps for the next work.
    private static func start(_ shared: Shared) -> WakeSignal? {
        guard let wake = try? WakeSignal(), OwnThread.start({ shared.run(wake) }) else { return nil }
        return wake
    }
}
