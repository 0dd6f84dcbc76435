import Glibc
import Testing
import TickertapeTesting

/// Displays of another program's relay.
@Suite("Watching a relay", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct WatchProgramTests {
    private static func trade(_ price: Int, _ symbol: String = "BINANCE:BTCUSDT") -> String {
        #"{"data":[{"c":null,"p":\#(price),"s":"\#(symbol)","t":1723161255342,"v":1}],"type":"trade"}"#
    }

    private func relay(_ server: ScriptedFinnhub, port: Int = 0, record: String? = nil) throws -> RunningProgram {
        try RunningProgram(
            RunningProgram.tickertape,
            [
                "--quiet", "--upstream", "ws://127.0.0.1:\(server.port)", "--relay", "127.0.0.1:\(port)", "--set",
                "pipeline.quiet=0ms", "--set", "reconnect.min=10ms",
            ] + (record.map { ["--record", $0] } ?? []),
            environment: ["FINNHUB_TOKEN": Canary.key]
        )
    }

    private func watch(_ port: Int, _ arguments: String...) throws -> RunningProgram {
        try RunningProgram(RunningProgram.tickertape, ["watch", "ws://127.0.0.1:\(port)"] + arguments)
    }

    @Test("several watch at once, in several formats, and all survive a restart of the relay, with the gap reported")
    func restart() async throws {
        let server = try await ScriptedFinnhub.start { connection in
            .play(connection == 0 ? [.send(Self.trade(1)), .send(Self.trade(2))] : [.send(Self.trade(7))])
        }
        let first = try self.relay(server)
        let port = try #require(await first.relayPort(), "\(first.errors)")
        let plain = try self.watch(port, "--format", "plain")
        let json = try self.watch(port, "--format", "json", "--symbol", "BINANCE:BTCUSDT")
        let csv = try self.watch(port, "--format", "csv", "--fields", "symbol,price")
        #expect(await csv.prints("BINANCE:BTCUSDT,2,live\r"), "\(csv.output) \(csv.errors)")
        #expect(await json.prints(#"{"type":"price","symbol":"BINANCE:BTCUSDT","price":"2""#), "\(json.output)")
        #expect(!(await plain.lines(1)).isEmpty)
        first.send(signal: SIGKILL)
        #expect(await first.ending() != nil)
        #expect(await plain.printsError(of: "no link to the relay"))
        let second = try self.relay(server, port: port)
        #expect(await second.relayPort() == port, "\(second.errors)")
        #expect(await csv.prints("BINANCE:BTCUSDT,7,live\r"), "\(csv.output) \(csv.errors)")
        #expect(await plain.printsError(of: "not all of what was missed can be had"), "\(plain.errors)")
        #expect(await json.prints(#"{"type":"gap","#), "\(json.output)")
        for program in [plain, json, csv, second] { program.send(signal: SIGTERM) }
        for program in [plain, json, csv, second] {
            #expect(await program.ending(atMost: .seconds(10)) == .exit(0), "\(program.errors)")
        }
        try await server.stop()
    }

    @Test("an address that answers nothing is left after handshake.upgrade-timeout, and asked again")
    func hangingRelay() async throws {
        let server = try await ScriptedFinnhub.start { _ in .hang }
        let display = try self.watch(server.port, "--format", "plain", "--set", "handshake.upgrade-timeout=400ms")
        #expect(await display.printsError(of: "did not open the WebSocket within 400 ms"), "\(display.errors)")
        display.send(signal: SIGTERM)
        #expect(await display.ending(atMost: .seconds(10)) == .exit(0), "\(display.errors)")
        try await server.stop()
    }

    @Test(
        "a lost connection to a running relay loses no count: missed trades are counted, and none comes twice"
    )
    func link() async throws {
        let server = try await ScriptedFinnhub.start { _ in .play([.send(Self.trade(1))]) }
        let relay = try self.relay(server)
        let port = try #require(await relay.relayPort(), "\(relay.errors)")
        let line = try await CuttableLine.start(to: port)
        let watch = try self.watch(line.port, "--format", "json")
        #expect(await watch.prints(#"{"type":"price","symbol":"BINANCE:BTCUSDT","price":"1""#), "\(watch.output)")
        await line.cut()
        #expect(await watch.prints(#"{"type":"status","state":"reconnecting""#), "\(watch.output)")
        for price in 2...5 { server.send(Self.trade(price), on: 0) }
        line.mend()
        #expect(await watch.prints(#"{"type":"price","symbol":"BINANCE:BTCUSDT","price":"5""#), "\(watch.output)")
        let prices = watch.output.split(separator: "\n").filter { $0.hasPrefix(#"{"type":"price""#) }
        #expect(prices.filter { $0.contains(#""price":"1","#) }.count == 1, "\(prices)")
        var reported = 0
        for line in prices { reported += 1 + (RunningProgram.number(in: String(line), behind: #""skipped":"#) ?? 0) }
        #expect(reported == 5, "\(prices)")
        #expect(!watch.output.contains(#"{"type":"gap""#), "\(watch.output)")
        for program in [watch, relay] { program.send(signal: SIGTERM) }
        #expect(await watch.ending(atMost: .seconds(10)) == .exit(0))
        try await line.stop()
        try await server.stop()
    }

    @Test("--once takes a fresh price of the relay, and refuses an old one with 3 and its age")
    func once() async throws {
        let server = try await ScriptedFinnhub.start { _ in .play([.send(Self.trade(1))]) }
        let relay = try self.relay(server)
        let port = try #require(await relay.relayPort(), "\(relay.errors)")
        let fresh = try self.watch(port, "--once", "--fields", "symbol,price")
        #expect(await fresh.ending() == .exit(0), "\(fresh.errors)")
        #expect(fresh.output == "BINANCE:BTCUSDT 1\n")
        let old = try self.watch(
            port,
            "--once",
            "--once-within",
            "3s",
            "--set",
            "feed.stale-after=10ms"
        )
        #expect(await old.ending() == .exit(3), "\(old.errors)")
        #expect(old.output == "" && old.errors.contains("its newest trade is"), "\(old.errors)")
        let nobody = try self.watch(1, "--once", "--once-within", "2s")
        #expect(await nobody.ending() == .exit(3), "\(nobody.errors)")
        #expect(nobody.errors.contains("no link to the relay"), "\(nobody.errors)")
        relay.send(signal: SIGTERM)
        #expect(await relay.ending(atMost: .seconds(10)) == .exit(0))
        try await server.stop()
    }
}
