package import Feeds
import Glibc
import NIOConcurrencyHelpers
package import NIOCore
import Platform

/// A disk that hangs on request, until it is released. A caller blocks its whole thread.
///
/// The files are those of the machine's own disk.
package final class HangingDisk: SegmentDisk {
    private let isHanging = ConditionLock(value: false)
    private let waiting = NIOLockedValueBox(0)

    package init() {}

    /// The number of threads that are blocked.
    package var waitingThreads: Int { self.waiting.withLockedValue { $0 } }

    package func hang() { self.set(true) }
    package func goOn() { self.set(false) }

    private func set(_ isHanging: Bool) {
        self.isHanging.lock()
        self.isHanging.unlock(withValue: isHanging)
    }

    /// Returns as soon as the disk does not hang.
    package func wait() {
        self.waiting.withLockedValue { $0 += 1 }
        self.isHanging.lock(whenValue: false)
        self.isHanging.unlock()
        self.waiting.withLockedValue { $0 -= 1 }
    }

    private func after<Answer>(_ step: (SystemSegmentDisk) -> Answer) -> Answer {
        self.wait()
        return step(SystemSegmentDisk())
    }

    package func sync(_ descriptor: Int32, of path: String) -> Bool { self.after { $0.sync(descriptor, of: path) } }
    package func rename(_ path: String, to name: String) -> Bool { self.after { $0.rename(path, to: name) } }
    package func replace(_ path: String, with draft: String) -> Bool {
        self.after { $0.replace(path, with: draft) }
    }
    package func link(_ path: String, as name: String) -> Bool { self.after { $0.link(path, as: name) } }
    package func unlink(_ path: String) -> Bool { self.after { $0.unlink(path) } }
    package func syncFolder(_ folder: String) -> Bool { self.after { $0.syncFolder(folder) } }
}

/// The lock of a key on such a disk.
package struct HangingLock: KeyOwnership {
    private let lock: KeyLock
    private let disk: HangingDisk

    package init(_ lock: KeyLock, on disk: HangingDisk) {
        self.lock = lock
        self.disk = disk
    }

    package func claim() -> KeyClaim {
        self.disk.wait()
        return self.lock.claim()
    }

    package func release() {
        self.disk.wait()
        self.lock.release()
    }
}

/// A disk that finishes every operation within the call, for tests that control time.
package struct InstantDisk: DiskWorker {
    package init() {}

    package func perform<Answer: Sendable>(
        on loop: any EventLoop,
        _ work: @escaping @Sendable () -> Answer,
        then: @escaping (Answer) -> Void
    ) {
        then(work())
    }

    package func submit(_ work: @escaping @Sendable () -> Void) { work() }
}

extension KeyHolding {
    /// Creates one on a disk that finishes every operation within the call.
    package init(ownership: (any KeyOwnership)? = nil, attemptStore: (any AttemptStore)? = nil) {
        let disk = InstantDisk()
        self.init(ownership: ownership, attemptStore: attemptStore, lockDisk: disk, attemptsDisk: disk, warn: { _ in })
    }
}
