package import Platform
import Recordings

/// What makes a feed a good neighbour of other programs with the same key, and of itself before and after a restart.
///
/// A replay has none of it.
package struct KeyHolding: Sendable {
    /// Keeps a second program from connecting.
    package var ownership: (any KeyOwnership)?
    /// Keeps a restarted program from connecting at once.
    package var ledger: (any AttemptLedger)?
    /// Does what waits for the disk of the one and of the other.
    package var lockDisk: any DiskWorker
    package var ledgerDisk: any DiskWorker
    /// Is told in one line what does not work.
    package var warn: @Sendable (String) -> Void

    package init(
        ownership: (any KeyOwnership)?,
        ledger: (any AttemptLedger)?,
        lockDisk: any DiskWorker,
        ledgerDisk: any DiskWorker,
        warn: @escaping @Sendable (String) -> Void
    ) {
        self.ownership = ownership
        self.ledger = ledger
        self.lockDisk = lockDisk
        self.ledgerDisk = ledgerDisk
        self.warn = warn
    }

    /// Nothing is kept, and no disk waited for.
    package static var none: KeyHolding {
        let disk = WorkQueue("none")
        return KeyHolding(ownership: nil, ledger: nil, lockDisk: disk, ledgerDisk: disk, warn: { _ in })
    }
}
