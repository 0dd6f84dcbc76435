import NIOConcurrencyHelpers

/// A queue of work that may wait in the kernel, and the threads that do it, by default one.
///
/// A disk that hangs blocks its own queue only, so files that may lie on different disks have a queue each. The first
/// thread starts with the first work. All threads end when the queue is released or finished and all work is done.
package final class WorkQueue: DiskWorker {
    /// The longest wait for a disk at a stop. A disk that stalls for some seconds must not cost the end of a recording;
    /// one that hangs may do so for minutes.
    package static let patience = Duration.seconds(8)

    private struct State {
        var waiting: [@Sendable () -> Void] = []
        /// Wakes the threads; `nil` before the first one.
        var wake: WakeSignal?
        /// The number of running threads, and of those among them that wait for work.
        var threads = 0
        var idle = 0
        var isClosed = false
        /// Resumed when the last thread of a closed queue ends.
        var whenEnded: [CheckedContinuation<Void, Never>] = []
    }

    /// The state that the threads share with the queue. They keep it alive while they have work.
    private final class Shared: Sendable {
        let name: String
        let niceness: Int32
        let state = NIOLockedValueBox(State())

        init(name: String, niceness: Int32) {
            self.name = name
            self.niceness = niceness
        }
    }

    private let shared: Shared
    private let threads: Int
    private let startThread: @Sendable (@escaping @Sendable () -> Void) -> Int32

    /// Creates a queue without a thread.
    ///
    /// - Parameters:
    ///   - name: the threads' name, as `top -H` shows it; 15 bytes at most.
    ///   - niceness: the threads' niceness above the main thread's. With 10 they still get a tenth of its share on a
    ///     busy processor, a hundred times what a writer needs.
    ///   - threads: the most threads. With more than one, work starts in order but may end in another.
    ///   - startThread: starts a thread; returns 0 or the error number.
    package init(
        _ name: String,
        niceness: Int32 = 0,
        threads: Int = 1,
        startThread: @escaping @Sendable (@escaping @Sendable () -> Void) -> Int32 = SystemThread.start
    ) {
        self.shared = Shared(name: name, niceness: niceness)
        self.threads = threads
        self.startThread = startThread
    }

    deinit { self.close() }

    // MARK: Work

    package func submit(_ work: @escaping @Sendable () -> Void) {
        let wake = self.shared.state.withLockedValue { state in
            state.waiting.append(work)
            // If no thread can be started, the work waits for the next submission.
            try? self.startIfNeeded(&state)
            // A busy thread looks for more work before it waits.
            return state.idle > 0 ? state.wake : nil
        }
        wake?.ring()
    }

    /// Starts the first thread, so that later work cannot fail to start.
    ///
    /// - Throws: ``SystemCallFailure`` if the process can have no more threads or descriptors.
    package func start() throws(SystemCallFailure) {
        let result = self.shared.state.withLockedValue { state -> Result<Void, SystemCallFailure> in
            guard state.threads == 0 else { return .success(()) }
            return Result { () throws(SystemCallFailure) in try self.startThread(&state) }
        }
        try result.get()
    }

    /// Ends the threads after all work submitted before; returns whether they ended within the limit.
    @discardableResult
    package func finish(within limit: Duration = WorkQueue.patience) async -> Bool {
        self.close()
        let shared = self.shared
        return await withTimeLimit(limit) {
            await withCheckedContinuation { continuation in
                let hasEnded = shared.state.withLockedValue { state in
                    if state.threads > 0 { state.whenEnded.append(continuation) }
                    return state.threads == 0
                }
                if hasEnded { continuation.resume() }
            }
        } != nil
    }

    private func close() {
        let wake = self.shared.state.withLockedValue { state in
            state.isClosed = true
            return state.wake
        }
        wake?.ring()
    }

    // MARK: Threads

    private func startIfNeeded(_ state: inout State) throws(SystemCallFailure) {
        guard state.threads < self.threads, state.idle < state.waiting.count else { return }
        try self.startThread(&state)
    }

    private func startThread(_ state: inout State) throws(SystemCallFailure) {
        let wake: WakeSignal
        if let known = state.wake { wake = known } else { wake = try WakeSignal() }
        let shared = self.shared
        let failure = self.startThread { Self.run(shared, wake) }
        guard failure == 0 else { throw SystemCallFailure(call: "pthread_create", number: failure) }
        state.wake = wake
        state.threads += 1
    }

    private static func run(_ shared: Shared, _ wake: WakeSignal) {
        SystemThread.describe(name: shared.name, niceness: shared.niceness)
        while true {
            let (work, isOver, hasMore) = shared.state.withLockedValue { state in
                guard !state.waiting.isEmpty else {
                    if state.isClosed { state.threads -= 1 } else { state.idle += 1 }
                    return (nil as (@Sendable () -> Void)?, state.isClosed, state.isClosed && state.threads > 0)
                }
                return (state.waiting.removeFirst(), false, state.idle > 0 && !state.waiting.isEmpty)
            }
            // A signal wakes one thread, which passes it on to the others.
            if hasMore { wake.ring() }
            if let work {
                work()
            } else if isOver {
                let ended = shared.state.withLockedValue { state in
                    defer { if state.threads == 0 { state.whenEnded = [] } }
                    return state.threads == 0 ? state.whenEnded : []
                }
                for continuation in ended { continuation.resume() }
                return
            } else {
                wake.wait(atMost: .max)
                shared.state.withLockedValue { $0.idle -= 1 }
            }
        }
    }
}
