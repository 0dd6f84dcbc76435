package import Platform
import Recordings

/// What makes a feed a good neighbour of other programs with the same key, and of itself before and after a restart.
///
/// A replay has none of it.
package struct KeyHolding: Sendable {
    /// Keeps a second program from connecting.
    package var ownership: (any KeyOwnership)?
    /// Keeps a restarted program from connecting at once.
    package var attemptStore: (any AttemptStore)?
    /// Does what waits for the disk of the one and of the other.
    package var lockDisk: any DiskWorker
    package var attemptsDisk: any DiskWorker
    /// Is told in one line what does not work.
    package var warn: @Sendable (String) -> Void

    package init(
        ownership: (any KeyOwnership)?,
        attemptStore: (any AttemptStore)?,
        lockDisk: any DiskWorker,
        attemptsDisk: any DiskWorker,
        warn: @escaping @Sendable (String) -> Void
    ) {
        self.ownership = ownership
        self.attemptStore = attemptStore
        self.lockDisk = lockDisk
        self.attemptsDisk = attemptsDisk
        self.warn = warn
    }

    /// Nothing is kept, and no disk waited for.
    package static var none: KeyHolding {
        let disk = WorkQueue("none")
        return KeyHolding(ownership: nil, attemptStore: nil, lockDisk: disk, attemptsDisk: disk, warn: { _ in })
    }
}
