import ArgumentParser
import Feeds
import MockUpstream
import NIOCore
import Recordings
import HTTP

/// The command that serves a recording or a simulated market as a mock of the service.
struct ServeCommand: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve a recording as a stand-in of the service that it came from, for testing other clients.",
        discussion: """
            Each client gets the recording from its start, or from the place that it names (&start=50%25), over TLS with a certificate for the host of --listen, made \
            at the start by a CA made for this run. Give your client that CA's certificate with --ca-out.

            EXAMPLES:
              tickertape serve btc.jsonl --ca-out ca.pem
              FINNHUB_TOKEN=any tickertape --upstream wss://127.0.0.1:8443 --ca-file ca.pem
              tickertape serve btc.jsonl --plain --listen 127.0.0.1:9000 --speed max
              tickertape serve --simulate --plain --rate 20000
              tickertape serve --simulate --venue binance --plain
              tickertape serve btc.jsonl --plain --fault status=429,retry-after=30@1 --fault drop@10s-20s

            FAULTS: --fault FAULT[@WHEN]..., as often as you like. WHEN is connections, counted from 1 (@1, @1-3, @2-), \
            or a time after the WebSocket opened (@10s, @10s-20s), or one of each (@2@10s); without it, every \
            connection, and at once. A fault of one moment happens at a moment of the span that --seed picks; one that \
            lasts does so for the whole span. P is a probability per frame of trades. A value that contains a comma or an @ \
            needs double quotes.
            \(Fault.manual.map { "  \($0.form)\n      \($0.meaning)" }.joined(separator: "\n"))
            """
    )

    @Argument(help: ArgumentHelp("The recording.", valueName: "file"), completion: .file())
    var file: String?

    @Flag(
        name: .customLong("simulate"),
        help: "Serve a simulated market instead of a recording; --seed and the flags of `tickertape simulate` shape it."
    )
    var simulates = false

    @OptionGroup(title: "The market of --simulate") var market: ServedMarketOptions

    @Option(help: ArgumentHelp("Where to listen; without --plain on any address.", valueName: "host:port"))
    var listen = Endpoint(host: "127.0.0.1", port: 8443)

    @OptionGroup var pace: PaceOptions

    @Flag(
        name: .customLong("shared-clock"),
        help: "Play it once for all clients, who join where it is, instead of to each from its start."
    )
    var sharesClock = false

    @Flag(
        name: .customLong("with-breaks"),
        help:
            "End connections where the recording's ended, with the service's close frame or cut, and refuse new ones with 503 until it goes on (--shared-clock)."
    )
    var hasBreaks = false

    @Flag(
        name: .customLong("live-times"),
        help: "Move the trades' times, so that the recording happens while a client gets it."
    )
    var liveTimes = false

    @Flag(help: "Serve ws:// without TLS; only on this machine (127.0.0.1, [::1], localhost).")
    var plain = false

    @Option(
        name: .customLong("ca-out"),
        help: ArgumentHelp("Write the CA's certificate (PEM) to this file.", valueName: "file"),
        completion: .file()
    )
    var authorityOut: String?

    @Option(
        name: .customLong("fault"),
        help: ArgumentHelp("What goes wrong, and when; see FAULTS. May be given several times.", valueName: "fault"),
        transform: Self.fault
    )
    var faults: [Fault] = []

    @Option(help: ArgumentHelp("What the chances and moments of --fault and --jitter are drawn from.", valueName: "n"))
    var seed: UInt64 = 1

    @Option(
        help: ArgumentHelp("Delay everything by this time (default: 0).", valueName: "duration"),
        transform: Self.delay
    )
    var latency = TimeAmount.zero

    @Option(
        help: ArgumentHelp("Add a random delay up to this, in order (default: 0).", valueName: "duration"),
        transform: Self.delay
    )
    var jitter = TimeAmount.zero

    @Option(
        name: .customLong("one-per-key"),
        help: ArgumentHelp(
            "Allow one connection per key, as the real service: on a second one throw out both, throw out the older, or"
                + " refuse the newer with 429.",
            valueName: "both|older|refuse"
        )
    )
    var onePerKey: OnePerKey?

    @Option(
        name: .customLong("symbol-limit"),
        help: ArgumentHelp("Symbols that a connection may subscribe to.", valueName: "n")
    )
    var symbolLimit = 50

    @Option(
        name: .customLong("max-connections"),
        help: ArgumentHelp("Connections at a time; more are cut off at once.", valueName: "n")
    )
    var connectionLimit = 250

    /// Other commands have this option; here it is refused with words about what to do instead.
    @Option(name: .customLong("symbol"), help: .hidden)
    var symbols: [String] = []

    @OptionGroup var common: CommonOptions

    var groups: [any SettingFlags] { [self.common] }

    func validate() throws {
        guard self.symbols.isEmpty else {
            throw ValidationError(
                "serve has no --symbol: each client chooses its own, and --market-symbol those of --simulate."
            )
        }
        guard self.simulates != (self.file != nil) else {
            throw ValidationError("serve takes a recording, or --simulate; one of them.")
        }
        if self.simulates, !self.pace.playsWhole {
            throw ValidationError("--from, --to, --loop and --skip-idle are for recordings.")
        }
        if self.plain && !self.listen.isLoopback {
            throw ValidationError("--plain is not encrypted, so --listen must be 127.0.0.1, [::1] or localhost.")
        }
        if self.plain && self.authorityOut != nil {
            throw ValidationError("--ca-out writes a certificate, and --plain has none; leave one of them out.")
        }
        if self.plain && self.faults.contains(where: \.needsTLS) {
            throw ValidationError("a fault in the TLS handshake (=tls) needs TLS, and --plain has none.")
        }
        guard (1...100_000).contains(self.symbolLimit), (1...100_000).contains(self.connectionLimit) else {
            throw ValidationError("--symbol-limit and --max-connections are numbers from 1 to 100000.")
        }
    }

    @Sendable private static func fault(_ text: String) throws -> Fault {
        do {
            return try Fault(text)
        } catch {
            throw ValidationError("\(error)")
        }
    }

    @Sendable private static func delay(_ text: String) throws -> TimeAmount {
        do {
            return try Syntax<TimeAmount>.duration.within(.zero ... .minutes(1)).read(text)
        } catch {
            throw ValidationError("\"\(text)\" \(error.reason)")
        }
    }

    mutating func run() async throws {
        let settings = try self.loadSettings().settings
        SignalHandling.endAtOnce()
        let material = try self.material()
        var mockServerSettings = self.mockServerSettings
        if case .recording(let recording) = material {
            // The search for places would otherwise find the damage first, and it is reported only once.
            RecordedDamage.printErrorAtOnce(of: recording)
            try self.pace.apply(to: &mockServerSettings.replay, recording: recording)
        }
        let program = ServeProgram(
            name: self.file ?? "a simulated market",
            material: material,
            settings: mockServerSettings,
            listen: self.listen,
            isEncrypted: !self.plain,
            authorityOut: self.authorityOut,
            logger: ProgramLog(settings.log).logger(.serve)
        )
        try await program.run()
    }

    /// Returns the recording or the market to serve.
    private func material() throws(OperatorError) -> ReplayMaterial {
        if let file { return .recording(try OperatorError.opening(recording: file)) }
        try self.market.tempo.check(self.market.symbols)
        return .market(self.market.run(seed: self.seed, start: WallClock.now() / 1_000_000))
    }

    /// The settings of the mock server, for both kinds of material.
    var mockServerSettings: MockServerSettings {
        var settings = MockServerSettings()
        settings.speed = self.pace.speed.factor
        settings.rebasesTimes = self.liveTimes
        settings.sharesClock = self.sharesClock || self.hasBreaks
        settings.replay.hasBreaks = self.hasBreaks
        settings.replay.waitsForAll = !settings.sharesClock
        settings.keepaliveInterval = .seconds(20)
        settings.faults = FaultPlan(self.faults, seed: self.seed)
        settings.faults.latency = self.latency.nanoseconds
        settings.faults.jitter = self.jitter.nanoseconds
        settings.oneConnectionPerKey = self.onePerKey?.rule
        settings.symbolLimit = self.symbolLimit
        settings.connectionLimit = self.connectionLimit
        settings.faultHappened = { connection, fault in Console.printError("connection \(connection): \(fault)") }
        return settings
    }
}
