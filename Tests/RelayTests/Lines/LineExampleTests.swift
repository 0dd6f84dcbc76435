import Foundation
import HTTP
import NIOCore
import Testing
import TickertapeTesting
@testable import Relay

/// The examples of `docs/lines.md`, as they stand there but for the port.
@Suite("Lines: the examples of the documentation", .timeLimit(.minutes(2 * Patience.factor)))
struct LineExampleTests {
    /// Returns the block of code that contains a text.
    private static func block(with text: String) throws -> String {
        let page = URL(fileURLWithPath: "\(RunningProgram.sources)/docs/lines.md")
        let parts = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```")
        let block = try #require(parts.first { $0.contains(text) })
        return block.split(separator: "\n", maxSplits: 1).dropFirst().joined()
    }

    @Test(
        "print what the relay sends",
        arguments: [
            ("import socket, json", "/usr/bin/env", ["python3", "-u", "-c"], "1 1.5 0.02"),
            ("/dev/tcp", "/bin/bash", ["-c"], "1.5"),
        ]
    )
    func prints(mark: String, program: String, arguments: [String], expected: String) async throws {
        let code = try Self.block(with: mark)
        try await RelayFixture.run {
            $0.lines = Endpoint(host: "127.0.0.1", port: 0)
        } body: { fixture in
            let port = try #require(fixture.relay.linesAddress?.port)
            let running = try RunningProgram(
                program,
                arguments + [code.replacing("7071", with: "\(port)")],
                environment: [:],
                input: Pipe()
            )
            for _ in 0..<600 where !fixture.calls.all.contains(Frames.btc) {
                _ = await running.lines(1_000_000, atMost: .milliseconds(50))
            }
            fixture.feed(Frames.trade(Frames.btc, "1.5"))
            #expect(await running.lines(upTo: expected).contains(expected), "\(running.errors.suffix(2_000))")
        }
    }
}
