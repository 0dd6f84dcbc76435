import CLoad
import Glibc

/// The shared state of all measurements: the options, a temporary folder, and the start of programs.
final class Workbench {
    let options: Options
    let folder: ScratchFolder
    /// The violated expectations. The run fails at its end, after all tables are printed.
    var breaches: [String] = []
    /// The number of descriptors for other purposes than clients.
    private static let reserve = 1_000
    /// The number of clients that the limit of open files allows, here and in the programs, which inherit it.
    let maximumClients: Int

    init(_ options: Options) throws {
        self.options = options
        self.folder = try ScratchFolder()
        let crowds = options.wants("connections") ? options.crowds : []
        self.maximumClients = Self.allowDescriptors((crowds.max() ?? 0) + Self.reserve) - Self.reserve
        guard self.maximumClients > 0 else {
            throw BenchmarkFailure("\(Self.reserve) open files are not allowed: raise ulimit -n")
        }
        guard access(options.program, X_OK) == 0 else {
            throw BenchmarkFailure("\(options.program) is missing: build it with swift build -c release")
        }
        if options.pins { try Self.pin(to: 1) }
    }

    /// Starts the measured program on an unencrypted upstream.
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
        // A child inherits the CPU affinity of its parent.
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

    /// Reports progress on standard error.
    static func say(_ text: String) { Self.put("\(text)\n", on: 2) }

    /// Prints a result on standard output without buffering.
    static func show(_ text: String) { Self.put("\(text)\n", on: 1) }

    /// Raises the limit of open files to this number if it is allowed (beyond the hard limit only for root); returns
    /// the limit.
    private static func allowDescriptors(_ most: Int) -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        getrlimit(resource, &limit)
        for hard in [max(limit.rlim_max, rlim_t(most)), limit.rlim_max] {
            var raised = rlimit(rlim_cur: hard, rlim_max: hard)
            if setrlimit(resource, &raised) == 0 { return Int(clamping: hard) }
        }
        return Int(clamping: limit.rlim_cur)
    }

    private static func put(_ text: String, on descriptor: Int32) {
        _ = Array(text.utf8).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }

    private static func pin(to cpu: Int) throws {
        guard stay_on_cpu(Int32(cpu)) == 0 else { throw BenchmarkFailure.call("--pin") }
    }
}
