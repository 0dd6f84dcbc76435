import Glibc
import Measurements

/// The split of the process's file descriptors between a relay's connections and the rest of the program. A flood of
/// connections leaves descriptors for the rest, above all for the next upstream connection.
package enum DescriptorBudget {
    /// The smallest usable limit. The event loops, the feed, the recording, the history and a relay with a few clients
    /// use about fifty.
    package static let minimumOfAll = 64
    /// The descriptors reserved for the rest of the program: sockets of the feed, files, the resolver.
    static let reserve = 32
    /// The fewest connections of a relay, whatever the limit.
    static let least = 8

    /// Returns the limit of open files that a relay with so many connections needs.
    package static func needed(clients: Int) -> Int { self.minimumOfAll + self.reserve + clients }

    /// Raises the process's limit of open files to the needed number, as far as the hard limit allows.
    ///
    /// - Returns: the resulting limit; `nil` if it is unknown.
    package static func raise(to needed: Int) -> Int? {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return nil }
        if limit.rlim_cur < rlim_t(needed) {
            var raised = limit
            raised.rlim_cur = min(limit.rlim_max, rlim_t(needed))
            if setrlimit(resource, &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur)
    }

    /// Raises the limit as far as needed and allowed; returns how many connections fit.
    ///
    /// Reads `/proc`, so it must not be called on an event loop.
    static func connections(wanted: Int) -> Int {
        let open = ProcessFigures.read().openDescriptors.map { Int($0) } ?? 64
        guard let limit = self.raise(to: open + self.reserve + wanted) else { return wanted }
        return self.connections(wanted: wanted, limit: limit, open: open)
    }

    static func connections(wanted: Int, limit: Int, open: Int) -> Int {
        max(Self.least, min(wanted, limit - open - Self.reserve))
    }
}
