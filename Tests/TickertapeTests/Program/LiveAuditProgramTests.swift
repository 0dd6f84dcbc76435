import Testing
import TickertapeTesting

/// The program with `finnhub.audit`, in front of a mock server that speaks for Finnhub and for Binance.
@Suite("The audit of Finnhub's trades while the program runs", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct LiveAuditProgramTests {
    private func ask(_ path: String, port: Int) async throws -> String {
        let curl = try RunningProgram("/usr/bin/env", ["curl", "-s", "http://127.0.0.1:\(port)\(path)"])
        #expect(await curl.ending() == .exit(0), "\(path)")
        return curl.output
    }

    @Test("compares Finnhub's trades with the venue's, which come onto no tape, and reports them everywhere")
    func compared() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let market = AuditedMarket(seed: 8, count: 6_000, share: 10, kinds: [.lost])
        let recording = try folder.write(market.recording, to: "both.jsonl")
        let server = try RunningProgram(
            RunningProgram.tickertape,
            ["serve", recording, "--plain", "--listen", "127.0.0.1:0", "--speed", "20", "--shared-clock", "--loop"]
        )
        #expect(await server.printsError(of: "Ctrl-C stops"), "\(server.errors)")
        let upstream = try #require(RunningProgram.number(in: server.errors, behind: "ws://127.0.0.1:"))
        let program = try RunningProgram(
            RunningProgram.tickertape,
            [
                "run", "--audit", "--format", "plain", "--upstream", "ws://127.0.0.1:\(upstream)/", "--relay",
                "127.0.0.1:0",
                "--symbol", "BINANCE:BTCUSDT", "--set", "venues.binance-url=ws://127.0.0.1:\(upstream)/stream", "--set",
                "venues.binance-service=http://127.0.0.1:\(upstream)", "--record", "\(folder.path)/out.jsonl",
                "--set", "record.compress=false",
            ],
            environment: [
                "FINNHUB_TOKEN": Canary.key, "XDG_STATE_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path,
            ]
        )
        let port = try #require(await program.relayPort(), "\(program.errors)")
        var report = ""
        var delivered = 0
        for _ in 0..<300 where delivered < 500 {
            report = try await self.ask("/v1/audit", port: port)
            delivered = RunningProgram.number(in: report, behind: "\"delivered\":") ?? 0
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(delivered >= 500, "\(report) \(program.errors)")
        #expect(
            report.hasPrefix("{\"enabled\":true,\"complete\":true,\"symbols\":[{\"symbol\":\"BINANCE:BTCUSDT\","),
            "\(report)"
        )
        #expect(report.contains("\"unknown\":0,") && report.contains("\"delay\":{\"count\":"), "\(report)")
        let metrics = try await self.ask("/metrics", port: port)
        #expect(metrics.contains("tickertape_audit_trades{symbol=\"BINANCE:BTCUSDT\",outcome=\"delivered\"} "))
        #expect(metrics.contains("tickertape_audit_delay_seconds{symbol=\"BINANCE:BTCUSDT\",quantile=\"0.99\"} "))
        // A trade of the venue's has an id.
        let trades = try await self.ask("/v1/trades/BINANCE:BTCUSDT?limit=100", port: port)
        #expect(trades.contains("\"price\":") && !trades.contains("\"id\":"), "\(trades)")
        program.send(signal: 15)
        #expect(await program.ending() == .exit(0))
        #expect(program.errors.contains("audit: BINANCE:BTCUSDT: 100 % delivered, "), "\(program.errors)")
        #expect(program.errors.contains("audit: BINANCE:BTCUSDT: delay after the venue, ms p50/p99/max: "))
        #expect(!(try folder.read("out.jsonl")).contains("btcusdt@trade"))
        server.send(signal: 15)
        #expect(await server.ending() == .exit(0))
    }

    @Test("is refused with one line where no symbol comes from Finnhub")
    func refused() async throws {
        let program = try RunningProgram(
            RunningProgram.tickertape,
            ["run", "--from", "venue", "--audit", "--relay", "off", "--symbol", "BINANCE:BTCUSDT"]
        )
        #expect(await program.ending() == .exit(78))
        #expect(program.errors.contains("finnhub.audit compares Finnhub's trades, and no symbol comes from Finnhub"))
    }
}
