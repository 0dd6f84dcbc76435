import Glibc
import Synchronization

/// The new file that a command is writing, registered for a signal that ends the program.
///
/// An incomplete file would be mistaken for a whole one and block the next attempt, so the signal handler removes it.
/// Only the newest is registered: a command writes one at a time.
package final class UnfinishedFile {
    /// The address of the newest one's path, a C string; 0 without one.
    private static let newest = Atomic<UInt>(0)

    private let path: UnsafeMutablePointer<CChar>?

    /// Registers a file that this process has just created.
    package init(_ path: String) {
        self.path = strdup(path)
        Self.newest.store(UInt(bitPattern: self.path), ordering: .sequentiallyConsistent)
    }

    // Unregisters the file, which is complete or removed.
    deinit {
        let own = UInt(bitPattern: self.path)
        // After a signal has taken the address, the handler may still read it, so that it is not freed.
        if Self.newest.compareExchange(expected: own, desired: 0, ordering: .sequentiallyConsistent).exchanged {
            free(self.path)
        }
    }

    /// Removes the registered file, if any. Async-signal-safe; a handler may call it although another has done so.
    package static func remove() {
        let address = Self.newest.exchange(0, ordering: .sequentiallyConsistent)
        if let path = UnsafePointer<CChar>(bitPattern: address) { unlink(path) }
    }
}
