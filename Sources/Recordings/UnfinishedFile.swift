import Glibc
import Synchronization

/// The new file that a command is making, for a signal that ends the program before it is whole: half of it would be taken for
/// one, and be in the way of the next try.
///
/// The newest one counts: a command makes one at a time.
package final class UnfinishedFile {
    /// The address of the newest one's path, as C has it; 0 where there is none.
    private static let newest = Atomic<UInt>(0)

    private let path: UnsafeMutablePointer<CChar>?

    /// Begins with a file that this process has just made.
    package init(_ path: String) {
        self.path = strdup(path)
        Self.newest.store(UInt(bitPattern: self.path), ordering: .sequentiallyConsistent)
    }

    // The file is whole, or was removed.
    deinit {
        let own = UInt(bitPattern: self.path)
        // Where a signal has taken it, it still reads it.
        if Self.newest.compareExchange(expected: own, desired: 0, ordering: .sequentiallyConsistent).exchanged {
            free(self.path)
        }
    }

    /// Removes the newest one, if there is one; a signal handler may call it, once something else has.
    package static func remove() {
        let address = Self.newest.exchange(0, ordering: .sequentiallyConsistent)
        if let path = UnsafePointer<CChar>(bitPattern: address) { unlink(path) }
    }
}
