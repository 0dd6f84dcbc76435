import CLinux
import Glibc

/// A thread that writes files beside the feed.
package enum DiskThread {
    /// How far such a thread stands behind those that carry prices, where the processor does not suffice for all.
    ///
    /// Linux gives each thread a niceness of its own. A tenth of a share is a hundred times what a writer needs.
    package static let niceness: Int32 = 10

    /// Names the calling thread, and ranks it.
    ///
    /// - Parameter name: for `top -H` and the like; 15 bytes at most.
    package static func begin(_ name: String, niceness: Int32 = Self.niceness) {
        tickertape_name_thread(name)
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
    }
}
