import Glibc
import Market
import NIOCore
import NIOHTTP1
import Testing
import TickertapeTesting
import Wire

/// The built program as users run it, with clients in another language.
@Suite("The program", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct ProgramTests {
    private static let demo = "\(RunningProgram.sources)/Sources/Tickertape/Resources/demo.jsonl"

    /// Returns the trade frames of a recording as text.
    static func tradeFrames(of text: String) -> [String] {
        var reader = RecordingParser()
        reader.feed(ByteBuffer(string: text))
        reader.finish()
        var frames: [String] = []
        while let event = reader.nextEvent() {
            guard case .frame(let frame) = event else { continue }
            let text = String(buffer: frame.frame)
            if text.hasSuffix(#""type":"trade"}"#) { frames.append(text) }
        }
        return frames
    }

    private func start(_ arguments: String..., environment: [String: String] = [:]) throws -> RunningProgram {
        try RunningProgram(RunningProgram.tickertape, arguments, environment: environment)
    }

    private func client(_ script: String, _ arguments: String...) throws -> RunningProgram {
        let path = RunningProgram.python
        try #require(access(path, X_OK) == 0, "\(path) is missing: run scripts/test, which makes it")
        return try RunningProgram(path, ["\(RunningProgram.sources)/Tests/Clients/\(script)"] + arguments)
    }

    @Test("gives a client after Finnhub's Python sample every frame of a replay at speed max, as it was, in order")
    func finnhubSample() async throws {
        let expected = Self.tradeFrames(of: try TemporaryFolder.text(of: Self.demo))
        try #require(expected.count > 100)
        let program = try self.start(
            "replay",
            Self.demo,
            "--speed",
            "max",
            "--wait-client",
            "--quiet",
            "--relay",
            "127.0.0.1:0"
        )
        let port = try #require(await program.relayPort(), "\(program.errors)")
        let client = try self.client(
            "finnhub_sample.py",
            "ws://127.0.0.1:\(port)/",
            "BINANCE:BTCUSDT",
            "BINANCE:ETHUSDT"
        )
        #expect(await program.ending() == .exit(0))
        #expect(await client.ending() != nil)
        let frames = client.output.split(separator: "\n").map(String.init).filter { $0.contains("\"data\"") }
        #expect(frames.count == expected.count)
        #expect(frames == expected)
        #expect(client.errors.contains("### closed ### 1001"), "\(client.errors)")
    }

    @Test("shows a client of /v1/stream no equal prices in a row, and the last price of each symbol")
    func streamClient() async throws {
        let program = try self.start(
            "replay",
            Self.demo,
            "--speed",
            "20",
            "--wait-client",
            "--quiet",
            "--relay",
            "127.0.0.1:0"
        )
        let port = try #require(await program.relayPort(), "\(program.errors)")
        let client = try self.client("stream_client.py", "ws://127.0.0.1:\(port)/v1/stream", "BINANCE:BTCUSDT")
        #expect(await program.ending() == .exit(0))
        #expect(await client.ending() == .exit(0))
        let messages = client.output.split(separator: "\n").compactMap { line -> StreamMessage? in
            guard let start = line.firstRange(of: "\"message\": ") else { return nil }
            return StreamMessage.parse(ByteBuffer(substring: line[start.upperBound...].dropLast()))
        }
        let updates = messages.compactMap { message in
            switch message {
            case .snapshot(let update, _), .price(let update): update
            default: nil
            }
        }
        // The statuses of the feed and of the symbol may precede any price.
        let prices = messages.filter { message in
            switch message {
            case .snapshot, .price, .trades, .trade: true
            case .hello, .status, .symbol, .released, .replay, .gap, .settled, .venueDay, .resumed, .error, .unknown,
                .malformed:
                false
            }
        }
        guard case .snapshot? = prices.first else {
            Issue.record("the first price is no snapshot: \(messages.prefix(5))")
            return
        }
        // Some dozens; fewer if prices become old on a slow machine before they are sent.
        #expect(updates.count > 5)
        #expect(zip(updates, updates.dropFirst()).allSatisfy { $0.summary.price != $1.summary.price })
        #expect(zip(updates, updates.dropFirst()).allSatisfy { $0.summary.sequence < $1.summary.sequence })
        let all = Self.tradeFrames(of: try TemporaryFolder.text(of: Self.demo)).joined()
        let last = try #require(updates.last?.summary)
        let lastInFile = all.components(around: #""s":"BINANCE:BTCUSDT""#).last ?? ""
        #expect(lastInFile == "\(last.price)")
        #expect(messages.contains { if case .status(let status) = $0 { status.word == "ended" } else { false } })
    }

    @Test("stops at SIGTERM, with status 0 and a close frame for its clients")
    func stops() async throws {
        let program = try self.start("replay", Self.demo, "--quiet", "--relay", "127.0.0.1:0")
        let port = try #require(await program.relayPort(), "\(program.errors)")
        let client = try self.client("finnhub_sample.py", "ws://127.0.0.1:\(port)/", "BINANCE:BTCUSDT")
        #expect(!(await client.lines(1)).isEmpty)
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(20)) == .exit(0))
        #expect(await client.ending() != nil)
        #expect(client.errors.contains("### closed ### 1001"), "\(client.errors)")
    }

    @Test("without a key it plays the demo and marks every line")
    func demo() async throws {
        let program = try self.start("--relay", "off")
        let lines = await program.lines(3)
        #expect(lines.count >= 3)
        #expect(lines.prefix(3).allSatisfy { $0.hasSuffix(" DEMO") }, "\(lines.prefix(3))")
        #expect(program.errors.contains("DEMO"))
        program.send(signal: SIGINT)
        #expect(await program.ending(atMost: .seconds(20)) == .exit(0))
    }

    @Test("connects by wss to its mock server with that server's authority, and records the same frames")
    func serveAndRecord() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try self.start(
            "serve",
            Self.demo,
            "--listen",
            "127.0.0.1:0",
            "--speed",
            "max",
            "--ca-out",
            "\(folder.path)/ca.pem"
        )
        #expect(await server.printsError(of: "the authority to trust is in"))
        let port = try #require(RunningProgram.number(in: server.errors, behind: "wss://127.0.0.1:"))
        let recording = "\(folder.path)/new.jsonl"
        let recorder = try self.start(
            "record",
            "--upstream",
            "wss://127.0.0.1:\(port)",
            "--ca-file",
            "\(folder.path)/ca.pem",
            "--relay",
            "off",
            "--format",
            "plain",
            "--symbol",
            "BINANCE:BTCUSDT",
            "--symbol",
            "BINANCE:ETHUSDT",
            recording,
            environment: ["FINNHUB_TOKEN": Canary.key]
        )
        // At its end the mock server closes the connection, and the feed reconnects. The first pass is then complete.
        #expect(await recorder.printsError(of: "reconnecting"))
        recorder.send(signal: SIGTERM)
        // The recorder ends after everything is in the file.
        #expect(await recorder.ending() == .exit(0))
        server.send(signal: SIGTERM)
        #expect(await server.ending(atMost: .seconds(20)) == .exit(0))
        let expected = Self.tradeFrames(of: try TemporaryFolder.text(of: Self.demo))
        let text = try folder.read("new.jsonl")
        #expect(Array(Self.tradeFrames(of: text).prefix(expected.count)) == expected)
        for printed in [recorder.output, recorder.errors, server.output, server.errors, text] {
            #expect(!Canary.occurs(in: printed))
        }
    }

    @Test("refuses the mock server without its authority, with the reason, and tries again")
    func untrusted() async throws {
        let server = try self.start("serve", Self.demo, "--listen", "127.0.0.1:0")
        #expect(await server.printsError(of: "--ca-out"))
        // The program prints the authority.
        #expect(await server.prints("-----END CERTIFICATE-----"))
        #expect(server.output.hasPrefix("-----BEGIN CERTIFICATE-----\n"), "\(server.output)")
        #expect(server.output.hasSuffix("-----END CERTIFICATE-----\n"), "\(server.output)")
        let port = try #require(RunningProgram.number(in: server.errors, behind: "wss://127.0.0.1:"))
        let program = try self.start(
            "--upstream",
            "wss://127.0.0.1:\(port)",
            "--relay",
            "off",
            "--format",
            "plain",
            environment: ["FINNHUB_TOKEN": Canary.key]
        )
        #expect(await program.printsError(of: "certificate refused"))
        #expect(program.errors.contains("--ca-file"))
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(20)) == .exit(0))
        #expect(!Canary.occurs(in: program.output + program.errors))
    }

    @Test("marks every line when a setting turns the check of certificates off")
    func unchecked() async throws {
        let server = try self.start("serve", Self.demo, "--listen", "127.0.0.1:0")
        #expect(await server.printsError(of: "--ca-out"))
        let port = try #require(RunningProgram.number(in: server.errors, behind: "wss://127.0.0.1:"))
        let program = try self.start(
            "--upstream",
            "wss://127.0.0.1:\(port)",
            "--relay",
            "off",
            "--format",
            "plain",
            "--set",
            "tls.verify=false",
            environment: ["FINNHUB_TOKEN": Canary.key]
        )
        let lines = await program.lines(1)
        #expect(lines.first?.hasSuffix("CERTIFICATE-NOT-CHECKED") == true, "\(lines) \(program.errors)")
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(20)) == .exit(0))
    }

    @Test("ends with 77 and a hint when the key is rejected")
    func keyRejected() async throws {
        let server = try await ScriptedFinnhub.start { _ in .refuse(status: .init(statusCode: 401)) }
        let program = try self.start(
            "--upstream",
            "ws://127.0.0.1:\(server.port)",
            "--relay",
            "off",
            "--format",
            "plain",
            environment: ["FINNHUB_TOKEN": Canary.key]
        )
        #expect(await program.ending() == .exit(77))
        #expect(program.errors.contains("FINNHUB_TOKEN"))
        #expect(!Canary.occurs(in: program.errors))
        try await server.stop()
    }

    @Test("ends with 78 and a hint when the authority's file cannot be used, and leaves no recording behind")
    func badAuthority() async throws {
        let folder = try TemporaryFolder()
        let program = try self.start(
            "record",
            "--ca-file",
            "\(folder.path)/missing.pem",
            "--relay",
            "off",
            "\(folder.path)/new.jsonl",
            environment: ["FINNHUB_TOKEN": Canary.key]
        )
        #expect(await program.ending() == .exit(78))
        #expect(program.errors.contains("--ca-file"), "\(program.errors)")
        #expect(access("\(folder.path)/new.jsonl", F_OK) != 0)
    }

    @Test("continues when the recording's disk is full, reports it once, and counts the missing lines")
    func fullDisk() async throws {
        let folder = try TemporaryFolder()
        // A limit of 64 blocks of 512 or 1024 bytes acts like a full disk.
        let shell = try RunningProgram(
            "/bin/sh",
            [
                "-c",
                "trap '' XFSZ; ulimit -f 64; exec '\(RunningProgram.tickertape)' replay '\(Self.demo)' --speed max "
                    + "--quiet --relay off --record '\(folder.path)/new.jsonl'",
            ],
            environment: Sanitizer.withSmallFiles
        )
        #expect(await shell.ending() == .exit(0))
        #expect(shell.errors.contains("replayed 8847 trades"), "\(shell.errors)")
        #expect(shell.errors.ranges(of: "cannot be written").count == 1, "\(shell.errors)")
        let recorded = try #require(RunningProgram.number(in: shell.errors, behind: "recorded "))
        let lines = shell.errors.split(separator: "\n")
        let warning = try #require(lines.last { $0.contains("frames are missing there") }, "\(shell.errors)")
        #expect(RunningProgram.number(in: String(warning), behind: "warning: ").map { $0 > 0 } == true)
        var reader = RecordingParser()
        reader.feed(ByteBuffer(string: try folder.read("new.jsonl")))
        reader.finish()
        var frames = 0
        while let event = reader.nextEvent() {
            switch event {
            case .frame: frames += 1
            case .header, .gap: break
            case .damaged, .torn: Issue.record("\(event)")
            }
        }
        #expect(frames == recorded)
    }

    @Test("records again when the disk has space, reports it, and the file has the place and number of missing lines")
    func disk() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let shell = try RunningProgram(
            "/bin/sh",
            [
                "-c",
                "trap '' XFSZ; ulimit -S -f 64; exec '\(RunningProgram.tickertape)' replay '\(Self.demo)' --speed 10 "
                    + "--quiet --relay off --record '\(folder.path)/new.jsonl'",
            ],
            environment: Sanitizer.withSmallFiles
        )
        #expect(await shell.printsError(of: "cannot be written"), "\(shell.errors)")
        let relief = try RunningProgram(
            "/usr/bin/prlimit",
            ["--pid", "\(shell.processIdentifier)", "--fsize=unlimited:"]
        )
        #expect(await relief.ending() == .exit(0), "\(relief.errors)")
        #expect(await shell.printsError(of: "is written again"), "\(shell.errors)")
        shell.send(signal: SIGTERM)
        #expect(await shell.ending() == .exit(0))
        let recorded = try #require(RunningProgram.number(in: shell.errors, behind: "recorded "))
        var reader = RecordingParser()
        reader.feed(ByteBuffer(string: try folder.read("new.jsonl")))
        reader.finish()
        var frames = 0
        var gaps: [(after: Int, gap: Gap)] = []
        while let event = reader.nextEvent() {
            switch event {
            case .frame: frames += 1
            case .gap(let recorded): gaps.append((frames, recorded.gap))
            case .header: break
            case .damaged, .torn: Issue.record("\(event)")
            }
        }
        #expect(frames == recorded)
        let missing = gaps.filter { $0.gap.reason.contains("missing in this recording: File too large") }
        let gap = try #require(missing.last)
        #expect(gap.after > 0 && gap.after < frames && gap.gap.to >= gap.gap.from && gap.gap.nextSequence > 0)
        let counts = missing.compactMap { Int($0.gap.reason.prefix { $0.isNumber }) }
        #expect(shell.errors.contains("warning: \(counts.reduce(0, +)) frames are missing there"), "\(shell.errors)")
    }

    @Test("stops within five seconds of SIGTERM while a client that does not read holds up a replay's end")
    func stopsAtFrozenEnd() async throws {
        let program = try self.start(
            "replay",
            Self.demo,
            "--speed",
            "max",
            "--wait-client",
            "--quiet",
            "--relay",
            "127.0.0.1:0"
        )
        let port = try #require(await program.relayPort(), "\(program.errors)")
        let client = try self.client("finnhub_sample.py", "ws://127.0.0.1:\(port)/", "BINANCE:BTCUSDT")
        #expect(!(await client.lines(1)).isEmpty)
        client.send(signal: SIGSTOP)
        #expect(await program.printsError(of: "replayed"))
        let asked = ContinuousClock.now
        program.send(signal: SIGTERM)
        #expect(await program.ending() == .exit(0))
        // Without the signal the end would wait for 10 s. The limits of the stop itself are five seconds, to which a
        // busy machine may add.
        let took = ContinuousClock.now - asked
        #expect(took < .seconds(8), "\(took)")
        client.send(signal: SIGKILL)
    }

    @Test("ends with 69 and a hint when the relay's port is taken")
    func portTaken() async throws {
        let first = try self.start("--quiet", "--relay", "127.0.0.1:0")
        let port = try #require(await first.relayPort())
        let second = try self.start("--quiet", "--relay", "127.0.0.1:\(port)")
        #expect(await second.ending() == .exit(69))
        #expect(second.errors.contains("--relay"))
        first.send(signal: SIGTERM)
        #expect(await first.ending(atMost: .seconds(20)) == .exit(0))
    }

    @Test("ends quietly when the reader of its output has gone")
    func closedPipe() async throws {
        let shell = try RunningProgram(
            "/bin/sh",
            ["-c", "'\(RunningProgram.tickertape)' --format json --relay off 2>/dev/null | head -n 1"]
        )
        #expect(await shell.ending(atMost: .seconds(20)) == .exit(0))
        #expect(shell.output.hasPrefix("{\"type\":"))
    }

    @Test("ends with 1 and the reason when its output does not take the lines")
    func fullOutput() async throws {
        let shell = try RunningProgram(
            "/bin/sh",
            ["-c", "'\(RunningProgram.tickertape)' --format plain --relay off >/dev/full"]
        )
        #expect(await shell.ending(atMost: .seconds(20)) == .exit(1))
        #expect(shell.errors.contains("No space left on device"), "\(shell.errors)")
    }

    @Test("trusts a renewed authority without a restart")
    func renewedAuthority() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let authority = "\(folder.path)/ca.pem"
        func serve(_ listen: String) throws -> RunningProgram {
            try self.start("serve", Self.demo, "--listen", listen, "--ca-out", authority)
        }
        let first = try serve("127.0.0.1:0")
        #expect(await first.printsError(of: "the authority to trust is in"))
        let port = try #require(RunningProgram.number(in: first.errors, behind: "wss://127.0.0.1:"))
        let program = try self.start(
            "--upstream",
            "wss://127.0.0.1:\(port)",
            "--ca-file",
            authority,
            "--relay",
            "off",
            "--format",
            "plain",
            environment: ["FINNHUB_TOKEN": Canary.key]
        )
        #expect(!(await program.lines(1)).isEmpty)
        first.send(signal: SIGKILL)
        #expect(await first.ending() != nil)
        let second = try serve("127.0.0.1:\(port)")
        #expect(await program.printsError(of: "gap of"))
        for server in [second, program] {
            server.send(signal: SIGTERM)
            #expect(await server.ending(atMost: .seconds(20)) == .exit(0))
        }
    }

    @Test("watches a running relay, and reports when the relay is gone")
    func watches() async throws {
        let program = try self.start("--quiet", "--relay", "127.0.0.1:0")
        let port = try #require(await program.relayPort())
        let watch = try self.start("watch", "ws://127.0.0.1:\(port)", "--format", "plain")
        let lines = await watch.lines(2)
        #expect(lines.count >= 2)
        #expect(lines.allSatisfy { $0.hasSuffix(" DEMO") }, "\(lines)")
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(20)) == .exit(0))
        #expect(await watch.printsError(of: "no link to the relay"))
        watch.send(signal: SIGTERM)
        #expect(await watch.ending(atMost: .seconds(20)) == .exit(0))
    }
}

extension String {
    /// Returns the price before each occurrence of `marker`, in Finnhub's order of keys.
    fileprivate func components(around marker: String) -> [String] {
        var prices: [String] = []
        var rest = self[...]
        while let range = rest.firstRange(of: marker) {
            let before = rest[..<range.lowerBound]
            if let start = before.lastIndex(of: ":") {
                prices.append(String(before[before.index(after: start)...].prefix { $0 != "," }))
            }
            rest = rest[range.upperBound...]
        }
        return prices
    }
}
