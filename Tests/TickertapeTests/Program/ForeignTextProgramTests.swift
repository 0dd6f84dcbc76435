import Foundation
import NIOCore
import NIOHTTP1
import Testing
import TickertapeTesting
import WebSocket
import Wire

/// Untrusted text from every input at every output. None of it may contain a terminal sequence, a forged line, or a
/// bidirectional mark.
@Suite("Foreign text at the ways out", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct ForeignTextProgramTests {
    /// A bell, a title, colours, a clear screen, a C1 sequence, forged lines, bidirectional and invisible marks.
    private static let evil =
        "E\u{7}\u{1B}]0;owned\u{7}\u{1B}[31m\u{1B}[2J\u{9B}31m\r\ntickertape: forged\n\u{85}\u{202E}\u{2066}\u{200B}\u{2028}\u{7F}"
    private static var json: String {
        String(
            decoding: (try? JSONEncoder().encode([Self.evil])).map { $0.dropFirst().dropLast() } ?? Data(),
            as: UTF8.self
        )
    }

    /// Whether the text has no control and format characters except line ends.
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
            ["--format", "waybar"], ["--format", "i3blocks"],
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
            #expect(await program.printsError(of: "HTTP 502", atMost: .seconds(20)), "\(program.errors)")
            #expect(program.errors.contains("The service reports an error text="), "\(program.errors)")
        } else {
            #expect(await program.prints("", atMost: .seconds(20)))
        }
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(20)) != nil)
        self.check(program, "\(form)")
        try await server.stop()
    }

    @Test("an untrusted recording's header and frames, in each command that describes, checks, cuts, exports or plays")
    func recording() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let file = "\(folder.path)/evil.jsonl"
        var text = ByteBuffer()
        var header = RecordingHeader(
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

    /// The messages of a hostile relay on `/v1/stream`, with untrusted text in every member.
    private func relay() -> [ScriptedFinnhub.Act] {
        let (evil, now) = (Self.json, Int(Date().timeIntervalSince1970 * 1_000))
        func price(_ symbol: String, _ price: String = "61837.63", number: Int = 3) -> String {
            #""symbol":\#(symbol),"price":"\#(price)","size":"1","open":"1","high":"\#(price)","low":"1","volume":"2","trades":2,"#
                + #""time":\#(now),"received":\#(now)000,"seq":\#(number)"#
        }
        let state = #""since":\#(now),"reason":\#(evil),"cause":\#(evil),"via":\#(evil),"file":\#(evil)"#
        return [
            #""hello","version":\#(evil),"time":\#(now),"epoch":7,"seq":3,"status":{"state":"live","source":"live",\#(state)},"#
                + #""symbols":[{\#(price(evil)),"age":0,"state":"live"},{\#(price("\"A:B\"")),"age":0,"state":"live"}]"#,
            #""snapshot",\#(price(evil)),"age":0"#, #""price",\#(price(evil))"#, #""price",\#(price("\"A:B\""))"#,
            #""trade",\#(price(evil))"#, #""symbol","symbol":\#(evil),"state":"live",\#(state)"#,
            #""symbol","symbol":"A:C","state":"refused","refusal":\#(evil),\#(state)"#,
            #""gap","epoch":7,"from":\#(now - 9_000),"to":\#(now),"nextSeq":4,"symbol":\#(evil),"#
                + #""reason":\#(evil),"cause":\#(evil)"#,
            #""gap","epoch":7,"from":\#(now - 5_000),"to":\#(now),"nextSeq":4,"reason":\#(evil)"#,
            #""error","msg":\#(evil),"code":\#(evil)"#, evil,
            // Another price after all of these, so that its arrival shows that they have been read.
            #""price",\#(price("\"A:B\"", "71234.5", number: 4))"#,
            #""status","state":"reconnecting","source":"live","attempt":1,"retryAt":\#(now + 60_000),\#(state)"#,
        ].enumerated().map { .send(#"{"n":\#($0 + 1),"type":\#($1)}"#) }
    }

    /// A service that answers every request for headlines with an untrusted one.
    private func news(in folder: TemporaryFolder) async throws -> (program: RunningProgram, place: [String]) {
        let names = ["headline", "source", "summary", "category"]
        let fields = names.map { #""\#($0)":\#(Self.json)"# }.joined(separator: ",")
        let url = #""url":"https://example.org/\#(Self.json.dropFirst())"#
        let path = "\(folder.path)/api/v1"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try #"[{"datetime":1700000000,"id":1,\#(fields),\#(url)}]"#
            .write(toFile: "\(path)/news", atomically: true, encoding: .utf8)
        let server = try RunningProgram(
            "/usr/bin/python3",
            ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder.path]
        )
        #expect(await server.prints("Serving HTTP"), "\(server.errors)")
        let port = try #require(RunningProgram.number(in: server.output, behind: "port "))
        return (server, ["--set", "service.url=http://127.0.0.1:\(port)/api/v1"])
    }

    @Test("a headline, in every form", arguments: ["plain", "json", "csv"])
    func headline(form: String) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (server, place) = try await self.news(in: folder)
        let program = try RunningProgram(
            RunningProgram.tickertape,
            ["news", "--format", form] + place,
            environment: ["FINNHUB_TOKEN": "averysecretkey"]
        )
        #expect(await program.ending() == .exit(0), "\(program.errors)")
        self.check(program, has: "example.org", form)
        server.send(signal: SIGTERM)
    }

    @Test("a relay's messages, a symbol in an alert and a headline, on the screen, in its title and in notifications")
    func screen() async throws {
        try #require(access(RunningProgram.python, X_OK) == 0, "scripts/test makes \(RunningProgram.python)")
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (service, place) = try await self.news(in: folder)
        let called = "\(folder.path)/called"
        let script = "#!/bin/sh\nprintf '%s\\n' \"$@\" >> '\(called)'\n"
        chmod(try folder.write(script, to: "notify-send"), 0o700)
        let acts = self.relay()
        let relay = try await ScriptedFinnhub.start { _ in .play(acts) }
        let steps = [
            "size:100x30", "wait:61837.63", "clean", "key:e", "wait:EVENTS", "wait:gap", "clean", "key:e", "key:n",
            "wait:NEWS", "wait:example.org|owned", "clean", "size:40x12", "clean", "key:n", "key:\\r", "clean", "key:q",
            "exit:0",
            "restored", "clean",
        ]
        let run = try RunningProgram(
            RunningProgram.python,
            ["\(RunningProgram.sources)/Tests/Clients/screen.py"] + steps + [
                "--", RunningProgram.tickertape, "watch", "ws://127.0.0.1:\(relay.port)", "--alert", "* above 1 once",
                "--set", "alerts.actions=bell,flash,osc9,osc777,notify-send",
            ] + place,
            environment: [
                "PATH": "\(folder.path):/usr/bin:/bin", "FINNHUB_TOKEN": "averysecretkey",
                "TICKERTAPE_TEST_PATIENCE": "\(Patience.factor)",
            ]
        )
        #expect(await run.ending() == .exit(0), "\(run.output.suffix(4_000)) \(run.errors)")
        let notified = try String(contentsOfFile: called, encoding: .utf8)
        #expect(notified.contains("owned") && Self.isClean(notified), "\(notified.debugDescription)")
        service.send(signal: SIGTERM)
        try await relay.stop()
    }

    @Test(
        "a relay's messages, in every form of lines",
        arguments: [("plain", 4), ("csv", 5), ("json", 12), ("oneline", 3), ("waybar", 3)]
    )
    func lines(form: String, count: Int) async throws {
        let acts = self.relay()
        let relay = try await ScriptedFinnhub.start { _ in .play(acts) }
        let program = try RunningProgram(
            RunningProgram.tickertape,
            ["watch", "ws://127.0.0.1:\(relay.port)", "--format", form]
        )
        let lines = await program.lines(count, atMost: .seconds(20))
        #expect(lines.contains { $0.contains("71234.5") }, "\(lines)")
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(20)) != nil)
        self.check(program, has: "forged", form)
        try await relay.stop()
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

    @Test(
        "bytes that are no UTF-8 in a symbol end the start with one line and a status, and nothing is sent",
        // Never a byte of UTF-8, half a character, an overlong form, and a surrogate.
        arguments: [#"A:\377B"#, #"A:B\342\202"#, #"A:\300\257B"#, #"A:\355\240\200B"#]
    )
    func rawBytes(name: String) async throws {
        // Foundation passes on strings, and a shell any bytes.
        let ways: [(script: String, arguments: [String], status: Int32)] = [
            (#"exec "$0" "$@" --symbol "$(printf "$NAME")""#, ["run", "--relay", "off", "--upstream"], 64),
            (#"TICKERTAPE_SYMBOLS="X:Y,$(printf "$NAME")" exec "$0" "$@""#, ["--relay", "off", "--upstream"], 78),
            (#"exec "$0" "$@" --symbol "$(printf "$NAME")""#, ["watch"], 64),
        ]
        // Accepts connections, reports them, and never answers.
        let server = try await ScriptedFinnhub.start { _ in .hang }
        for way in ways {
            let program = try RunningProgram(
                "/bin/sh",
                ["-c", "NAME='\(name)'; \(way.script)", RunningProgram.tickertape] + way.arguments
                    + ["ws://127.0.0.1:\(server.port)"],
                environment: ["FINNHUB_TOKEN": "averysecretkey"]
            )
            #expect(await program.ending(atMost: .seconds(20)) == .exit(way.status), "\(program.errors)")
            #expect(program.errors.split(separator: "\n").count == 1, "\(program.errors)")
            #expect(program.errors.contains("is not a symbol, because it is not UTF-8"), "\(program.errors)")
            self.check(program, name)
        }
        try await server.stop()
        for await event in server.events { Issue.record("\(event)") }
    }
}
