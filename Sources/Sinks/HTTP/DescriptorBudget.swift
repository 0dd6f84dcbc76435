import Glibc

/// How many connections a relay may hold, so that a flood of them leaves descriptors for the rest of the program: the
/// upstream's next connection, above all.
enum DescriptorBudget {
    /// What the rest of the program may still open: sockets of the feed, files, the resolver.
    static let reserve = 32
    /// A relay has at least so many places, whatever the limit.
    static let least = 8

    /// Raises the process's limit of open files as far as it may be and is needed, and answers how many connections fit.
    ///
    /// Reads `/proc`, so not on an event loop.
    static func connections(wanted: Int) -> Int {
        let open = ProcessFigures.read().openDescriptors.map { Int($0) } ?? 64
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return wanted }
        let needed = rlim_t(open + Self.reserve + wanted)
        if limit.rlim_cur < needed {
            var raised = limit
            raised.rlim_cur = min(limit.rlim_max, needed)
            if setrlimit(resource, &raised) == 0 { limit = raised }
        }
        return Self.connections(wanted: wanted, limit: Int(clamping: limit.rlim_cur), open: open)
    }

    static func connections(wanted: Int, limit: Int, open: Int) -> Int {
        max(Self.least, min(wanted, limit - open - Self.reserve))
    }
}
