import ArgumentParser
import Feeds
import Market
import MockUpstream
import NIOCore
import Wire

/// The command that replays a recording.
struct ReplayCommand: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Show and relay a recording as if it came from the market.",
        discussion: """
            The recording is served by a stand-in Finnhub inside the program, over real TLS and a real WebSocket, so \
            everything else works as it does live. No key is needed.

            EXAMPLES:
              tickertape replay btc.jsonl
              tickertape replay btc.jsonl --speed max --wait-client --quiet
              tickertape replay btc.jsonl --from 14:30:00 --to 15:00 --skip-idle 2s
              curl -d '{"request":"seek","to":"50%"}' http://127.0.0.1:8080/v1/replay

            PLACES, for --from and --to: 90s or 1h5m from the recording's start, 50% of its length, 14:30:00 (UTC) or \
            2026-01-01T14:30:00Z.
            """
    )

    @Argument(help: ArgumentHelp("The recording.", valueName: "file"), completion: .file())
    var file: String

    @OptionGroup var pace: PaceOptions

    @Flag(help: "Begin paused; space, or a program, lets it go on.")
    var paused = false

    @Flag(
        name: .customLong("wait-client"),
        help: "Start when the first client of the relay has subscribed to its symbols."
    )
    var waitsForClient = false

    @Flag(
        name: .customLong("hash"),
        help: ArgumentHelp(
            "Print a SHA-256 of what each output would say, on virtual time; with --format json as one object.",
            discussion: "Only --symbol, --from, --to and --alert change the result."
        )
    )
    var hashes = false

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

    func validate() throws {
        guard self.hashes else { return }
        let refused = [("--loop", self.pace.loops), ("--paused", self.paused), ("--wait-client", self.waitsForClient)]
        if let (flag, _) = refused.first(where: { $0.1 }) {
            throw ValidationError("--hash plays the recording once, from one end to the other; leave \(flag) out")
        }
        if self.record.record != nil { throw ValidationError("--hash records nothing; leave --record out") }
    }

    mutating func run() async throws {
        let reloadable = ReloadableSettings(try self.loadSettings())
        let settings = reloadable.settings
        if self.hashes { return try await self.printHashes(asJSON: settings.display.format == .json) }
        if self.waitsForClient, settings.relay.isOff {
            throw OperatorError("--wait-client waits for a client of the relay, which is off", status: .usage)
        }
        if self.paused, settings.relay.isOff, DisplayService.format(settings) != .tui {
            throw OperatorError(
                "--paused waits for a key or for a program to let it go on, and there is neither a screen nor a relay; "
                    + "leave out --paused, or let the relay on",
                status: .usage
            )
        }
        SignalHandling.endAtOnce()
        let recording = try OperatorError.opening(recording: self.file)
        if settings.origin(of: .symbols) != .builtIn {
            try RecordedSymbols.check(settings.symbolNames, in: recording)
        }
        var mockServer = MockServerSettings()
        mockServer.replay.machine.isPaused = self.paused
        // As in a player of films: from the end one can go back.
        mockServer.replay.machine.staysAtEnd = DisplayService.format(settings) == .tui
        try self.pace.apply(to: &mockServer.replay, recording: recording)
        try await ReplayProgram(
            settings: settings,
            reloadable: reloadable,
            material: .recording(recording),
            mockServer: mockServer,
            source: .replay(file: FilePath.last(of: self.file), speed: self.pace.speed.factor),
            waitsForClient: self.waitsForClient
        ).run()
    }

    /// Prints a digest of every output of the replay in virtual time.
    private func printHashes(asJSON: Bool) async throws {
        var hash = ReplayHash(recording: try OperatorError.opening(recording: self.file))
        try self.pace.apply(to: &hash.replay, recording: hash.recording)
        hash.symbols = self.symbols
        try RecordedSymbols.check(self.symbols, in: hash.recording)
        hash.rules = try self.alerts.alerts.map { rule in
            do throws(AlertRule.ParseError) {
                return try AlertRule(rule)
            } catch {
                throw OperatorError("--alert \"\(rule)\": \(error)", status: .usage)
            }
        }
        let outputs = try await hash.run().outputs
        RecordedDamage.printError(of: hash.recording)
        guard asJSON else {
            for output in outputs { Console.print("\(output.digest)  \(output.name)") }
            return
        }
        let object = JSONWriter.object { out in
            for output in outputs {
                out.object(named: output.name) { out in
                    out.field("sha256", output.digest)
                    out.field("bytes", output.count)
                }
            }
        }
        Console.print(json: String(buffer: object))
    }
}
