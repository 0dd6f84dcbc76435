import Glibc

/// The process's environment: variables, user and terminal.
struct ProcessEnvironment: Sendable {
    /// Returns the value of an environment variable.
    var variable: @Sendable (String) -> String?
    var userID: UInt32
    var processID: Int32
    var parentID: Int32
    /// Whether standard output, error or input is a terminal.
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

    /// Returns the entries of the original environment block, each `NAME=value`.
    ///
    /// It reads `environ`, since Foundation's environment takes longer than the rest of the start.
    static func entries() -> [UnsafeMutablePointer<CChar>] {
        var entries: [UnsafeMutablePointer<CChar>] = []
        var next = environ
        while let entry = next.pointee {
            entries.append(entry)
            next += 1
        }
        return entries
    }

    /// Whether systemd started the program as a service without a terminal.
    ///
    /// Every descendant of a unit inherits `INVOCATION_ID`, including a desktop's shells. `SYSTEMD_EXEC_PID` (since
    /// systemd 248) names the process that the manager itself started.
    var isService: Bool {
        guard !self.hasTerminal else { return false }
        if let process = self.variable("SYSTEMD_EXEC_PID") { return process == "\(self.processID)" }
        return self.parentID == 1
            && (self.variable("INVOCATION_ID") != nil || self.variable("NOTIFY_SOCKET") != nil)
    }

    /// The folder for state that survives a restart; `nil` if the system defines none.
    var stateFolder: String? {
        self.folder(of: "STATE_DIRECTORY")
            ?? self.path(of: "XDG_STATE_HOME").map { "\($0)/tickertape" }
            ?? self.path(of: "HOME").map { "\($0)/.local/state/tickertape" }
    }

    /// The folder for data that can be fetched again; `nil` if the system defines none.
    var cacheFolder: String? {
        self.folder(of: "CACHE_DIRECTORY")
            ?? self.path(of: "XDG_CACHE_HOME").map { "\($0)/tickertape" }
            ?? self.path(of: "HOME").map { "\($0)/.cache/tickertape" }
    }

    /// The folders for data that programs come with, this user's first (XDG Base Directory Specification 0.8).
    var dataFolders: [String] {
        let home = self.path(of: "XDG_DATA_HOME") ?? self.path(of: "HOME").map { "\($0)/.local/share" }
        let shared = self.variable("XDG_DATA_DIRS").flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/local/share:/usr/share"
        return [home].compactMap(\.self) + shared.split(separator: ":").filter { $0.hasPrefix("/") }.map(String.init)
    }

    /// The folders for state that is valid while the program runs, the preferred one first.
    ///
    /// A program without the session's variables, such as a cron job, must find the same folder as one that has them.
    var runtimeFolders: [String] {
        if let folder = self.folder(of: "RUNTIME_DIRECTORY") { return [folder] }
        var folders: [String] = []
        if let runtime = self.path(of: "XDG_RUNTIME_DIR") { folders.append("\(runtime)/tickertape") }
        folders.append("/run/user/\(self.userID)/tickertape")
        folders.append("/tmp/tickertape-\(self.userID)")
        return folders
    }

    /// Returns the path in a variable. A relative path is ignored (XDG Base Directory Specification 0.8).
    private func path(of name: String) -> String? {
        self.variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    /// Returns the first of systemd's folders, which colons separate (systemd.exec(5)).
    private func folder(of name: String) -> String? {
        self.path(of: name).flatMap { $0.split(separator: ":").first.map(String.init) }
    }
}
