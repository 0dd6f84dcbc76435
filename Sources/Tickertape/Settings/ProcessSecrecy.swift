import Glibc

/// The protection of a key in this process's memory against other processes.
enum ProcessSecrecy {
    /// Disables core dumps, which would contain the key.
    ///
    /// The handlers to which systems pipe core dumps (systemd-coredump, apport) obey the limit too. A debugger still
    /// works.
    static func forbidCoreDumps() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = 0
        limit.rlim_max = 0
        // A limit can always be lowered.
        _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }

    /// Clears a variable in the process's original environment block. `/proc/PID/environ` then no longer shows it, and
    /// no child process inherits it.
    ///
    /// `unsetenv` would leave the text in memory. Must be called once, before any other code reads the variable.
    static func wipe(_ entry: UnsafeMutablePointer<CChar>, behind name: String) {
        let prefix = "\(name)="
        guard String(cString: entry).hasPrefix(prefix) else { return }
        let value = entry + prefix.utf8.count
        memset(value, 0, strlen(value))
    }
}
