import Foundation
import Testing
import TickertapeTesting

/// The commands of the documentation, run as they stand there, but for addresses: each in a folder with the files that the
/// pages name, with a stand-in of Finnhub and of the exchanges, a relay on live trades and one on a replay.
@Suite(
    "The commands in the documentation",
    .serialized,
    .timeLimit(.minutes(8 * Patience.factor))
)
struct DocumentedCommandTests {
    /// What runs beside the commands.
    private struct Surroundings: Sendable {
        let folder: TemporaryFolder
        let service: RunningProgram
        let live: RunningProgram
        let replay: RunningProgram
        let directory: FileService
        let ports: (service: Int, live: Int, replay: Int, lines: Int)

        static func begin() async throws -> Surroundings {
            let folder = try TemporaryFolder()
            let demo = "\(RunningProgram.sources)/Sources/Tickertape/Resources/demo.jsonl"
            let files = FileManager.default
            for name in ["btc.jsonl", "day1.jsonl", "day2.jsonl", "binance.jsonl", "finnhub.jsonl", "venue.jsonl"] {
                try files.copyItem(atPath: demo, toPath: "\(folder.path)/\(name)")
            }
            let audited = AuditedMarket(seed: 4, count: 2_000, share: 0)
            for (name, text) in [
                ("binance.jsonl", audited.venueRecording), ("finnhub.jsonl", audited.finnhubRecording),
                ("venue.jsonl", audited.venueRecording), ("FILE", "no-token-is-needed-here"),
                ("btc.csv", "symbol,price\nBINANCE:BTCUSDT,1\n"),
                ("trades.csv", "price,size\n1,1\n"),
            ] {
                try? files.removeItem(atPath: "\(folder.path)/\(name)")
                _ = try folder.write(text, to: name)
            }
            try files.createDirectory(atPath: "\(folder.path)/.config/tickertape", withIntermediateDirectories: true)
            try files.createDirectory(atPath: "\(folder.path)/bin", withIntermediateDirectories: true)
            try files.createSymbolicLink(
                atPath: "\(folder.path)/bin/tickertape",
                withDestinationPath: RunningProgram.tickertape
            )
            // Debian has no websocat.
            let websocat = try folder.write(
                """
                #!/bin/sh
                exec '\(RunningProgram.python)' '\(RunningProgram.sources)/Tests/Clients/websocat.py' "$@"
                """,
                to: "bin/websocat"
            )
            let netcat = try folder.write(
                "#!/bin/bash\nexec 3<>\"/dev/tcp/$1/$2\"; cat <&3 & cat >&3; wait\n",
                to: "bin/nc"
            )
            for path in [websocat, netcat] {
                try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
            }
            let service = try RunningProgram(
                RunningProgram.tickertape,
                ["serve", demo, "--plain", "--listen", "127.0.0.1:0", "--loop"]
            )
            #expect(await service.printsError(of: "Ctrl-C stops"), "\(service.errors)")
            let port = try #require(RunningProgram.number(in: service.errors, behind: "ws://127.0.0.1:"))
            let directory = try await FileService(
                in: folder,
                [
                    "crypto/exchange": #"["BINANCE","COINBASE"]"#,
                    "crypto/symbol": """
                    [{"symbol":"BTCUSDT","displaySymbol":"BTC/USDT","description":"Bitcoin"},
                    {"symbol":"SOL-EUR","displaySymbol":"SOL/EUR","description":"Solana"}]
                    """,
                    "news": """
                    [{"id":1,"datetime":1700000000,"headline":"Bitcoin ETF grows","source":"Reuters","summary":"",
                    "url":"https://a.example/1"}]
                    """,
                ]
            )
            let environment = Self.environment(folder, service: port, directory: directory.url)
            let live = try RunningProgram(
                RunningProgram.tickertape,
                [
                    "--quiet", "--record", "\(folder.path)/live.jsonl", "--set", "lines.listen=127.0.0.1:0", "--set",
                    "symbols=BINANCE:BTCUSDT,BINANCE:ETHUSDT",
                ],
                environment: environment
            )
            let replay = try RunningProgram(
                RunningProgram.tickertape,
                ["replay", demo, "--quiet", "--loop", "--relay", "127.0.0.1:0"],
                environment: environment
            )
            let relayPorts = (await live.relayPort(), await replay.relayPort())
            #expect(await live.printsError(of: "plain lines are on"), "\(live.errors)")
            return Surroundings(
                folder: folder,
                service: service,
                live: live,
                replay: replay,
                directory: directory,
                ports: (
                    port, try #require(relayPorts.0), try #require(relayPorts.1),
                    try #require(RunningProgram.number(in: live.errors, behind: "plain lines are on 127.0.0.1:"))
                )
            )
        }

