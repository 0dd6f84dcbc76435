import Glibc
import Testing
import TickertapeTesting

/// A refused symbol, as clients of the program's relay see it.
@Suite("A symbol that the service refuses, at the relay", .serialized, .timeLimit(.minutes(3 * Patience.factor)))
struct RefusedSymbolProgramTests {
    private static func trade(_ symbol: String) -> String {
        #"{"data":[{"c":null,"p":61837.63,"s":"\#(symbol)","t":1723161255342,"v":0.02}],"type":"trade"}"#
    }

    /// Waits for a line with these words.
    private func line(of client: RunningProgram, with words: String...) async -> String? {
        for count in 1...50 {
            guard let line = await client.lines(count, atMost: .seconds(20)).dropFirst(count - 1).first else {
                return nil
            }
            if words.allSatisfy({ line.contains($0) }) { return line }
        }
        return nil
    }

    @Test("is reported on /v1/stream and in Finnhub's protocol, and reaches both when it trades after all")
    func refused() async throws {
        try #require(access(RunningProgram.python, X_OK) == 0, "run scripts/test, which makes \(RunningProgram.python)")
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try await ScriptedFinnhub.start { _ in .play([]) }
        let service = Task {
            for await case .received(let connection, let text) in server.events where text.contains("NEW:COIN") {
                server.send(#"{"msg":"Invalid symbol NEW:COIN","type":"error"}"#, on: connection)
            }
        }
        let program = try RunningProgram(
            RunningProgram.tickertape,
            ["run", "--format", "plain", "--upstream", "ws://127.0.0.1:\(server.port)", "--relay", "127.0.0.1:0"],
            environment: [
                "FINNHUB_TOKEN": "averysecretkey", "XDG_STATE_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path,
            ]
        )
        let port = try #require(await program.relayPort(), "\(program.errors)")
        func client(_ script: String, _ path: String) throws -> RunningProgram {
            try RunningProgram(
                RunningProgram.python,
                ["\(RunningProgram.sources)/Tests/Clients/\(script)", "ws://127.0.0.1:\(port)\(path)", "NEW:COIN"]
            )
        }
        let dropIn = try client("finnhub_sample.py", "/")
        let stream = try client("stream_client.py", "/v1/stream")
        #expect(await self.line(of: dropIn, with: #""msg":"Invalid symbol NEW:COIN""#) != nil, "\(dropIn.output)")
        #expect(
            await self.line(of: stream, with: #""type": "symbol""#, "NEW:COIN", "no-such-symbol") != nil,
            "\(stream.output)"
        )
        server.send(Self.trade("NEW:COIN"), on: 0)
        #expect(await self.line(of: dropIn, with: "61837.63", "NEW:COIN") != nil, "\(dropIn.output)")
        #expect(await self.line(of: stream, with: "61837.63", "NEW:COIN") != nil, "\(stream.output)")
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(10)) == .exit(0), "\(program.errors)")
        #expect(await dropIn.ending() != nil)
        #expect(await stream.ending() != nil)
        try await server.stop()
        await service.value
    }
}
