import Foundation
import Testing
import TickertapeTesting

@Suite("A replay as fast as it goes, from outside", .timeLimit(.minutes(5 * Patience.factor)))
struct BrakeProgramTests {
    @Test("waits for the slowest reader of its relay, who gets every trade in order")
    func slowReader() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        // 6 MB in 3,000 messages: far more than sockets and the relay keep for a client.
        var text = ""
        var number = 0
        for message in 0..<3_000 {
            let trades = (0..<25).map { _ in
                number += 1
                return #"{\"c\":null,\"p\":\#(number),\"s\":\"A\",\"t\":\#(1_723_161_255_000 + message),\"v\":1}"#
            }
            text +=
                #"{"at":\#(message * 1_000),"frame":"{\"data\":["# + trades.joined(separator: ",")
                + #"],\"type\":\"trade\"}"}"# + "\n"
        }
        let path = try folder.write(text, to: "a.jsonl")
        let program = try RunningProgram(
            RunningProgram.tickertape,
            ["replay", path, "--speed", "max", "--wait-client", "--quiet", "--relay", "127.0.0.1:0"]
        )
        let port = try #require(await program.relayPort(), "\(program.errors)")
        let reader = try RunningProgram(
            "/usr/bin/env",
            ["python3", "\(RunningProgram.sources)/Tests/Clients/slow_reader.py", "\(port)", "A", "500"]
        )
        #expect(await reader.ending(atMost: .seconds(120)) == .exit(0), "\(reader.errors)")
        #expect(
            reader.output.contains("\"trades\": \(number),") && reader.output.contains("\"inOrder\": true"),
            "\(reader.output)"
        )
        #expect(await program.ending(atMost: .seconds(30)) == .exit(0), "\(program.errors)")
        #expect(program.errors.contains("\(number) trades"), "\(program.errors)")
    }

    @Test("ends without a word when it is stopped while it begins again and again")
    func stoppedLoop() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let line =
            #"{"at":0,"frame":"{\"data\":[{\"c\":null,\"p\":1,\"s\":\"A\",\"t\":1,\"v\":1}],\"type\":\"trade\"}"}"#
            + "\n"
        let path = try folder.write(line, to: "a.jsonl")
        let program = try RunningProgram(
            RunningProgram.tickertape,
            ["replay", path, "--loop", "--speed", "max", "--quiet", "--relay", "127.0.0.1:0"]
        )
        _ = try #require(await program.relayPort(), "\(program.errors)")
        try await Task.sleep(for: .seconds(1))
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(30)) == .exit(0))
        #expect(!program.errors.contains("EventLoop"), "\(program.errors.suffix(300))")
    }
}
