import Glibc

/// What keeps a key in this process from those who look at the process from outside.
enum ProcessSecrecy {
    /// Leaves no memory image behind after a crash: the key would be in it.
    ///
    /// The handlers that systems pipe images to (systemd-coredump, apport) obey the limit too. A debugger still works.
    static func forbidCoreDumps() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = 0
        limit.rlim_max = 0
        // A limit can always be lowered.
        _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }

    /// Empties a variable where the kernel keeps it, so that `/proc/PID/environ` shows it no more, and no program that
    /// this one might start inherits it.
    ///
    /// Not `unsetenv`, which leaves the text where it is. Called once, before anybody else reads the variable.
    static func wipe(_ entry: UnsafeMutablePointer<CChar>, behind name: String) {
        let prefix = "\(name)="
        guard String(cString: entry).hasPrefix(prefix) else { return }
        let value = entry + prefix.utf8.count
        memset(value, 0, strlen(value))
    }
}
