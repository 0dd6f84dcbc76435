import Glibc
import Testing
import TickertapeTesting

/// The built program as a WAMP router, with autobahn-python as its clients.
@Suite("WAMP of the program", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct WAMPProgramTests {
    private func python(_ arguments: String...) throws -> RunningProgram {
        let path = RunningProgram.python
        try #require(access(path, X_OK) == 0, "\(path) is missing: run scripts/test, which makes it")
        return try RunningProgram(path, arguments)
    }

    private func relay() throws -> RunningProgram {
        let arguments = ["--demo", "--quiet", "--relay", "127.0.0.1:0", "--set", "relay.wamp=true"]
        return try RunningProgram(RunningProgram.tickertape, arguments + ["--set", "wamp.broker=true"])
    }

    @Test("two sessions of a library publish, call and get the feed", arguments: ["json", "msgpack", "cbor"])
    func library(serializer: String) async throws {
        let program = try self.relay()
        let port = try #require(await program.relayPort(), "\(program.errors)")
        #expect(program.errors.contains("/v1/stream and /wamp"))
        let script = "\(RunningProgram.sources)/Tests/Clients/WAMP/autobahn_client.py"
        let url = "ws://127.0.0.1:\(port)/wamp"
        let client = try self.python(script, url, serializer, "--feed", "BINANCE:BTCUSDT")
        #expect(await client.ending() == .exit(0), "\(client.output) \(client.errors)")
        #expect(client.output.hasSuffix("ok\n"))
        program.send(signal: SIGINT)
        #expect(await program.ending() != nil)
    }

    @Test("a subscription comes back when the library has reconnected")
    func reconnects() async throws {
        let first = try self.relay()
        let port = try #require(await first.relayPort(), "\(first.errors)")
        let script = "\(RunningProgram.sources)/Tests/Clients/WAMP/autobahn_component.py"
        let client = try self.python(script, "ws://127.0.0.1:\(port)/wamp", "tickertape.price.BINANCE:BTCUSDT", "2")
        #expect(await client.prints(#"{"type": "snapshot""#))
        first.send(signal: SIGINT)
        #expect(await first.ending() != nil)
        let arguments = ["--demo", "--quiet", "--relay", "127.0.0.1:\(port)", "--set", "relay.wamp=true"]
        let second = try RunningProgram(RunningProgram.tickertape, arguments)
        #expect(await client.ending() == .exit(0), "\(client.output) \(client.errors) \(second.errors)")
        #expect(client.output.split(separator: "\n").filter { $0 == "joined" }.count == 2)
        second.send(signal: SIGINT)
        #expect(await second.ending() != nil)
    }

    @Test("the page's examples work as they are printed", arguments: ["python", "javascript"])
    func example(language: String) async throws {
        let page = try TemporaryFolder.text(of: "\(RunningProgram.sources)/docs/wamp.md")
        let start = try #require(page.firstRange(of: "```\(language)\n"))
        let end = try #require(page[start.upperBound...].firstRange(of: "```"))
        let program = try self.relay()
        let port = try #require(await program.relayPort(), "\(program.errors)")
        let code = page[start.upperBound..<end.lowerBound].replacing("127.0.0.1:8080", with: "127.0.0.1:\(port)")
        // Below version 22 node has no WebSocket of its own; Debian's package has the same class.
        let webSocket = #"globalThis.WebSocket ??= require("/usr/share/nodejs/ws");"#
        let client =
            language == "python"
            ? try self.python("-c", String(code))
            : try RunningProgram("/usr/bin/env", ["node", "-e", "\(webSocket)\n\(code)"])
        #expect(await client.prints("BINANCE:BTCUSDT "), "\(client.errors)")
        client.send(signal: SIGINT)
        _ = await client.ending()
        program.send(signal: SIGINT)
        #expect(await program.ending() != nil)
    }
}
