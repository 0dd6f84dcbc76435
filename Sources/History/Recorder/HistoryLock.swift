import Glibc

/// The right to write a history. One program holds it at a time, and the kernel releases it with the program.
final class HistoryLock: Sendable {
    private let descriptor: Int32

    init(path: String) throws(HistoryFailure) {
        self.descriptor = open("\(path).lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard self.descriptor >= 0 else {
            throw HistoryFailure(.world, "\(path).lock: \(String(cString: strerror(errno)))")
        }
    }

    deinit { if self.descriptor >= 0 { close(self.descriptor) } }

    /// Takes the lock if no other program has it; returns whether this program holds it.
    func take() -> Bool { flock(self.descriptor, LOCK_EX | LOCK_NB) == 0 }

    func release() { _ = flock(self.descriptor, LOCK_UN) }
}
