import Glibc

/// What the environment variables and the process say of where the program runs.
struct ProcessEnvironment: Sendable {
    /// The value of an environment variable by its name.
    var variable: @Sendable (String) -> String?
    var userID: UInt32
    var processID: Int32
    var parentID: Int32
    /// Whether a person could see what it prints or type to it.
    var hasTerminal: Bool

    static var current: ProcessEnvironment {
        ProcessEnvironment(
            variable: { name in getenv(name).map { String(cString: $0) } },
            userID: geteuid(),
            processID: getpid(),
            parentID: getppid(),
            hasTerminal: [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].contains { isatty($0) == 1 }
        )
    }

    /// Whether systemd started it as a service that nobody looks at.
    ///
    /// `INVOCATION_ID` alone is inherited by everything that a unit starts, a desktop's shells among them;
    /// `SYSTEMD_EXEC_PID` (since systemd 248) names the process that the manager itself started.
    var isService: Bool {
        guard !self.hasTerminal else { return false }
        if let process = self.variable("SYSTEMD_EXEC_PID") { return process == "\(self.processID)" }
        return self.parentID == 1
            && (self.variable("INVOCATION_ID") != nil || self.variable("NOTIFY_SOCKET") != nil)
    }

    /// The folder for what counts over a restart; `nil` when the system names none.
    var stateFolder: String? {
        self.folder(of: "STATE_DIRECTORY")
            ?? self.path(of: "XDG_STATE_HOME").map { "\($0)/tickertape" }
            ?? self.path(of: "HOME").map { "\($0)/.local/state/tickertape" }
    }

    /// The folder for what can be had again; `nil` when the system names none.
    var cacheFolder: String? {
        self.folder(of: "CACHE_DIRECTORY")
            ?? self.path(of: "XDG_CACHE_HOME").map { "\($0)/tickertape" }
            ?? self.path(of: "HOME").map { "\($0)/.cache/tickertape" }
    }

    /// The folders for what counts while the program runs, the best first.
    ///
    /// A program that was started without the session's variables, by cron for one, must find the same folder as the one
    /// that has them.
    var runtimeFolders: [String] {
        if let folder = self.folder(of: "RUNTIME_DIRECTORY") { return [folder] }
        var folders: [String] = []
        if let runtime = self.path(of: "XDG_RUNTIME_DIR") { folders.append("\(runtime)/tickertape") }
        folders.append("/run/user/\(self.userID)/tickertape")
        folders.append("/tmp/tickertape-\(self.userID)")
        return folders
    }

    /// A path in a variable; a relative one counts as none (XDG Base Directory Specification 0.8).
    private func path(of name: String) -> String? {
        self.variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    /// The first of systemd's folders (systemd.exec(5)): they are separated by colons.
    private func folder(of name: String) -> String? {
        self.path(of: name).flatMap { $0.split(separator: ":").first.map(String.init) }
    }
}
