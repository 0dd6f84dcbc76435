import Feeds
import NIOCore
import Platform

/// The files of the state directory, which outlive a killed program.
///
/// Unchecked, because everything runs on the thread of the harness, which is the loop's too.
final class ProgramFiles: @unchecked Sendable {
    /// The attempts to connect, and the requests to the REST service.
    var attempts: SavedBackoff?
    var requests: SavedBackoff?

    /// Returns the holding of one run of the program. A dead program changes nothing any more.
    func holding(of life: ProgramLife, _ file: ReferenceWritableKeyPath<ProgramFiles, SavedBackoff?>) -> KeyHolding {
        KeyHolding(
            ownership: nil,
            attemptStore: Attempts(files: self, life: life, file: file),
            lockDisk: ImmediateDisk(),
            attemptsDisk: ImmediateDisk(),
            warn: { _ in }
        )
    }

    private final class Attempts: AttemptStore, @unchecked Sendable {
        private let files: ProgramFiles
        private let file: ReferenceWritableKeyPath<ProgramFiles, SavedBackoff?>
        private weak var life: ProgramLife?

        init(
            files: ProgramFiles,
            life: ProgramLife,
            file: ReferenceWritableKeyPath<ProgramFiles, SavedBackoff?>
        ) {
            self.files = files
            self.file = file
            self.life = life
        }

        private var isWritable: Bool { self.life?.isDead == false }

        func load() -> SavedBackoff? { self.files[keyPath: self.file] }
        func save(_ memory: SavedBackoff) { if self.isWritable { self.files[keyPath: self.file] = memory } }
        func clear() { if self.isWritable { self.files[keyPath: self.file] = nil } }
    }
}

/// A disk that answers at once, on the loop.
private struct ImmediateDisk: DiskWorker {
    func perform<Answer: Sendable>(
        on loop: any EventLoop,
        _ work: @escaping @Sendable () -> Answer,
        then: @escaping (Answer) -> Void
    ) {
        let bound = NIOLoopBound(then, eventLoop: loop)
        let answer = work()
        loop.execute { bound.value(answer) }
    }

    func submit(_ work: @escaping @Sendable () -> Void) { work() }
}
