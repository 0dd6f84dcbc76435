import Glibc

/// A measured program: it is started, observed from outside, and stopped in any case.
final class ChildProcess {
    /// The end of a process, and its resource use.
    struct Ending {
        /// The exit status, or 128 plus the signal's number.
        var status: Int32
        /// User and system time, ns.
        var cpu: Int64
    }

    let name: String
    let id: pid_t
    private let errorFile: String
    private var ending: Ending?

    /// Starts a program with a minimal environment.
    ///
    /// - Parameter terminal: the path of its controlling terminal. Without one, it has no terminal, and its output is
    ///   discarded except for standard error.
    init(
        _ path: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        terminal: String? = nil,
        folder: ScratchFolder
    ) throws {
        self.name = path.split(separator: "/").last.map(String.init) ?? path
        self.errorFile = folder.file("stderr")
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        if let terminal {
            // A new session, whose controlling terminal is the first one that it opens (POSIX_SPAWN_SETSID, spawn.h).
            posix_spawnattr_setflags(&attributes, 0x80)
            for descriptor: Int32 in 0...2 {
                posix_spawn_file_actions_addopen(&actions, descriptor, terminal, O_RDWR, 0)
            }
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
            posix_spawn_file_actions_addopen(&actions, 2, self.errorFile, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        }
        let processEnvironment = ["PATH": "/usr/bin:/bin", "HOME": folder.path].merging(environment) { $1 }
        var id = pid_t()
        let result = Self.withPointers([path] + arguments) { argv in
            Self.withPointers(processEnvironment.map { "\($0)=\($1)" }) { envp in
                posix_spawn(&id, path, &actions, &attributes, argv, envp)
            }
        }
        guard result == 0 else { throw BenchmarkFailure("\(path): \(String(cString: strerror(result)))") }
        self.id = id
    }

    deinit { self.stop() }

    /// Whether it is running.
    var isRunning: Bool { self.reap(WNOHANG) == nil }

    /// The CPU time used so far, ns.
    var cpu: Int64 { self.ending?.cpu ?? Clock.cpu(of: self.id) ?? 0 }

    /// Returns the CPU time so far of its threads with this name, ns (proc(5), schedstat).
    func cpu(ofThreads name: String) -> Int64 {
        guard let listing = opendir("/proc/\(self.id)/task") else { return 0 }
        defer { closedir(listing) }
        var total: Int64 = 0
        while let entry = readdir(listing) {
            let id = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            let folder = "/proc/\(self.id)/task/\(id)"
            guard FileText.read("\(folder)/comm") == Array("\(name)\n".utf8) else { continue }
            let figures = String(decoding: FileText.read("\(folder)/schedstat") ?? [], as: UTF8.self)
            total += figures.split(separator: " ").first.flatMap { Int64($0) } ?? 0
        }
        return total
    }

    /// Its output on standard error so far.
    var errors: String {
        let bytes = FileText.read(self.errorFile) ?? []
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns a value of `/proc/PID/status` in KiB, such as `VmRSS`.
    func memory(_ key: String) -> Int {
        let text = String(decoding: FileText.read("/proc/\(self.id)/status") ?? [], as: UTF8.self)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("\(key):") }) else { return 0 }
        return Int(line.filter(\.isNumber)) ?? 0
    }

    /// Waits for its end.
    func wait(seconds: Int) throws -> Ending {
        let limit = Clock.now() + Int64(seconds) * Clock.second
        while Clock.now() < limit {
            if let ending = self.reap(WNOHANG) { return ending }
            Clock.pause(milliseconds: 5)
        }
        throw BenchmarkFailure("\(self.name) has not ended within \(seconds) s")
    }

    /// Ends it by SIGTERM, and after 5 s by SIGKILL.
    func stop() {
        guard self.isRunning else { return }
        kill(self.id, SIGTERM)
        if (try? self.wait(seconds: 5)) == nil {
            kill(self.id, SIGKILL)
            _ = self.reap(0)
        }
    }

    private func reap(_ options: Int32) -> Ending? {
        if let ending { return ending }
        var status: Int32 = 0
        var usage = rusage()
        guard wait4(self.id, &status, options, &usage) == self.id else { return nil }
        let signal = status & 0x7F
        let times = [usage.ru_utime, usage.ru_stime]
        self.ending = Ending(
            status: signal == 0 ? status >> 8 & 0xFF : 128 + signal,
            cpu: times.reduce(0) { $0 + Int64($1.tv_sec) * Clock.second + Int64($1.tv_usec) * 1_000 }
        )
        return self.ending
    }

    private static func withPointers(
        _ texts: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> Int32
    ) -> Int32 {
        let pointers = texts.map { strdup($0) }
        defer { pointers.forEach { free($0) } }
        return body(pointers + [nil])
    }
}
