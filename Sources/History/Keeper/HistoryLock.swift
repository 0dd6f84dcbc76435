import Glibc

/// The right to write a history: held by one program at a time, and gone with it.
final class HistoryLock: Sendable {
    private let descriptor: Int32

    init(path: String) throws(HistoryFailure) {
        self.descriptor = open("\(path).lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard self.descriptor >= 0 else {
            throw HistoryFailure(.world, "\(path).lock: \(String(cString: strerror(errno)))")
        }
    }

    deinit { if self.descriptor >= 0 { close(self.descriptor) } }

    /// Takes it, if nobody else has it.
    func take() -> Bool { flock(self.descriptor, LOCK_EX | LOCK_NB) == 0 }

    func release() { _ = flock(self.descriptor, LOCK_UN) }
}
