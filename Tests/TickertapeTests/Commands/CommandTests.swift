import ArgumentParser
import Feeds
import HTTP
import MockUpstream
import Relay
import Testing
@testable import Tickertape

@Suite("The command line")
struct CommandTests {
    /// Parses a command line as the program does.
    private func parse<Command: ParsableCommand>(
        _ arguments: String...,
        as: Command.Type = Command.self
    ) throws -> Command {
        try #require(try TickertapeCommand.parseAsRoot(arguments) as? Command)
    }

    private func exitCode(_ arguments: String...) -> Int32? {
        do {
            _ = try TickertapeCommand.parseAsRoot(arguments)
            return nil
        } catch {
            return TickertapeCommand.exitCode(for: error).rawValue
        }
    }

    @Test("every setting that declares a flag has it on `config`, under that name, and it arrives as that setting")
    func everyFlagIsWired() throws {
        for setting in Setting.all where !setting.flags.isEmpty {
            for name in setting.flags {
                let isSwitch = ["display.quiet", "display.once", "finnhub.audit", "finnhub.fill"].contains(setting.key)
                let value = isSwitch ? [] : ["some-value"]
                let command = try #require(
                    try TickertapeCommand.parseAsRoot(["config", "--\(name)"] + value) as? ConfigCommand
                )
                let given = try #require(command.givenFlags.values.first)
                #expect(command.givenFlags.values.count == 1)
                #expect(given.setting.key == setting.key)
                #expect(given.texts == (value.isEmpty ? ["true"] : value))
            }
        }
    }

    @Test("without a command it runs, with the flags of `run`")
    func defaultCommand() throws {
        let command: RunCommand = try self.parse(
            "--symbol",
            "A:B",
            "--symbol",
            "C:D",
            "--upstream",
            "wss://h",
            "--ca-file",
            "f",
            "--token-file",
            "t",
            "--relay",
            "off",
            "--format",
            "json",
            "--quiet",
            "--config",
            "c"
        )
        let flags = command.givenFlags
        #expect(flags.configFile == "c")
        #expect(flags.values.first { $0.setting.key == "symbols" }?.texts == ["A:B", "C:D"])
        #expect(flags.values.count == 7)
    }

    @Test(
        "a mistyped command is reported with the probable one, and no other argument is taken for a command",
        arguments: [
            (["wacht"], #"tickertape has no command "wacht"; did you mean watch?"#),
            (["replya", "btc.jsonl"], #"tickertape has no command "replya"; did you mean replay?"#),
            (["recording", "verfy", "x"], #"tickertape recording has no command "verfy"; did you mean verify?"#),
            (["btc.jsonl"], #"tickertape has no command "btc.jsonl"; `tickertape --help` lists them"#),
            (
                ["history", "stars"],
                #"tickertape history has no command "stars"; `tickertape history --help` lists them"#
            ),
            (["watch", "x", "y"], nil), (["--relya", "off"], nil), ([], nil), (["recording"], nil),
            (["help", "x"], nil),
        ] as [([String], String?)]
    )
    func mistyped(arguments: [String], words: String?) {
        #expect(MistypedCommand.words(of: arguments, in: TickertapeCommand.self) == words)
    }

    @Test("`simulate` takes alerts, which are best tried where the market is made up")
    func simulatedAlerts() throws {
        let command: SimulateCommand = try self.parse("simulate", "--alert", "* moves 0.1% in 1m")
        #expect(command.givenFlags.values.first { $0.setting.key == "alerts.rules" }?.texts == ["* moves 0.1% in 1m"])
    }

    @Test("`replay` takes a file, a speed and --wait-client")
    func replay() throws {
        let command: ReplayCommand = try self.parse(
            "replay",
            "f.jsonl",
            "--speed",
            "max",
            "--wait-client",
            "--relay",
            "127.0.0.1:0"
        )
        #expect(command.file == "f.jsonl")
        #expect(command.pace.speed == .max)
        #expect(command.waitsForClient)
        let plain: ReplayCommand = try self.parse("replay", "f.jsonl")
        #expect(plain.pace.speed == .recorded)
        #expect(!plain.waitsForClient)
        #expect(self.exitCode("replay") == 64)
    }

    @Test(
        "a speed is a number of times or max",
        arguments: [("1", 1.0), ("10", 10), ("0.5", 0.5), ("2x", 2), ("1000", 1_000)]
    )
    func speeds(text: String, factor: Double) {
        #expect(ReplaySpeed(argument: text) == ReplaySpeed(factor: factor))
        #expect(ReplaySpeed(argument: "MAX") == .max)
    }

    @Test("an invalid speed is refused", arguments: ["0", "-1", "nan", "inf", "fast", "", "x", "1e9", "0.0001"])
    func notSpeeds(text: String) {
        #expect(ReplaySpeed(argument: text) == nil)
        #expect(self.exitCode("replay", "f", "--speed=\(text)") == 64)
    }

    @Test("`serve` without TLS stays on this machine and writes no certificate")
    func servePlain() throws {
        let command: ServeCommand = try self.parse("serve", "f", "--plain", "--listen", "[::1]:9000", "--speed", "2")
        #expect(command.listen == Endpoint(host: "::1", port: 9_000))
        #expect(self.exitCode("serve", "f", "--plain", "--listen", "0.0.0.0:9000") == 64)
        #expect(self.exitCode("serve", "f", "--plain", "--ca-out", "x") == 64)
        #expect(self.exitCode("serve", "f", "--listen", "nonsense") == 64)
        #expect(self.exitCode("serve", "f", "--listen", "0.0.0.0:9000", "--ca-out", "x") == nil)
    }

    @Test("`serve` takes faults, their seed and a poor line, and refuses what it does not know")
    func serveFaults() throws {
        let command: ServeCommand = try self.parse(
            "serve",
            "f",
            "--fault",
            "status=429,retry-after=30@1-3",
            "--fault",
            #"error="no, never"@3s"#,
            "--seed",
            "7",
            "--latency",
            "50ms",
            "--jitter",
            "0.1s",
            "--one-per-key",
            "both",
            "--max-connections",
            "9"
        )
        let settings = command.mockServerSettings
        #expect(settings.faults.faults.count == 2)
        #expect(settings.faults.faults.first?.connections == 1...3)
        #expect(settings.faults.seed == 7)
        #expect(settings.faults.latency == 50_000_000)
        #expect(settings.faults.jitter == 100_000_000)
        #expect(settings.oneConnectionPerKey == .both)
        #expect(settings.symbolLimit == 50)
        #expect(settings.connectionLimit == 9)
        for wrong in [
            ["--fault", "explode"], ["--fault", "drop@soon"], ["--fault", "hang=tls", "--plain"], ["--seed", "x"],
            ["--latency", "2m"], ["--latency", "soon"], ["--one-per-key", "some"], ["--max-connections", "0"],
            ["--symbol-limit", "0"],
        ] {
            #expect(throws: (any Error).self, "\(wrong)") { try TickertapeCommand.parseAsRoot(["serve", "f"] + wrong) }
        }
        #expect(self.exitCode("serve", "f", "--fault", "explode") == 64)
        let error = #expect(throws: (any Error).self) {
            try TickertapeCommand.parseAsRoot(["serve", "f", "--fault", "explode"])
        }
        let words = TickertapeCommand.message(for: try #require(error))
        #expect(words.contains("there is no fault \"explode\"; the faults are hang, drop"), "\(words)")
    }

    @Test("`record FILE` is the setting record.file")
    func record() throws {
        let command: RecordCommand = try self.parse("record", "out.jsonl", "--quiet")
        #expect(command.givenFlags.values.contains { $0.setting.key == "record.file" && $0.texts == ["out.jsonl"] })
        let bare: RecordCommand = try self.parse("record")
        #expect(!bare.givenFlags.values.contains { $0.setting.key == "record.file" })
    }

    @Test("`watch` takes the relay's address, or that of the settings")
    func watch() throws {
        let named: WatchCommand = try self.parse("watch", "ws://127.0.0.1:9000/v1/stream")
        #expect(try named.relayURL(Settings()).port == 9_000)
        let bare: WatchCommand = try self.parse("watch")
        #expect(try "\(bare.relayURL(Settings()))" == "ws://127.0.0.1:8080")
        var settings = Settings()
        settings.relay.listen = nil
        #expect(throws: OperatorError.self) { try bare.relayURL(settings) }
        let far: WatchCommand = try self.parse("watch", "ws://example.com")
        #expect(throws: OperatorError.self) { try far.relayURL(Settings()) }
    }

    @Test("--set takes any setting but the key")
    func set() throws {
        let command: RunCommand = try self.parse("--set", "relay.max-clients=5", "--set", "symbols=A:B,C:D")
        #expect(command.givenFlags.values.map(\.texts) == [["5"], ["A:B", "C:D"]])
        for text in ["relay.max-client=5", "relay.max-clients", "token=abc", "=", ""] {
            #expect(self.exitCode("--set", text) == 64, "\(text)")
        }
    }

    @Test("the help names every command, every exit status and where settings come from")
    func help() {
        let help = TickertapeCommand.helpMessage(columns: 100)
        for word in [
            "run", "watch", "record", "replay", "serve", "config", "FINNHUB_TOKEN", "config.yaml", " 64 ", " 69 ",
            " 77 ", " 78 ",
        ] {
            #expect(help.contains(word), "\(word)")
        }
        #expect(!help.contains("health"))
    }

    @Test("`config` prints every setting with its origin, and of the key only whether there is one")
    func config() throws {
        var flags = GivenFlags()
        flags.add(.relayListen, ["off"], flag: "--relay")
        let loaded = try Settings.load(
            flags: flags,
            environment: [
                "FINNHUB_TOKEN": "c0ffee", "XDG_CONFIG_HOME": "/nonexistent", "TICKERTAPE_LOG_LEVEL": "debug",
            ]
        )
        let lines = ConfigCommand.listing(loaded)
        #expect(lines.count == Setting.all.count + 1)
        #expect(lines.contains("token: set (from FINNHUB_TOKEN)"))
        #expect(lines.contains("relay.listen: off (from --relay)"))
        #expect(lines.contains("log.level: debug (from TICKERTAPE_LOG_LEVEL)"))
        #expect(lines.contains("pipeline.quiet: 100ms (default)"))
        #expect(!lines.joined().contains("c0ffee"))
        #expect(
            ConfigCommand.listing(LoadedSettings(settings: Settings(), file: nil, warnings: [])).contains(
                "token: not set (default)"
            )
        )
    }
}
