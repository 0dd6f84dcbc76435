import Glibc
import NIOConcurrencyHelpers
import Recordings
import Testing
import TickertapeTesting

@Suite("The lock of a recording that is being written")
struct RecordingLockTests {
    /// A thread that opens each file as soon as it exists and briefly takes its lock, as a starting program does.
    private final class Looker: Sendable {
        let path = NIOLockedValueBox<String?>(nil)
        let wins = NIOLockedValueBox(0)
        let isOver = NIOLockedValueBox(false)

        func look() {
            var last = ""
            while !self.isOver.withLockedValue({ $0 }) {
                guard let path = self.path.withLockedValue({ $0 }), path != last else { continue }
                let file = open(path, O_RDONLY | O_CLOEXEC)
                guard file >= 0 else { continue }
                last = path
                if flock(file, LOCK_EX | LOCK_NB) == 0 {
                    self.wins.withLockedValue { $0 += 1 }
                    // Long enough that a recorder without a wait would go on without the lock.
                    usleep(2_000)
                }
                close(file)
            }
        }
    }

    @Test("is waited for where another program opens the new file at that moment")
    func waits() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let looker = Looker()
        let thread = try self.begin(looker)
        let disk = SystemDisk()
        var unlocked = 0
        var number = 0
        let end = ContinuousClock.now + .seconds(5)
        // The lock goes to the first; the looker wins now and then, and with a single processor perhaps never.
        while looker.wins.withLockedValue({ $0 }) < 3, ContinuousClock.now < end {
            number += 1
            let path = "\(folder.path)/\(number)"
            looker.path.withLockedValue { $0 = path }
            let output = try disk.create(path)
            let file = open(path, O_RDONLY | O_CLOEXEC)
            if flock(file, LOCK_EX | LOCK_NB) == 0 { unlocked += 1 }
            close(file)
            output.close()
            unlink(path)
        }
        looker.isOver.withLockedValue { $0 = true }
        pthread_join(thread, nil)
        #expect(unlocked == 0, "of \(number)")
    }

    private func begin(_ looker: Looker) throws -> pthread_t {
        var thread = pthread_t()
        let result = pthread_create(
            &thread,
            nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Looker>.fromOpaque(context).takeRetainedValue().look()
                return nil
            },
            Unmanaged.passRetained(looker).toOpaque()
        )
        try #require(result == 0)
        return thread
    }
}
