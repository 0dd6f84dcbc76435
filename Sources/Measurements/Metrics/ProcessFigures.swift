import Glibc

/// The kernel's figures of this process, from `/proc`; figures that it does not provide are `nil`.
package struct ProcessFigures: Sendable, Equatable {
    var cpuSeconds: Double?
    var residentBytes: Double?
    var virtualBytes: Double?
    var threads: Double?
    /// The start of the process, seconds since 1970.
    var startTime: Double?
    package var openDescriptors: Double?
    var maximumDescriptors: Double?

    /// Reads the figures. This opens files, so it must not run on an event loop.
    package static func read() -> ProcessFigures {
        var figures = ProcessFigures()
        figures.take(stat: Self.text("/proc/self/stat") ?? "", system: Self.text("/proc/stat") ?? "")
        figures.openDescriptors = Self.count("/proc/self/fd").map(Double.init)
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            figures.maximumDescriptors = Double(limit.rlim_cur)
        }
        return figures
    }

    /// Takes the fields of proc_pid_stat(5) after the name, which may itself contain spaces and brackets.
    mutating func take(stat: String, system: String) {
        guard let bracket = stat.lastIndex(of: ")") else { return }
        let fields = stat[stat.index(after: bracket)...].split(separator: " ")
        guard fields.count > 21 else { return }
        func field(_ number: Int) -> Double? { Double(fields[number - 3]) }
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        if let user = field(14), let kernel = field(15) { self.cpuSeconds = (user + kernel) / ticks }
        self.threads = field(20)
        self.virtualBytes = field(23)
        self.residentBytes = field(24).map { $0 * Double(sysconf(Int32(_SC_PAGESIZE))) }
        let boot = system.split(separator: "\n").first { $0.hasPrefix("btime ") }.flatMap { Double($0.dropFirst(6)) }
        if let start = field(22), let boot { self.startTime = boot + start / ticks }
    }

    package func write(to text: inout PrometheusText) {
        func gauge(_ name: String, _ help: String, _ value: Double?) {
            if let value { text.single("process_\(name)", .gauge, help, value) }
        }
        if let cpuSeconds {
            text.single(
                "process_cpu_seconds_total",
                .counter,
                "Total user and system CPU time spent in seconds.",
                cpuSeconds
            )
        }
        gauge("resident_memory_bytes", "Resident memory size in bytes.", self.residentBytes)
        gauge("virtual_memory_bytes", "Virtual memory size in bytes.", self.virtualBytes)
        gauge("threads", "Threads of the process.", self.threads)
        gauge("start_time_seconds", "Start time of the process since unix epoch in seconds.", self.startTime)
        gauge("open_fds", "Number of open file descriptors.", self.openDescriptors)
        gauge("max_fds", "Maximum number of open file descriptors.", self.maximumDescriptors)
    }

    /// Returns the first 64 KiB of a file.
    private static func text(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while bytes.count < 64 << 10 {
            let count = Glibc.read(descriptor, &piece, piece.count)
            guard count > 0 else { break }
            bytes += piece[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the number of entries of a directory, without `.`, `..` and the descriptor that reads it.
    private static func count(_ path: String) -> Int? {
        guard let directory = opendir(path) else { return nil }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        return max(count - 3, 0)
    }
}
