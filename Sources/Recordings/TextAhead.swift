import NIOConcurrencyHelpers
import NIOCore
import Platform

/// A recording's text, decompressed by a thread a little ahead of its reader.
///
/// Returns the same parts and errors in the same order as without the thread. Holds at most ``depth`` of them, about
/// 2 MiB.
///
/// Unchecked, because the compiler does not know that only the thread uses ``bytes``.
final class TextAhead: @unchecked Sendable {
    /// One part, the end or an error.
    typealias Part = Result<RecordingBytes.Part?, RecordingFailure>

    private struct State {
        var parts: [Part] = []
        /// Whether reading has ended: with the last part, or because the reader is gone.
        var isOver = false
    }

    private static let depth = 8

    private let bytes: RecordingBytes
    private let state = NIOLockedValueBox(State())
    private let thread = WorkQueue("read-ahead")
    /// Wakes the reader when a part is available.
    private let filled: WakeSignal

    /// Starts the thread.
    ///
    /// - Parameter bytes: used by the thread alone from now on.
    /// - Throws: ``SystemCallFailure`` when the process can have no more threads or descriptors.
    init(_ bytes: RecordingBytes) throws(SystemCallFailure) {
        self.bytes = bytes
        self.filled = try WakeSignal()
        try self.thread.start()
        for _ in 0..<Self.depth { self.thread.submit { self.fill() } }
    }

    /// Reads one part; runs on the thread.
    private func fill() {
        guard !self.state.withLockedValue({ $0.isOver }) else { return }
        let part: Part
        do throws(RecordingFailure) {
            part = .success(try self.bytes.next())
        } catch {
            part = .failure(error)
        }
        self.state.withLockedValue { state in
            state.parts.append(part)
            if Self.isLast(part) { state.isOver = true }
        }
        self.filled.ring()
    }

    /// Whether no part follows.
    static func isLast(_ part: Part) -> Bool {
        guard case .success(.some) = part else { return true }
        return false
    }

    /// Waits for the next part. Must not be called after the last.
    func next() -> Part {
        while true {
            let part = self.state.withLockedValue { state in
                state.parts.isEmpty ? nil : state.parts.removeFirst()
            }
            if let part {
                self.thread.submit { self.fill() }
                return part
            }
            self.filled.wait(atMost: .max)
        }
    }

    /// Ends reading after the part in progress.
    func stop() { self.state.withLockedValue { $0.isOver = true } }
}
