import Foundation
import NIOCore
import NIOHTTP1
import Testing
import TickertapeTesting
import WebSocket
import Wire

/// Everything that strangers write, by every way in, at every way out: nothing of it is an order to a terminal, a line that
/// is not ours, or a mark that turns the direction of writing.
@Suite("Foreign text at the ways out", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct ForeignTextProgramTests {
    /// The bell, a title, colours, a clear screen, a C1 sequence, forged lines, bidirectional and invisible marks.
    private static let evil =
        "E\u{7}\u{1B}]0;owned\u{7}\u{1B}[31m\u{1B}[2J\u{9B}31m\r\ntickertape: forged\n\u{85}\u{202E}\u{2066}\u{200B}\u{2028}\u{7F}"
    private static var json: String {
        String(
            decoding: (try? JSONEncoder().encode([Self.evil])).map { $0.dropFirst().dropLast() } ?? Data(),
            as: UTF8.self
        )
    }

    /// Whether nothing but line ends is left of what people must not get.
    private static func isClean(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            if scalar == "\n" || scalar == "\r" { return true }
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: return false
            default: return true
            }
        } && !text.split(whereSeparator: \.isNewline).contains { $0.hasPrefix("tickertape: forged") }
    }

    private func check(_ program: RunningProgram, has text: String? = nil, _ note: String) {
        for out in [program.output, program.errors] { #expect(Self.isClean(out), "\(note): \(out.debugDescription)") }
        if let text { #expect((program.output + program.errors).contains(text), "\(note): \(program.errors)") }
    }

    private func trade(_ symbol: String) -> String {
        #"{"data":[{"c":null,"p":61837.63,"s":\#(symbol),"t":\#(Int(Date().timeIntervalSince1970 * 1_000)),"v":0.02}],"type":"trade"}"#
    }

    @Test(
        "the service's errors, a symbol, a close and a refusal, in the log and in every form of lines",
        arguments: [
            ["--quiet"], ["--format", "plain"], ["--format", "csv"], ["--format", "json"], ["--format", "oneline"],
            ["--format", "waybar"],
        ]
    )
    func service(form: [String]) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let evil = Self.json
        let server = try await ScriptedFinnhub.start { connection in
            switch connection {
            case 0:
                .play([
                    .send(#"{"type":"error","msg":\#(evil)}"#), .send(self.trade(evil)),
                    .send(#"{"type":\#(evil)}"#), .close(.normal, String(Self.evil.prefix(40))),
                ])
            case 1: .refuse(status: .badGateway, body: Self.evil)
            default: .play([.send(self.trade("\"A:B\""))])
            }
        }
        let program = try RunningProgram(
            RunningProgram.tickertape,
            ["run", "--upstream", "ws://127.0.0.1:\(server.port)", "--relay", "off", "--symbol", "A:B"] + form,
            environment: [
                "FINNHUB_TOKEN": "averysecretkey", "XDG_STATE_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path,
            ]
        )
        for await event in server.events {
            if case .received(2..., _) = event { break }
        }
        if form == ["--quiet"] {
            #expect(await program.complains(of: "HTTP 502", atMost: .seconds(20)), "\(program.errors)")
            #expect(program.errors.contains("The service reports an error text="), "\(program.errors)")
        } else {
            #expect(await program.prints("", atMost: .seconds(20)))
        }
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(20)) != nil)
        self.check(program, "\(form)")
        try await server.stop()
    }

    @Test("the header and the frames of a stranger's recording, in what describes, checks, cuts, exports and plays it")
    func recording() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let file = "\(folder.path)/evil.jsonl"
        var text = ByteBuffer()
        var header = RecordingHeader(
            version: 2,
            symbols: [Self.evil, "A:B"],
            start: 1_000,
            epoch: 1,
            source: Self.evil
        )
        header.first = 1
        header.program = Self.evil
        header.address = Self.evil
        RecordingSyntax.header(header, into: &text)
        for (index, frame) in [
            self.trade(Self.json), #"{"type":"error","msg":\#(Self.json)}"#, Self.evil, self.trade("\"A:B\""),
        ].enumerated() {
            let at = Int64(index) * 1_000
            let stamp = RecordingSyntax.Stamp(number: UInt64(index + 1), wall: at, at: at)
            RecordingSyntax.frame(ByteBuffer(string: frame), stamp, into: &text)
        }
        try String(buffer: text).write(toFile: file, atomically: true, encoding: .utf8)
        for arguments in [
            ["recording", "info", file], ["recording", "info", "--json", file], ["recording", "verify", file],
            ["recording", "verify", "--json", file], ["recording", "repair", file, "\(folder.path)/r.jsonl"],
            ["export", file, "--csv"], ["export", file, "--json"], ["symbols", "a", "--recording", file],
            ["symbols", "a", "--recording", file, "--format", "csv"],
            ["symbols", "a", "--recording", file, "--format", "json"],
            ["replay", file, "--speed", "max", "--format", "plain", "--relay", "off"],
            ["replay", file, "--speed", "max", "--format", "json", "--relay", "off"],
            ["replay", file, "--symbol", "NO:NE", "--relay", "off"],
        ] {
            let program = try RunningProgram(RunningProgram.tickertape, arguments)
            if await program.ending(atMost: .seconds(15)) == nil { program.send(signal: SIGTERM) }
            #expect(await program.ending(atMost: .seconds(20)) != nil)
            self.check(program, "\(arguments)")
        }
    }

    @Test("arguments, variables and a config file, in complaints and in the list of settings")
    func settings() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let config = "\(folder.path)/config.yaml"
        try "symbols: [\(Self.json)]\n".write(toFile: config, atomically: true, encoding: .utf8)
        let ways: [([String], [String: String])] = [
            (["--symbol", Self.evil], [:]), ([Self.evil], [:]), (["--set", "\(Self.evil)=1"], [:]),
            (["--config", config], [:]), (["config", "--config", config], [:]), ([], ["TICKERTAPE_SYMBOLS": Self.evil]),
            (["config"], ["TICKERTAPE_RELAY_TOKEN_FILE": "/nonexistent/\(Self.evil)"]),
            (["config", "--set", "record.file=\(Self.evil)"], [:]), (["recording", "info", Self.evil], [:]),
            (["--alert", "\(Self.evil) above 1"], [:]), (["export", Self.evil], [:]), (["replay", Self.evil], [:]),
            (["watch", "ws://\(Self.evil)/"], [:]),
        ]
        for (arguments, environment) in ways {
            let program = try RunningProgram(RunningProgram.tickertape, arguments, environment: environment)
            if await program.ending(atMost: .seconds(10)) == nil { program.send(signal: SIGTERM) }
            #expect(await program.ending(atMost: .seconds(20)) != nil)
            self.check(program, "\(arguments)".debugDescription)
        }
    }

    @Test(
        "a symbol that may not be one ends the start with one line and a status",
        arguments: [" A:B", "A:B ", "A\u{200B}B", "A\u{202E}B", "A\u{9B}B", "A\tB", String(repeating: "X", count: 65)]
    )
    func symbols(name: String) async throws {
        for (arguments, environment, status) in [
            (["--symbol", name], [:], Int32(64)), ([], ["TICKERTAPE_SYMBOLS": "A:B,\(name)"], 78),
        ] where environment.isEmpty || !name.contains(" ") {
            let program = try RunningProgram(
                RunningProgram.tickertape,
                arguments + ["--relay", "off"],
                environment: environment.merging(["FINNHUB_TOKEN": "averysecretkey"]) { $1 }
            )
            #expect(await program.ending(atMost: .seconds(20)) == .exit(status), "\(program.errors)")
            #expect(program.errors.split(separator: "\n").count == 1 && program.errors.contains("is not a symbol"))
            self.check(program, name.debugDescription)
        }
    }
}
