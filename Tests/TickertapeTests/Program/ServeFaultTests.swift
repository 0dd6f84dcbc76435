import Testing
import TickertapeTesting

/// The program's mock server with faults, and the program as its client.
@Suite("`tickertape serve --fault`", .timeLimit(.minutes(2 * Patience.factor)))
struct ServeFaultTests {
    private static let demo = "\(RunningProgram.sources)/Sources/Tickertape/Resources/demo.jsonl"

    @Test("injects the configured fault, and reports it")
    func faults() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try RunningProgram(
            RunningProgram.tickertape,
            [
                "serve", Self.demo, "--plain", "--listen", "127.0.0.1:0", "--speed", "10", "--fault",
                "status=429,retry-after=1@1", "--fault", "close=1012,reason=restart@500ms@2",
            ]
        )
        #expect(await server.printsError(of: "Ctrl-C stops"))
        let port = try #require(RunningProgram.number(in: server.errors, behind: "ws://127.0.0.1:"))
        let client = try RunningProgram(
            RunningProgram.tickertape,
            ["--upstream", "ws://127.0.0.1:\(port)", "--format", "plain", "--relay", "off"],
            environment: ["FINNHUB_TOKEN": "anything", "XDG_STATE_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]
        )
        #expect(await client.printsError(of: "429"))
        #expect(await client.printsError(of: "1012"))
        #expect(await server.printsError(of: "connection 2: close=1012"))
        #expect(server.errors.contains("connection 1: status=429"))
        client.send(signal: 15)
        #expect(await client.ending() == .exit(0))
        server.send(signal: 15)
        #expect(await server.ending() == .exit(0))
    }

    @Test("refuses a fault that it does not know with status 64, and names those that it knows")
    func unknown() async throws {
        let server = try RunningProgram(RunningProgram.tickertape, ["serve", Self.demo, "--fault", "explode"])
        #expect(await server.ending() == .exit(64))
        #expect(server.errors.contains("the faults are hang, drop, rst"))
    }
}
