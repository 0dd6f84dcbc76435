import Glibc
import NIOConcurrencyHelpers
import Platform

/// A bounded queue of entries for standard error, and the thread that writes them in order.
///
/// A reader that pauses blocks that thread and nothing else. While the queue is full, new lines are dropped; when the reader
/// goes on, one line at their place gives their number.
final class ErrorLineQueue: Sendable {
    private struct State {
        var lines: [ErrorEntry] = []
        /// The size of the lines.
        var bytes = 0
        /// The number of lines dropped behind the last one in `lines`.
        var dropped = 0
        /// Whether the thread has work.
        var isWriting = false
    }

    private let output: NIOLockedValueBox<ErrorOutput>
    private let capacity: Int
    private let thread = WorkQueue("errors")
    private let state = NIOLockedValueBox(State())

    /// Starts the thread.
    ///
    /// - Parameter capacity: the most bytes that wait, apart from those that are being written.
    /// - Throws: ``SystemCallFailure`` when the process can have no more threads or descriptors.
    init(_ output: ErrorOutput, capacity: Int = 256 * 1_024) throws(SystemCallFailure) {
        self.output = NIOLockedValueBox(output)
        self.capacity = capacity
        try self.thread.start()
    }

    /// Writes in another form from now on.
    func setForm(_ form: LogForm) { self.output.withLockedValue { $0.form = form } }

    /// Adds an entry. From any thread; never waits.
    func append(_ line: ErrorEntry) {
        let begins = self.state.withLockedValue { state in
            let size = line.size
            guard state.lines.isEmpty || state.dropped == 0 && state.bytes + size <= self.capacity else {
                state.dropped += 1
                return false
            }
            state.lines.append(line)
            state.bytes += size
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { self.thread.submit { self.write() } }
    }

    /// Waits until all lines added before are written; returns whether that took at most `limit`.
    func flush(within limit: Duration) async -> Bool { await self.thread.answer(within: limit) {} != nil }

    /// Writes until the queue is empty.
    private func write() {
        while true {
            let taken = self.state.withLockedValue { state in
                let taken = state
                state = State(isWriting: !taken.lines.isEmpty)
                return taken
            }
            if taken.lines.isEmpty { return }
            let output = self.output.withLockedValue { $0 }
            for line in taken.lines { output.put(line) }
            if taken.dropped > 0 {
                let words = taken.dropped == 1 ? "1 line of the log was" : "\(taken.dropped) lines of the log were"
                output.put(
                    .record(
                        LogRecord(
                            line: "\(words) left out; standard error was not read fast enough",
                            level: .warning,
                            time: output.clock()
                        )
                    )
                )
            }
        }
    }
}
