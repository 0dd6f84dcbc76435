import Glibc
import NIOConcurrencyHelpers
import Platform

/// A bounded queue of lines for standard error, and the thread that writes them in order.
///
/// A reader that pauses blocks that thread and nothing else. While the queue is full, new lines are dropped; when the reader
/// goes on, one line at their place gives their number.
final class ErrorLineQueue: Sendable {
    private struct State {
        var lines: [String] = []
        /// The size of the lines.
        var bytes = 0
        /// The number of lines dropped behind the last one in `lines`.
        var dropped = 0
        /// Whether the thread has work.
        var isWriting = false
    }

    private let descriptor: Int32
    private let capacity: Int
    private let thread = WorkQueue("errors")
    private let state = NIOLockedValueBox(State())

    /// Starts the thread.
    ///
    /// - Parameter capacity: the most bytes that wait, apart from those that are being written.
    /// - Throws: ``SystemCallFailure`` when the process can have no more threads or descriptors.
    init(_ descriptor: Int32, capacity: Int = 256 * 1_024) throws(SystemCallFailure) {
        self.descriptor = descriptor
        self.capacity = capacity
        try self.thread.start()
    }

    /// Adds a line, which ends with LF. From any thread; never waits.
    func append(_ line: String) {
        let begins = self.state.withLockedValue { state in
            let size = line.utf8.count
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

    /// Writes until the queue is empty. One call a line, because a pipe keeps only short writes together (`PIPE_BUF`).
    private func write() {
        while true {
            let taken = self.state.withLockedValue { state in
                let taken = state
                state = State(isWriting: !taken.lines.isEmpty)
                return taken
            }
            if taken.lines.isEmpty { return }
            for line in taken.lines { self.put(line) }
            if taken.dropped > 0 {
                let words = taken.dropped == 1 ? "1 line of the log was" : "\(taken.dropped) lines of the log were"
                self.put("tickertape: \(words) left out; standard error was not read fast enough\n")
            }
        }
    }

    private func put(_ line: String) {
        _ = Array(line.utf8).withUnsafeBytes { WholeWrite.write($0, to: self.descriptor) }
    }
}
