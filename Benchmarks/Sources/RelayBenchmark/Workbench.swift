import CLinux
import Glibc

/// What all measurements share: the options, a folder for what they leave behind, and how programs are started.
final class Workbench {
    let options: Options
    let folder: ScratchFolder
    /// What must not be; the run then fails at its end, with all tables shown.
    var breaches: [String] = []

    init(_ options: Options) throws {
        self.options = options
        self.folder = try ScratchFolder()
        // Many clients need as many descriptors, here and in the programs, which inherit the limit.
        let most = (options.wants("connections") ? options.crowds.max() ?? 0 : 0) + 1_000
        guard Self.allowDescriptors(most) else {
            throw BenchmarkFailure("\(most) open files are not allowed: raise ulimit -n, or choose smaller --crowds")
        }
        guard access(options.program, X_OK) == 0 else {
            throw BenchmarkFailure("\(options.program) is missing: build it with swift build -c release")
        }
        if options.pins { try Self.pin(to: 1) }
    }

    /// Starts the measured program on a plain upstream.
    func startProgram(
        upstream: FakeFinnhub,
        _ arguments: [String],
        terminal: String? = nil,
        environment: [String: String] = [:]
    ) throws -> ChildProcess {
        let upstream = ["--upstream", "ws://127.0.0.1:\(upstream.port)", "--symbol", TradeMessage.symbol]
        let environment = ["FINNHUB_TOKEN": "bench"].merging(environment) { $1 }
        return try self.start(self.options.program, upstream + arguments, environment: environment, terminal: terminal)
    }

    func start(
        _ path: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        terminal: String? = nil
    ) throws -> ChildProcess {
        // A child inherits the CPU of its parent.
        if self.options.pins { try Self.pin(to: 0) }
        defer { if self.options.pins { try? Self.pin(to: 1) } }
        return try ChildProcess(
            path,
            arguments,
            environment: environment,
            terminal: terminal,
            folder: self.folder
        )
    }

    /// Says on standard error what is under way.
    static func say(_ text: String) { Self.put("\(text)\n", on: 2) }

    /// Shows a result on standard output, at once.
    static func show(_ text: String) { Self.put("\(text)\n", on: 1) }

    /// Raises the limit of open files; beyond the hard one only root can.
    private static func allowDescriptors(_ most: Int) -> Bool {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        getrlimit(resource, &limit)
        limit.rlim_max = max(limit.rlim_max, rlim_t(most))
        limit.rlim_cur = limit.rlim_max
        return setrlimit(resource, &limit) == 0
    }

    private static func put(_ text: String, on descriptor: Int32) {
        _ = Array(text.utf8).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }

    private static func pin(to cpu: Int) throws {
        guard stay_on_cpu(Int32(cpu)) == 0 else { throw BenchmarkFailure.call("--pin") }
    }
}
