import Foundation
import NIOHTTP1
import Testing
import TickertapeTesting

/// The built program, whose config file changes while it runs.
@Suite("Loading the settings again while the program runs", .serialized, .timeLimit(.minutes(3 * Patience.factor)))
struct ReloadProgramTests {
    private static let trade =
        #"{"data":[{"c":null,"p":61837.63,"s":"BINANCE:BTCUSDT","t":1723161255342,"v":0.02}],"type":"trade"}"#

    private func run(
        _ server: ScriptedFinnhub,
        _ folder: TemporaryFolder,
        _ arguments: [String] = [],
        key: String? = "averysecretkey"
    ) throws -> RunningProgram {
        var environment = ["XDG_STATE_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]
        environment["FINNHUB_TOKEN"] = key
        return try RunningProgram(
            RunningProgram.tickertape,
            [
                "run", "--upstream", "ws://127.0.0.1:\(server.port)", "--quiet", "--relay", "127.0.0.1:0", "--config",
                "\(folder.path)/config.yaml",
            ] + arguments,
            environment: environment
        )
    }

    /// Waits until the upstream has received a request; returns the connections that were opened meanwhile.
    private func opened(
        _ events: inout AsyncStream<ScriptedFinnhub.Event>.Iterator,
        until request: String
    ) async -> Int {
        var opened = 0
        while let event = await events.next() {
            switch event {
            case .opened: opened += 1
            case .received(_, request): return opened
            case .received, .accepted, .ended: break
            }
        }
        return -1
    }

    private func request(_ type: String, _ symbol: String) -> String {
        #"{"type":"\#(type)","symbol":"\#(symbol)"}"#
    }

    @Test(
        "SIGHUP follows other symbols on the same connection, refuses a bad file whole, and names what needs a restart"
    )
    func symbols() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try await ScriptedFinnhub.start { _ in .play([]) }
        var events = server.events.makeAsyncIterator()
        let file = try folder.write("symbols: [BINANCE:BTCUSDT]\n", to: "config.yaml")
        let program = try self.run(server, folder)
        let port = try #require(await program.relayPort(), "\(program.errors)")
        #expect(await self.opened(&events, until: self.request("subscribe", "BINANCE:BTCUSDT")) == 1)

        _ = try folder.write("symbols: [BINANCE:ETHUSDT]\ndisplay:\n  format: json\n", to: "config.yaml")
        program.send(signal: SIGHUP)
        #expect(await program.printsError(of: "SIGHUP: loaded \(file) again: symbols\n"), "\(program.errors)")
        #expect(await program.printsError(of: "SIGHUP: only a restart changes display.format\n"), "\(program.errors)")
        #expect(await self.opened(&events, until: self.request("unsubscribe", "BINANCE:BTCUSDT")) == 0)
        #expect(await self.opened(&events, until: self.request("subscribe", "BINANCE:ETHUSDT")) == 0)

        _ = try folder.write("symbols: [BINANCE:SOLUSDT]\nrelay:\n  # many\n  max-clients: many\n", to: "config.yaml")
        program.send(signal: SIGHUP)
        let refusal =
            "SIGHUP: nothing is loaded, everything stays as it was: relay.max-clients (from \(file):4): \"many\""
        #expect(await program.printsError(of: refusal), "\(program.errors)")
        let diff = try RunningProgram(
            RunningProgram.tickertape,
            ["config", "--diff", "--relay", "127.0.0.1:\(port)", "--set", "symbols=BINANCE:ADAUSDT"]
        )
        #expect(await diff.ending() == .exit(0), "\(diff.errors)")
        #expect(
            diff.output.contains(
                "symbols: [BINANCE:ETHUSDT] (from \(file)) runs; [BINANCE:ADAUSDT] (from --set symbols)"
            ),
            "\(diff.output)"
        )
        #expect(!diff.output.contains("averysecretkey"))

