import Glibc
import Measurements

/// How many files and sockets the program may have open, and how many of them are a relay's connections: a flood of these leaves
/// descriptors for the rest of the program, the upstream's next connection above all.
package enum DescriptorBudget {
    /// With fewer than these no command can be relied on: the event loops, the feed, the recording, the history and a relay
    /// with a few clients have some fifty open.
    package static let minimumOfAll = 64
    /// What the rest of the program may still open: sockets of the feed, files, the resolver.
    static let reserve = 32
    /// A relay has at least so many places, whatever the limit.
    static let least = 8

    /// Raises the process's limit of open files as far as it may be and is needed.
    ///
    /// - Returns: the limit as it is then; `nil` where it is not known.
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

    /// Raises the limit as far as it may be and is needed, and answers how many connections fit.
    ///
    /// Reads `/proc`, so not on an event loop.
    static func connections(wanted: Int) -> Int {
        let open = ProcessFigures.read().openDescriptors.map { Int($0) } ?? 64
        guard let limit = self.raise(to: open + self.reserve + wanted) else { return wanted }
        return self.connections(wanted: wanted, limit: limit, open: open)
    }

    static func connections(wanted: Int, limit: Int, open: Int) -> Int {
        max(Self.least, min(wanted, limit - open - Self.reserve))
    }
}
