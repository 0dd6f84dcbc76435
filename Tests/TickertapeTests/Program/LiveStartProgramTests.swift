import Glibc
import Testing
import TickertapeTesting

/// The built program without a key, whose exchange is a mock server.
@Suite("From the demo to the live market", .serialized, .timeLimit(.minutes(3 * Patience.factor)))
struct LiveStartProgramTests {
    private func screen(_ steps: [String], port: Int, more: [String] = ["--relay", "off"]) throws -> RunningProgram {
        try #require(access(RunningProgram.python, X_OK) == 0, "scripts/test makes \(RunningProgram.python)")
        return try RunningProgram(
            RunningProgram.python,
            ["\(RunningProgram.sources)/Tests/Clients/screen.py"] + steps + ["--", RunningProgram.tickertape]
                + [
                    "--set", "venues.binance-url=ws://127.0.0.1:\(port)/stream", "--set",
                    "venues.binance-service=http://127.0.0.1:\(port)",
                ] + more,
            environment: ["TICKERTAPE_TEST_PATIENCE": "\(Patience.factor)"]
        )
    }

    @Test("v shows the live market, without a mark of the demo and with its own session, and q ends it")
    func goesLive() async throws {
        let server = try RunningProgram(
            RunningProgram.tickertape,
            ["serve", "--simulate", "--venue", "binance", "--plain", "--listen", "127.0.0.1:0"]
        )
        let port = try #require(await server.errorText(numberBehind: "on ws://127.0.0.1:"), "\(server.errors)")
        let steps = [
            "size:100x30", "wait:DEMO", "wait:not the market: v shows the live market", "wait:\\d\\.\\d\\d", "key:v",
            "wait:● LIVE", "absent:DEMO", "absent:bundled", "wait:BTCUSDT", "wait:ETHUSDT", "key:v",
            "wait:this is the live market", "key:q", "exit:0", "restored",
        ]
        let run = try self.screen(steps, port: port)
        #expect(await run.ending() == .exit(0), "\(run.output.suffix(8_000)) \(run.errors)")
        server.send(signal: SIGTERM)
        _ = await server.ending()
    }

    @Test("a member of a cluster stays in the demo, and says how it joins its cluster", arguments: ["edge", "ingest"])
    func belongsToCluster(role: String) async throws {
        let steps = [
            "size:100x30", "wait:DEMO", "wait:\\d\\.\\d\\d", "key:v",
            "wait:this program belongs to a cluster: start it without --demo", "wait:PLAYING.*DEMO", "key:q", "exit:0",
            "restored",
        ]
        // Nothing listens at port 1.
        let run = try self.screen(steps, port: 1, more: ["--demo", "--relay", "off", "--set", "cluster.role=\(role)"])
        #expect(await run.ending() == .exit(0), "\(run.output.suffix(8_000)) \(run.errors)")
    }

    @Test("an exchange that cannot be reached leaves the demo on the screen, with the reason and the mark")
    func staysDemo() async throws {
        // Nothing listens at port 1.
        let steps = [
            "size:100x30", "wait:DEMO", "wait:\\d\\.\\d\\d", "key:v", "wait:live market cannot be reached",
            "wait:refuses\\s+connections",
            "wait:PLAYING.*DEMO", "key:e", "wait:cannot be reached", "key:q", "exit:0", "restored",
        ]
        let run = try self.screen(steps, port: 1)
        #expect(await run.ending() == .exit(0), "\(run.output.suffix(8_000)) \(run.errors)")
    }
}
