import Glibc
import Logging

/// The number of files and connections that the system lets this process have open.
enum DescriptorLimit {
    /// Raises the soft limit to the hard one, and warns when even that is too low.
    ///
    /// The soft limit is often 1,024, for the sake of programs that use `select`, which this one does not.
    static func raise(for needed: Int, logger: Logger) {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return }
        if limit.rlim_cur < limit.rlim_max {
            let before = limit.rlim_cur
            limit.rlim_cur = limit.rlim_max
            if setrlimit(resource, &limit) != 0 { limit.rlim_cur = before }
        }
        guard limit.rlim_cur < needed else { return }
        logger.warning(
            "the system allows fewer connections than relay.max-clients",
            metadata: ["open-files": "\(limit.rlim_cur)", "needed": "\(needed)"]
        )
    }
}
