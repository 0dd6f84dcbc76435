package import NIOCore

/// An executor of file work for event loops, which must not wait for a disk.
package protocol DiskWorker: Sendable {
    /// Does the work after all work submitted before, and passes its answer to the loop. Never waits.
    func perform<Answer: Sendable>(
        on loop: any EventLoop,
        _ work: @escaping @Sendable () -> Answer,
        then: @escaping (Answer) -> Void
    )
    /// Does the work after all work submitted before. May be called from any thread; never waits.
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

    /// Returns the work's answer, or `nil` if it takes longer than the limit; the work then continues.
    ///
    /// Cancellation of the task does not end the wait: queued work must reach the files however the program ends.
    package func answer<Answer: Sendable>(
        within limit: Duration = WorkQueue.patience,
        _ work: @escaping @Sendable () -> Answer
    ) async -> Answer? {
        await withTimeLimit(limit) {
            await withCheckedContinuation { continuation in
                self.submit { continuation.resume(returning: work()) }
            }
        }
    }
}