        _ = try folder.write("symbols: [BINANCE:ETHUSDT, BINANCE:XRPUSDT]\n", to: "config.yaml")
        program.send(signal: SIGHUP)
        // Had the refused file been loaded in part, the upstream would have received another request first.
        #expect(await self.opened(&events, until: self.request("subscribe", "BINANCE:XRPUSDT")) == 0)
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(10)) == .exit(0), "\(program.errors)")
        #expect(!program.errors.contains("SOLUSDT"))
        try await server.stop()
    }

    @Test("a new key's connection takes over with its first trade, a rejected one changes nothing, and no key is shown")
    func key() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let rejected = "arejectedkey000"
        let server = try await ScriptedFinnhub.start { connection in
            connection == 1 ? .refuse(status: .unauthorized, body: "bad key \(rejected)") : .play([])
        }
        var events = server.events.makeAsyncIterator()
        let file = try folder.write("firstsecretkey0\n", to: "key")
        chmod(file, 0o600)
        _ = try folder.write("token-file: \(file)\nreload: {watch: true}\n", to: "config.yaml")
        let program = try self.run(server, folder, key: nil)
        _ = try #require(await program.relayPort(), "\(program.errors)")
        #expect(await self.opened(&events, until: self.request("subscribe", "BINANCE:BTCUSDT")) == 1)
        server.send(Self.trade, on: 0)

        _ = try folder.write("\(rejected)\n", to: "key")
        #expect(
            await program.printsError(
                of: "reload.watch: the new key is not used, and the one before stays: "
            ),
            "\(program.errors)"
        )
        _ = try folder.write("secondsecretkey\n", to: "key")
        program.send(signal: SIGHUP)
        #expect(
            await program.printsError(of: "a connection with the new key is being opened; the old one stays"),
            "\(program.errors)"
        )
        #expect(await self.opened(&events, until: self.request("subscribe", "BINANCE:BTCUSDT")) == 2)
        server.send(Self.trade.replacing("61837.63", with: "61840.01"), on: 2)
        #expect(await program.printsError(of: "the new key is in use: its connection took over"), "\(program.errors)")
        while let event = await events.next(), event != .ended(connection: 0) {}
        // It is the owner of the new key now, and of the old one no longer.
        for (key, isOwner) in [("secondsecretkey", true), ("firstsecretkey0", false)] {
            let doctor = try RunningProgram(
                RunningProgram.tickertape,
                ["doctor", "--json", "--upstream", "ws://127.0.0.1:\(server.port)"],
                environment: [
                    "FINNHUB_TOKEN": key, "XDG_STATE_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path,
                ]
            )
            _ = await doctor.ending()
            #expect(
                doctor.output.contains("id \(program.processIdentifier) holds the key") == isOwner,
                "\(key): \(doctor.output)"
            )
        }
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(10)) == .exit(0), "\(program.errors)")
        let shown = program.errors + program.output
        #expect(!shown.contains("secretkey") && !shown.contains(rejected))
        try await server.stop()
    }

    @Test("a client without the relay's new token is closed with 1008, one at the socket file stays")
    func token() async throws {
        try #require(access(RunningProgram.python, X_OK) == 0, "run scripts/test, which makes \(RunningProgram.python)")
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try await ScriptedFinnhub.start { _ in .play([.send(Self.trade)]) }
        var events = server.events.makeAsyncIterator()
        _ = try folder.write("relay:\n  unix-socket: \(folder.path)/relay.sock\n", to: "config.yaml")
        let program = try self.run(server, folder)
        let port = try #require(await program.relayPort(), "\(program.errors)")
        let client = try RunningProgram(
            RunningProgram.python,
            [
                "\(RunningProgram.sources)/Tests/Clients/finnhub_sample.py", "ws://127.0.0.1:\(port)/",
                "BINANCE:BTCUSDT", "BINANCE:ETHUSDT",
            ]
        )
        let watch = try RunningProgram(
            RunningProgram.tickertape,
            ["watch", "ws+unix:\(folder.path)/relay.sock", "--format", "plain"]
        )
        #expect(!(await watch.lines(1)).isEmpty, "\(watch.errors)")
        // The client has asked for the first symbol by then.
        _ = await self.opened(&events, until: self.request("subscribe", "BINANCE:ETHUSDT"))
        server.send(Self.trade, on: 0)
        #expect(!(await client.lines(1)).isEmpty, "\(client.errors)")

        let token = try folder.write("0123456789abcdef0123\n", to: "token")
        defer { unlink(token) }
        chmod(token, 0o600)
        _ = try folder.write(
            "relay:\n  unix-socket: \(folder.path)/relay.sock\n  token-file: \(token)\n",
            to: "config.yaml"
        )
        program.send(signal: SIGHUP)
        #expect(
            await client.printsError(of: "### closed ### 1008 the relay's token is another one now"),
            "\(client.errors)"
        )
        #expect(
            await program.printsError(of: "relay.token-file; closed 1 client that may not stay"),
            "\(program.errors)"
        )
        server.send(Self.trade.replacing("61837.63", with: "61840.01"), on: 0)
        #expect(await watch.lines(2).count == 2, "\(watch.errors)")
        for running in [watch, program] {
            running.send(signal: SIGTERM)
            #expect(await running.ending(atMost: .seconds(10)) == .exit(0), "\(running.errors)")
        }
        try await server.stop()
    }

    @Test("with reload.watch a file that is replaced is loaded again, without a signal")
    func watch() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try await ScriptedFinnhub.start { _ in .play([]) }
        let file = try folder.write("reload: {watch: true}\nsymbols: [BINANCE:BTCUSDT]\n", to: "config.yaml")
        let program = try self.run(server, folder)
        _ = try #require(await program.relayPort(), "\(program.errors)")
        let next = try folder.write("reload: {watch: true}\nsymbols: [BINANCE:ETHUSDT]\n", to: "next.yaml")
        #expect(rename(next, file) == 0)
        #expect(await program.printsError(of: "reload.watch: loaded \(file) again: symbols\n"), "\(program.errors)")
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(10)) == .exit(0), "\(program.errors)")
        #expect(program.errors.split(separator: "\n").count { $0.contains("reload.watch:") } == 1, "\(program.errors)")
        try await server.stop()
    }

    @Test("config --check ends with 0, or with 78 and the line of the mistake; --explain has the manual's words")
    func config() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        func config(_ arguments: String...) async throws -> (text: String, ending: RunningProgram.Ending?) {
            let program = try RunningProgram(RunningProgram.tickertape, ["config"] + arguments)
            let ending = await program.ending()
            return (program.output + program.errors, ending)
        }
        let good = try folder.write("symbols: [BINANCE:BTCUSDT]\n", to: "good.yaml")
        let right = try await config("--check", good)
        #expect(right.ending == .exit(0) && right.text == "\(good): no mistake was found\n", "\(right.text)")
        let bad = try folder.write("symbols: [A:B]\nrelay:\n  max-clientz: 5\n", to: "bad.yaml")
        let wrong = try await config("--check", bad)
        #expect(wrong.ending == .exit(78) && wrong.text.contains("(from \(bad):3): no such setting"), "\(wrong.text)")
        let open = try folder.write("relay:\n  listen: 0.0.0.0:8080\n", to: "open.yaml")
        let refused = try await config("--check", open)
        #expect(refused.ending == .exit(78) && refused.text.contains("relay.token-file"), "\(refused.text)")

        let words = try await config("--explain", "relay.allowed-origins").text
        #expect(words.contains("  Web pages that may connect, such as http://localhost:3000."), "\(words)")
        #expect(words.contains("\ndefault: []\nnow: [] (default)\n"), "\(words)")
        #expect(words.contains("a change takes effect with a reload (SIGHUP)"), "\(words)")
        let unknown = try await config("--explain", "relay.allowed-origin")
        #expect(unknown.ending == .exit(64) && unknown.text.contains("did you mean relay.allowed-origins?"))
    }
}
