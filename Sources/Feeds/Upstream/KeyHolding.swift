package import Platform

/// The state that programs with the same key share, and that a program keeps across a restart.
///
/// A replay uses none of it.
package struct KeyHolding: Sendable {
    /// Keeps a second program with the key from connecting.
    package var ownership: (any KeyOwnership)?
    /// Keeps a restarted program from connecting at once.
    package var attemptStore: (any AttemptStore)?
    /// Run the work of the two that may wait for the disk.
    package var lockDisk: any DiskWorker
    package var attemptsDisk: any DiskWorker
    /// Takes a warning of one line.
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

    /// Holds nothing: no lock and no attempts are kept.
    package static var none: KeyHolding {
        let disk = WorkQueue("none")
        return KeyHolding(ownership: nil, attemptStore: nil, lockDisk: disk, attemptsDisk: disk, warn: { _ in })
    }
}
