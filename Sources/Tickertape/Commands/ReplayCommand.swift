import ArgumentParser

/// Lives a recording again.
struct ReplayCommand: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Show and relay a recording as if it came from the market.",
        discussion: """
            The recording is served by a stand-in Finnhub inside the program, over real TLS and a real WebSocket, so \
            everything behind it works as it does live. No key is needed.

            EXAMPLES:
              tickertape replay btc.jsonl
              tickertape replay btc.jsonl --speed max --wait-client --quiet
            """
    )

    @Argument(help: ArgumentHelp("The recording.", valueName: "file"), completion: .file())
    var file: String

    @OptionGroup var pace: PaceOptions

    @Flag(name: .customLong("wait-client"), help: "Start when the first client of the relay has subscribed.")
    var waitsForClient = false

    @Option(name: .of(.symbols), help: ArgumentHelp("A symbol to follow; several may be given.", valueName: "symbol"))
    var symbols: [String] = []

    @OptionGroup(title: "Display") var display: DisplayOptions
    @OptionGroup(title: "Display") var alerts: AlertOptions
    @OptionGroup(title: "Relay and recording") var relay: RelayOptions
    @OptionGroup(title: "Relay and recording") var record: RecordOptions
    @OptionGroup var common: CommonOptions

    var groups: [any SettingFlags] {
        [SymbolFlags(symbols: self.symbols), self.display, self.alerts, self.relay, self.record, self.common]
    }

    mutating func run() async throws {
        let settings = try self.loadSettings().settings
        if self.waitsForClient && settings.relay.listen == nil {
            throw OperatorError("--wait-client waits for a client of the relay, which is off", status: .usage)
        }
        try await Assembly.replay(
            ReplayOrder(recording: self.file, speed: self.pace.speed, waitsForClient: self.waitsForClient),
            settings
        )
    }
}

/// What `tickertape replay` was told beside the settings.
package struct ReplayOrder: Sendable, Equatable {
    /// The recording's path.
    package var recording: String
    package var speed: ReplaySpeed
    /// Whether to start only when the first client has subscribed.
    package var waitsForClient: Bool

    package init(recording: String, speed: ReplaySpeed = .recorded, waitsForClient: Bool = false) {
        self.recording = recording
        self.speed = speed
        self.waitsForClient = waitsForClient
    }
}

/// How fast a recording goes.
package struct ReplaySpeed: Sendable, Equatable, ExpressibleByArgument {
    /// So many times the recording's own pace; `nil` is as fast as it goes.
    package var factor: Double?

    package init(factor: Double?) {
        self.factor = factor
    }

    package static let recorded = ReplaySpeed(factor: 1)
    package static let max = ReplaySpeed(factor: nil)

    package init?(argument: String) {
        if argument.lowercased() == "max" {
            self = .max
            return
        }
        let number = argument.hasSuffix("x") ? String(argument.dropLast()) : argument
        guard let factor = Double(number), (0.01...10_000).contains(factor) else { return nil }
        self.factor = factor
    }

    package var defaultValueDescription: String { self.factor.map { "\($0)" } ?? "max" }
}

/// The flag for how fast a recording goes.
struct PaceOptions: ParsableArguments {
    @Option(
        name: .customLong("speed"),
        help: ArgumentHelp("So many times the recording's pace, 0.01 to 10000, or max.", valueName: "n|max")
    )
    var speed = ReplaySpeed.recorded
}
