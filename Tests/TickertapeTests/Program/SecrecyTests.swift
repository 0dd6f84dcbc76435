import Glibc
import NIOHTTP1
import Testing
import TickertapeTesting
import WebSocket

/// Searches everything that the program writes for the key. The programs' output and files are also kept for
/// `scripts/leaks`, which searches the outputs of all tests.
@Suite("The program's key", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct SecrecyTests {
    private let folder = ScratchFolder()

    private static let trade =
        #"{"data":[{"c":null,"p":61837.63,"s":"BINANCE:BTCUSDT","t":1723161255342,"v":0.02}],"type":"trade"}"#
    private static let otherTrade =
        #"{"data":[{"c":null,"p":61838,"s":"BINANCE:BTCUSDT","t":1723161255342,"v":0.02}],"type":"trade"}"#

    /// A service that repeats the key wherever it can, then sends a trade and stays connected.
    private static func parrot() async throws -> ScriptedFinnhub {
        let key = Canary.key
        return try await ScriptedFinnhub.start { connection in
            switch connection {
            case 0:
                .refuse(
                    status: .notFound,
                    headers: ["Location": "/?token=\(key)", "Set-Cookie": "token=\(key)"],
                    body: String(repeating: "x", count: 105) + " /?token=\(Canary.percentEncoded)"
                )
            case 1: .refuse(status: .init(statusCode: 302), headers: ["Location": "https://h/?token=\(key)"])
            case 2:
                .play([
                    .send(#"{"msg":"invalid token \#(key)","type":"error"}"#),
                    .send(#"{"type":"hello","token":"\#(key)"}"#),
                    .send(Self.trade.replacing("BINANCE:BTCUSDT", with: key)), .send("token=\(key)"),
                    .send(Self.trade.replacing(#","type""#, with: #","token":"\#(key)","type""#)),
                    .close(.init(rawValue: 4001), "bad token \(key)"),
                ])
            default: .play([.send(Self.trade), .send(Self.otherTrade)])
            }
        }
    }

    private func follow(
        _ server: ScriptedFinnhub,
        _ arguments: String...,
        environment: [String: String] = [:]
    ) throws
        -> RunningProgram
    {
        try RunningProgram(
            RunningProgram.tickertape,
            ["record", "--upstream", "ws://127.0.0.1:\(server.port)", "--format", "plain", "--log-level", "trace"]
                + ["--set", "reconnect.min=10ms", "--set", "reconnect.max=10ms"] + arguments,
            environment: ["FINNHUB_TOKEN": Canary.key].merging(environment) { $1 }
        )
    }

    private func python(_ arguments: String...) throws -> RunningProgram {
        try #require(access(RunningProgram.python, X_OK) == 0, "run scripts/test, which makes \(RunningProgram.python)")
        return try RunningProgram(RunningProgram.python, arguments)
    }

    @Test(
        "is in nothing that the program prints, records, relays or serves, when the service repeats it everywhere",
        arguments: ["text", "json"]
    )
    func parrot(log: String) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try await Self.parrot()
        let program = try self.follow(
            server,
            "--relay",
            "127.0.0.1:0",
            "--log-format",
            log,
            "\(folder.path)/new.jsonl"
        )
        let port = try #require(await program.relayPort(), "\(program.errors)")
        let clients = "\(RunningProgram.sources)/Tests/Clients"
        let prices = try self.python(
            "\(clients)/stream_client.py",
            "ws://127.0.0.1:\(port)/v1/stream",
            "BINANCE:BTCUSDT"
        )
        let trades = try self.python("\(clients)/finnhub_sample.py", "ws://127.0.0.1:\(port)/", "BINANCE:BTCUSDT")
        // The second price arrives on the last connection.
        #expect(await program.lines(2).count >= 2, "\(program.errors)")
        let fetch = """
            import urllib.request, urllib.error, sys
            for path in ("livez", "readyz", "v1/snapshot", "metrics", "v1/stream", "config", ""):
                try: answer = urllib.request.urlopen("http://127.0.0.1:%s/%s" % (sys.argv[1], path))
                except urllib.error.HTTPError as error: answer = error
                print(path, answer.status, answer.headers, answer.read().decode())
            """
        let bodies = try self.python("-c", fetch, "\(port)")
        #expect(await bodies.ending() == .exit(0), "\(bodies.errors)")
        #expect(bodies.output.contains("v1/snapshot 200"), "\(bodies.output)")
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(10)) == .exit(0))
        for client in [prices, trades] { #expect(await client.ending() != nil) }
        let recording = try folder.read("new.jsonl")
        for (name, text) in [
            ("output", program.output), ("errors", program.errors), ("recording", recording), ("HTTP", bodies.output),
            ("prices", prices.output + prices.errors), ("trades", trades.output + trades.errors),
        ] {
            let isFound = Canary.occurs(in: text)
            #expect(!isFound, "in \(name)")
            #expect(!text.isEmpty, "\(name) is empty, so there was nothing to look through")
        }
        // The service did repeat the key: its replacement is in the output.
        #expect(program.errors.contains("(the key)"), "\(program.errors)")
        #expect(recording.contains(#"{\"type\":\"redacted\"}"#), "\(recording)")
        try await server.stop()
    }

    @Test("is not in /proc/PID/cmdline or environ, and a crash may leave no memory image")
    func outside() async throws {
        let server = try await ScriptedFinnhub.start { _ in .play([.send(Self.trade)]) }
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let program = try self.follow(server, "--relay", "off", "\(folder.path)/new.jsonl")
        #expect(!(await program.lines(1)).isEmpty, "\(program.errors)")
        let process = "/proc/\(program.processIdentifier)"
        for name in ["cmdline", "environ"] {
            let text = try TemporaryFolder.text(of: "\(process)/\(name)")
            let isFound = Canary.occurs(in: text)
            #expect(!isFound && !text.isEmpty, "in \(name)")
        }
        let limits = try TemporaryFolder.text(of: "\(process)/limits")
        let core = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
        #expect(core.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"], "\(core)")
        program.send(signal: SIGTERM)
        #expect(await program.ending() == .exit(0), "\(program.errors)")
        try await server.stop()
    }

    @Test(
        "is not in what a crash prints",
        .disabled(
            if: Sanitizer.current == .thread,
            """
            Swift's runtime has its backtraces read by a second process in the same memory, at whose start ThreadSanitizer ends: \
            it takes it for a fork with memory of its own
            """
        )
    )
    func crash() async throws {
        let server = try await ScriptedFinnhub.start { _ in .play([.send(Self.trade)]) }
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let program = try self.follow(
            server,
            "--relay",
            "off",
            "\(folder.path)/new.jsonl",
            environment: Sanitizer.withBacktrace.merging(["SWIFT_BACKTRACE": "enable=yes"]) { $1 }
        )
        #expect(!(await program.lines(1)).isEmpty, "\(program.errors)")
        // After a real trap, the backtrace handler runs first, then the instruction traps again without a handler.
        // After a signal from outside, the program continues after the backtrace, so the test sends it twice.
        program.send(signal: SIGILL)
        #expect(await program.printsError(of: "Backtrace took"), "\(program.errors)")
        program.send(signal: SIGILL)
        #expect(await program.ending() == .signal(SIGILL))
        #expect(program.errors.contains("Registers:"), "\(program.errors)")
        let isFound = Canary.occurs(in: program.output + program.errors)
        #expect(!isFound)
        try await server.stop()
    }

    @Test("is not printed by `config`, wherever it comes from")
    func config() async throws {
        let file = self.folder.file("key", "\(Canary.key)\r\n", mode: 0o644)
        let yaml = self.folder.file("config.yaml", "token: \(Canary.key)", mode: 0o644)
        _ = self.folder.file("finnhub-token", Canary.key)
        for (arguments, environment) in [
            ([], ["FINNHUB_TOKEN": Canary.key]), (["--token-file", file], [:]), (["--config", yaml], [:]),
            ([], ["CREDENTIALS_DIRECTORY": self.folder.path]),
        ] as [([String], [String: String])] {
            let program = try RunningProgram(
                RunningProgram.tickertape,
                ["config"] + arguments,
                environment: environment
            )
            #expect(await program.ending() == .exit(0), "\(program.errors)")
            #expect(program.output.contains("token: set (from "), "\(program.output)")
            let isFound = Canary.occurs(in: program.output + program.errors)
            #expect(!isFound)
        }
    }

    @Test(
        "is not repeated when it is given in the wrong place",
        arguments: [
            ["KEY"], ["-KEY"], ["--KEY"], ["--KEY=1"], ["record", "file", "KEY"], ["help", "run", "KEY"],
            ["--format", "KEY"], ["--format=KEY"], ["--set", "KEY"], ["--set", "KEY=1"],
            ["--set", "display.format=KEY"],
            ["--symbol", "KEY"], ["--symbol", "A", "--symbol", "KEY"], ["--set", "symbols=KEY"], ["watch", "KEY"],
            ["--upstream", "KEY"], ["--relay", "KEY"], ["--log-level", "KEY"], ["--config", "KEY"], ["replay", "KEY"],
            ["health", "KEY"], ["config", "KEY"], ["serve", "KEY"],
        ]
    )
    func misplaced(_ arguments: [String]) async throws {
        // It has the form of Finnhub's keys. The test assembles it here, since the tests' log shows the test's
        // arguments.
        let key = "c4nary0neverprinted7"
        let program = try RunningProgram(
            RunningProgram.tickertape,
            arguments.map { $0.replacing("KEY", with: key) }
        )
        // Every mistake has a failure status and a message.
        let ending = await program.ending()
        let isHelp = arguments[0] == "help"
        #expect(ending == .exit(64) || ending == .exit(78) || ending == .exit(1) || (isHelp && ending == .exit(0)))
        let printed = program.output + program.errors
        let isFound = printed.contains("c4nary")
        #expect(!isFound && !printed.isEmpty, "\(arguments)")
    }

    @Test(
        "is refused in the arguments without repeating it",
        arguments: [
            ["--token", "KEY"], ["--token=KEY"], ["record", "--token", "KEY"],
            ["--set", "token=KEY"], ["--set", "tokn=KEY"],
            ["--token-file", "c4naryc4naryc4naryc4nary"],
            ["--upstream", "wss://ws.finnhub.io?token=KEY"],
            ["--upstream", "wss://h/?%74oken=KEY"],
            ["--upstream", "wss://h/?apikey=KEY"], ["--upstream", "https://finnhub.io/?token=KEY"],
            ["--upstream", "ws.finnhub.io?token=KEY"], ["--upstream", "wss://user:KEY@h"],
            ["--upstream", "ws://example.com/?x=KEY"],
            ["--set", "upstream.url=http://h?token=KEY"],
            ["watch", "ws://127.0.0.1/?token=KEY"], ["watch", "http://127.0.0.1/?token=KEY"],
        ]
    )
    func arguments(_ arguments: [String]) async throws {
        // The test's arguments must not hold the key, since the tests' log shows them.
        let program = try RunningProgram(
            RunningProgram.tickertape,
            arguments.map { $0.replacing("KEY", with: Canary.key) }
        )
        #expect(await program.ending() == .exit(64), "\(arguments[0])")
        let printed = program.output + program.errors
        let isFound = Canary.occurs(in: printed) || printed.contains("c4nary")
        #expect(!isFound && !program.errors.isEmpty)
    }
}