        static func environment(_ folder: TemporaryFolder, service: Int, directory: String) -> [String: String] {
            [
                "PATH": "\(folder.path)/bin:/usr/bin:/bin", "HOME": folder.path, "FINNHUB_TOKEN": Canary.key,
                "TICKERTAPE_UPSTREAM_URL": "ws://127.0.0.1:\(service)/",
                "TICKERTAPE_SERVICE_URL": directory,
                "TICKERTAPE_RELAY_LISTEN": "127.0.0.1:0",
            ].merging(
                // Nothing is there, and the program says so and tries again.
                ["BINANCE", "COINBASE", "KRAKEN"].flatMap {
                    [
                        ("TICKERTAPE_VENUES_\($0)_URL", "ws://127.0.0.1:1/"),
                        ("TICKERTAPE_VENUES_\($0)_SERVICE", "http://127.0.0.1:1"),
                    ]
                }
            ) { $1 }
        }

        /// Returns the command with the addresses of this test.
        func placed(_ command: DocumentedCommand) -> String {
            let relay = command.file == "docs/replay.md" ? self.ports.replay : self.ports.live
            var text = command.text
            for (documented, used) in [
                ("./scripts/run", "tickertape"), ("0.0.0.0:8080", "0.0.0.0:0"),
                ("127.0.0.1:8080", "127.0.0.1:\(relay)"),
                ("127.0.0.1:9000/api", "127.0.0.1:\(self.ports.service)/api"), ("--listen 127.0.0.1:9000", ""),
                ("ws://127.0.0.1:8443", "ws://127.0.0.1:\(self.ports.service)"),
                ("lines.listen=127.0.0.1:7071", "lines.listen=127.0.0.1:0"),
                ("127.0.0.1 7071", "127.0.0.1 \(self.ports.lines)"),
                ("127.0.0.1/7071", "127.0.0.1/\(self.ports.lines)"),
                ("tickertape watch", "tickertape watch ws://127.0.0.1:\(self.ports.live)"),
                ("--from 2026-11-21 --to 2026-11-22", "--from 2026-01-01 --to 2026-01-02"),
                // The recording here has three minutes.
                ("--from 14:30:00 --to 15:00", "--from 00:00:30 --to 00:01"),
            ] { text.replace(documented, with: used) }
            if text.hasSuffix("&") { text.removeLast() }
            if text.hasPrefix("tickertape serve") {
                text.replace("tickertape serve", with: "tickertape serve --listen 127.0.0.1:0", maxReplacements: 1)
            }
            return text
        }
    }

    @Test("have each a rule by which they are run, or the reason why no test can")
    func rules() throws {
        let commands = try DocumentedCommand.all()
        #expect(commands.count > 80)
        for command in commands {
            let trial = CommandTrial.of(command)
            #expect(trial != nil, "\(command) has no rule in DocumentedCommand.swift")
            guard case .elsewhere(let file, let text) = trial else { continue }
            let content = try String(contentsOfFile: "\(RunningProgram.sources)/\(file)", encoding: .utf8)
            #expect(content.contains(text), "\(file) does not run \(command.text)")
        }
    }

    @Test("do what they are there for")
    func commands() async throws {
        let around = try await Surroundings.begin()
        defer { around.folder.remove() }
        let commands = try DocumentedCommand.all()
        // Most of the time they wait.
        let lanes = 4
        await withTaskGroup(of: Void.self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    for place in stride(from: lane, to: commands.count, by: lanes) {
                        await self.run(commands[place], in: around)
                    }
                }
            }
        }
    }

    private func run(_ command: DocumentedCommand, in around: Surroundings) async {
        guard let trial = CommandTrial.of(command) else { return }
        var text = around.placed(command)
        // A signal goes to the program in place of the shell.
        if case .runs = trial { text.replace("tickertape", with: "exec tickertape", maxReplacements: 1) }
        func start() throws -> RunningProgram {
            try RunningProgram(
                "/bin/bash",
                ["-c", "cd '\(around.folder.path)' && \(text)"],
                environment: Surroundings.environment(
                    around.folder,
                    service: around.ports.service,
                    directory: around.directory.url
                )
            )
        }
        do {
            switch trial {
            case .ends(let status):
                let program = try start()
                let ending = await program.ending()
                #expect(ending == .exit(status), "\(command): \(program.output.suffix(300))\(program.errors)")
            case .runs(let words):
                let program = try start()
                #expect(await program.printsError(of: words), "\(command): \(program.errors)")
                program.send(signal: 2)
                #expect(await program.ending() == .exit(0), "\(command): \(program.errors)")
            case .prints(let beginning):
                let program = try start()
                #expect(await program.prints(beginning), "\(command): \(program.output)\(program.errors)")
            case .elsewhere, .never: break
            }
        } catch {
            Issue.record("\(command): \(error)")
        }
    }
}
