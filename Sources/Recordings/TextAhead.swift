import Glibc
import NIOCore

/// A recording's text that a thread of its own decompresses a little ahead of whoever reads it.
///
/// What comes, comes in the same order and with the same damage and errors as without it. It never holds more than
/// ``depth`` chunks, about 2 MiB, and ends with its owner.
///
/// Unchecked, because the compiler does not know what a mutex of pthread guards.
final class TextAhead: @unchecked Sendable {
    /// One chunk, or the end, and what was found to be damaged on the way to it.
    struct Part {
        var text: Result<ByteBuffer?, RecordingFailure>
        var damage: [RecordingBytes.Damage]
        var damagedParts: Int

        var isLast: Bool {
            guard case .success(.some) = self.text else { return true }
            return false
        }
    }

    private static let depth = 8

    /// The thread's alone.
    private let bytes: RecordingBytes
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    /// Something came; something was taken, or no more is wanted.
    private let filled = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let emptied = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    // Under the mutex.
    private var parts: [Part] = []
    private var isStopped = false
    private var thread: pthread_t?

    private init(_ bytes: RecordingBytes) {
        self.bytes = bytes
        pthread_mutex_init(self.mutex, nil)
        pthread_cond_init(self.filled, nil)
        pthread_cond_init(self.emptied, nil)
    }

    deinit {
        pthread_cond_destroy(self.emptied)
        pthread_cond_destroy(self.filled)
        pthread_mutex_destroy(self.mutex)
        for condition in [self.emptied, self.filled] { condition.deallocate() }
        self.mutex.deallocate()
    }

    /// Begins; `nil` where there is no thread to be had.
    ///
    /// - Parameter bytes: nobody else may use them from now on.
    static func start(_ bytes: RecordingBytes) -> TextAhead? {
        let ahead = TextAhead(bytes)
        var thread = pthread_t()
        let context = Unmanaged.passRetained(ahead)
        let result = pthread_create(
            &thread,
            nil,
            { context in
                guard let context else { return nil }
                Unmanaged<TextAhead>.fromOpaque(context).takeRetainedValue().fill()
                return nil
            },
            context.toOpaque()
        )
        guard result == 0 else {
            context.release()
            return nil
        }
        ahead.thread = thread
        return ahead
    }

    /// The thread's work.
    private func fill() {
        var told = 0
        while true {
            let text: Result<ByteBuffer?, RecordingFailure>
            do throws(RecordingFailure) {
                text = .success(try self.bytes.next())
            } catch {
                text = .failure(error)
            }
            let part = Part(
                text: text,
                damage: Array(self.bytes.damage.dropFirst(told)),
                damagedParts: self.bytes.damagedParts
            )
            told = self.bytes.damage.count
            pthread_mutex_lock(self.mutex)
            while self.parts.count >= Self.depth, !self.isStopped { pthread_cond_wait(self.emptied, self.mutex) }
            let mustEnd = self.isStopped || part.isLast
            self.parts.append(part)
            pthread_cond_signal(self.filled)
            pthread_mutex_unlock(self.mutex)
            if mustEnd { return }
        }
    }

    /// The next part; not to be called behind the last.
    func next() -> Part {
        pthread_mutex_lock(self.mutex)
        defer { pthread_mutex_unlock(self.mutex) }
        while self.parts.isEmpty { pthread_cond_wait(self.filled, self.mutex) }
        let part = self.parts.removeFirst()
        pthread_cond_signal(self.emptied)
        return part
    }

    /// Ends the thread; returns when it has ended.
    func stop() {
        pthread_mutex_lock(self.mutex)
        self.isStopped = true
        pthread_cond_signal(self.emptied)
        pthread_mutex_unlock(self.mutex)
        if let thread { pthread_join(thread, nil) }
        self.thread = nil
    }
}
