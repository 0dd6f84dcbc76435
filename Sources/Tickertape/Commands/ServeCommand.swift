package import Relay
import ArgumentParser
import Feeds
package import MockUpstream
import NIOCore

/// Offers a recording to other programs as if it were the service.
struct ServeCommand: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve a recording as a stand-in Finnhub, for testing other clients.",
        discussion: """
            Each client gets the recording from its start, or from the place that it names (&start=50%25), over TLS with a certificate for the host of --listen, made \
            at the start by a CA of its own. Give your client that CA's certificate with --ca-out.

            EXAMPLES:
              tickertape serve btc.jsonl --ca-out ca.pem
              FINNHUB_TOKEN=any tickertape --upstream wss://127.0.0.1:8443 --ca-file ca.pem
              tickertape serve btc.jsonl --plain --listen 127.0.0.1:9000 --speed max
              tickertape serve --simulate --plain --rate 20000
              tickertape serve btc.jsonl --plain --fault status=429,retry-after=30@1 --fault drop@10s-20s

            FAULTS: --fault FAULT[@WHEN]..., as often as you like. WHEN is connections, counted from 1 (@1, @1-3, @2-), \
            or a time after the WebSocket opened (@10s, @10s-20s), or one of each (@2@10s); without it, every \
            connection, and at once. What happens at a moment happens at a moment that --seed picks within a span; what \
            lasts lasts for that span. P is a probability per frame of trades. A value with a comma or an @ of its own \
            stands in double quotes.
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
        help: ArgumentHelp("What goes wrong, and when; see FAULTS. May be given often.", valueName: "fault"),
        transform: Self.fault
    )
    var faults: [Fault] = []

    @Option(help: ArgumentHelp("What the chances and moments of --fault and --jitter are drawn from.", valueName: "n"))
    var seed: UInt64 = 1

    @Option(
        help: ArgumentHelp("Send everything so much later (default: 0).", valueName: "duration"),
        transform: Self.delay
    )
    var latency = TimeAmount.zero

    @Option(
        help: ArgumentHelp("And by chance up to so much later still, in order (default: 0).", valueName: "duration"),
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

    @OptionGroup var common: CommonOptions

    var groups: [any SettingFlags] { [self.common] }

    func validate() throws {
        guard self.simulates != (self.file != nil) else {
            throw ValidationError("serve takes a recording, or --simulate; one of them.")
        }
        if self.simulates, self.pace.part != ReplayPart() {
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

    /// What was asked for beside the settings.
    var order: ServeOrder {
        var order = ServeOrder(
            recording: self.file,
            listen: self.listen,
            speed: self.pace.speed,
            isEncrypted: !self.plain,
            authorityOut: self.authorityOut
        )
        order.faults = FaultPlan(self.faults, seed: self.seed)
        order.faults.latency = self.latency.nanoseconds
        order.faults.jitter = self.jitter.nanoseconds
        order.oneConnectionPerKey = self.onePerKey?.rule
        order.market = self.market.order(seed: self.seed)
        order.part = self.pace.part
        order.sharesClock = self.sharesClock || self.hasBreaks
        order.hasBreaks = self.hasBreaks
        order.movesTimes = self.liveTimes
        order.symbolLimit = self.symbolLimit
        order.connectionLimit = self.connectionLimit
        return order
    }

    mutating func run() async throws {
        let settings = try self.loadSettings().settings
        try await Assembly.serve(self.order, settings)
    }
}

/// What `tickertape serve` was told beside the settings.
package struct ServeOrder: Sendable, Equatable {
    /// The recording's path; without one a simulated market is served.
    package var recording: String?
    package var market = MarketOrder()
    package var listen: Endpoint
    package var speed: ReplaySpeed
    /// Whether to speak TLS; when not, `listen` is a loopback address.
    package var isEncrypted: Bool
    /// Where to write the CA's certificate.
    package var authorityOut: String?
    package var part = ReplayPart()
    /// Whether all clients share one clock, instead of each getting the recording from its start.
    package var sharesClock = false
    /// Whether connections break where the recording has a gap.
    package var hasBreaks = false
    /// Whether the trades' times are moved, so that the recording begins when a client subscribes.
    package var movesTimes = false
    /// What goes wrong, and how late everything comes.
    package var faults = FaultPlan()
    /// What becomes of two connections with one key; `nil` lets both live.
    package var oneConnectionPerKey: KeyHolders.Rule?
    package var symbolLimit = 50
    package var connectionLimit = 250

    package init(recording: String?, listen: Endpoint, speed: ReplaySpeed, isEncrypted: Bool, authorityOut: String?) {
        self.recording = recording
        self.listen = listen
        self.speed = speed
        self.isEncrypted = isEncrypted
        self.authorityOut = authorityOut
    }
}

/// What `--one-per-key` may be.
struct OnePerKey: Sendable, Equatable, ExpressibleByArgument {
    let rule: KeyHolders.Rule

    init?(argument: String) {
        guard let rule = KeyHolders.Rule(rawValue: argument) else { return nil }
        self.rule = rule
    }

    static var allValueStrings: [String] { KeyHolders.Rule.allCases.map(\.rawValue) }
}

extension Endpoint: ExpressibleByArgument {
    package init?(argument: String) {
        self.init(argument)
    }

    package var defaultValueDescription: String { "\(self)" }
}

/// The flags for a served market, whose seed is that of all chances.
struct ServedMarketOptions: ParsableArguments {
    @Option(
        name: .customLong("market-symbol"),
        help: ArgumentHelp("A symbol to trade; several may be given (default: two).", valueName: "symbol"),
        transform: Self.symbol
    )
    var symbols: [String] = []

    @OptionGroup var tempo: TempoOptions

    @Sendable private static func symbol(_ text: String) throws -> String {
        do {
            return try Syntax<String>.symbol.read(text)
        } catch {
            throw ValidationError("\"\(text)\" \(error.reason)")
        }
    }

    func order(seed: UInt64) -> MarketOrder {
        var order = self.tempo.order(symbols: self.symbols.isEmpty ? nil : self.symbols)
        order.seed = seed
        return order
    }
}
