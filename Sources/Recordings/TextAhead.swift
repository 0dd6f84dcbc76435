import NIOConcurrencyHelpers
import NIOCore
import Platform

/// A recording's text, decompressed by a thread a little ahead of its reader.
///
/// Returns the same text in the same order, with the same damage and errors as without the thread. Holds at most
/// ``depth`` chunks, about 2 MiB.
///
/// Unchecked, because the compiler does not know that only the thread uses ``bytes``.
final class TextAhead: @unchecked Sendable {
    /// One chunk or the end, and the damage found before it.
    struct Part {
        var text: Result<ByteBuffer?, RecordingFailure>
        var damage: [RecordingBytes.Damage]
        var damagedParts: Int

        var isLast: Bool {
            guard case .success(.some) = self.text else { return true }
            return false
        }
    }

    private struct State {
        var parts: [Part] = []
        /// Whether reading has ended: with the last part, or because the reader is gone.
        var isOver = false
        /// How many entries of the damage are in the parts so far.
        var reported = 0
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
        guard let reported = self.state.withLockedValue({ $0.isOver ? nil : $0.reported }) else { return }
        let text: Result<ByteBuffer?, RecordingFailure>
        do throws(RecordingFailure) {
            text = .success(try self.bytes.next())
        } catch {
            text = .failure(error)
        }
        let part = Part(
            text: text,
            damage: Array(self.bytes.damage.dropFirst(reported)),
            damagedParts: self.bytes.damagedParts
        )
        self.state.withLockedValue { state in
            state.parts.append(part)
            state.reported += part.damage.count
            if part.isLast { state.isOver = true }
        }
        self.filled.ring()
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
