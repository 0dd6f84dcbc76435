package import Feeds
import Glibc
import NIOConcurrencyHelpers
package import NIOCore
import Platform
import Recordings

/// A disk that hangs when the test says so, until it lets it go on: whoever waits for it waits with the whole thread.
///
/// Files are those of the machine's own disk meanwhile.
package final class HangingDisk: SegmentDisk {
    private let isHanging = ConditionLock(value: false)
    private let waiting = NIOLockedValueBox(0)

    package init() {}

    /// How many threads wait now.
    package var waitingThreads: Int { self.waiting.withLockedValue { $0 } }

    package func hang() { self.set(true) }
    package func goOn() { self.set(false) }

    private func set(_ isHanging: Bool) {
        self.isHanging.lock()
        self.isHanging.unlock(withValue: isHanging)
    }

    /// Returns when the disk does not hang.
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

/// A key's lock on such a disk.
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

/// A disk that answers before the asking is over, for tests whose time is their own.
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
    /// Kept on a disk that answers before the asking is over.
    package init(ownership: (any KeyOwnership)? = nil, ledger: (any AttemptLedger)? = nil) {
        let disk = InstantDisk()
        self.init(ownership: ownership, ledger: ledger, lockDisk: disk, ledgerDisk: disk, warn: { _ in })
    }
}
