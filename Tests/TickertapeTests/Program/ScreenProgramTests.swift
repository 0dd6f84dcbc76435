import Glibc
import Testing
import TickertapeTesting

/// The screen of the built program, read by a third-party terminal emulator (pyte).
@Suite("The screen on a second terminal", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct ScreenProgramTests {
    private static let demo = "\(RunningProgram.sources)/Sources/Tickertape/Resources/demo.jsonl"

    /// Runs the program in the emulator; `Tests/Clients/screen.py` documents the steps.
    private func screen(
        _ steps: [String],
        _ arguments: [String],
        environment: [String: String] = [:]
    ) throws -> RunningProgram {
        try #require(access(RunningProgram.python, X_OK) == 0, "scripts/test makes \(RunningProgram.python)")
        return try RunningProgram(
            RunningProgram.python,
            ["\(RunningProgram.sources)/Tests/Clients/screen.py"] + steps + ["--", RunningProgram.tickertape]
                + arguments,
            environment: environment.merging(["TICKERTAPE_TEST_PATIENCE": "\(Patience.factor)"]) { $1 }
        )
    }

    @Test(
        "every pane, the card and the table fit a terminal of three sizes, and it may change under each of them",
        arguments: [["40x10", "80x24", "200x60"], ["200x60", "80x24", "40x10"], ["20x4", "80x24", "40x10"]]
    )
    func panes(sizes: [String]) async throws {
        let titles = [
            ("?", "^.? ?KEYS"), ("l", "^.? ?LATENCY"), ("e", "^.? ?EVENTS"), ("n", "^.? ?NEWS"), ("A", "^.? ?ALERTS"),
        ]
        var steps = ["size:\(sizes[0])", "wait:PLAYING", "wait:\\d\\.\\d\\d"]
        for (index, pane) in titles.enumerated() {
            steps += ["key:\(pane.0)", "wait:\(pane.1)"]
            steps += [
                "size:\(sizes[(index + 1) % 3])", "wait:\(pane.1)", "size:\(sizes[(index + 2) % 3])", "key:\(pane.0)",
            ]
            steps += ["absent:\(pane.1)"]
        }
        for (key, title) in [("+", "add a s"), ("a", "set an a"), ("g", "go to")] {
            steps += [
                "key:\(key)", "wait:^\(title)", "key:株", "size:\(sizes[1])", "wait:^\(title).*株", "size:\(sizes[2])",
            ]
            steps += ["key:\\x1b", "absent:^\(title)"]
        }
        steps += [
            "size:80x24", "key:\\r", "wait:1 of 2", "size:\(sizes[0])", "key:p", "wait:FROZEN", "key:p",
            "absent:FROZEN",
        ]
        steps += ["size:80x24", "key: ", "wait:PAUSED", "key:q", "exit:0", "restored"]
        let run = try self.screen(steps, ["replay", Self.demo, "--relay", "off"])
        #expect(await run.ending() == .exit(0), "\(run.output.suffix(8_000)) \(run.errors)")
        #expect(run.output.split(separator: "\n").filter { $0.hasPrefix("ok ") }.count == steps.count)
    }

    @Test(
        "a terminal is left as it was, however the program ends",
        arguments: [
            ("key:q", 0), ("key:\\x03", 0), ("signal:TERM", 0), ("signal:INT", 0), ("signal:HUP", 0),
            ("signal:SEGV", -SIGSEGV), ("signal:TRAP", -SIGTRAP), ("signal:ABRT", -SIGABRT),
        ] as [(String, Int32)]
    )
    func ends(step: String, status: Int32) async throws {
        let steps = ["wait:PLAYING", step, "exit:\(status)", "restored"]
        let run = try self.screen(steps, ["--relay", "off"], environment: Sanitizer.withFaults)
        #expect(await run.ending() == .exit(0), "\(run.output.suffix(4_000)) \(run.errors)")
    }

    @Test("Ctrl-Z gives the terminal back, and fg draws it all again, in the size that it has then")
    func stops() async throws {
        let steps = [
            "wait:PLAYING", "key:\\x1a", "stopped", "restored", "size:40x10", "signal:CONT", "wait:PLAYING",
            "wait:BTCUSDT",
            "key:\\x1a", "stopped", "restored", "signal:CONT", "wait:PLAYING",
            // Stops by another process: one signal that can be handled, and one that cannot.
            "signal:TSTP", "stopped", "restored", "signal:CONT", "wait:PLAYING",
            // The old screen is still there, so only a new one has the new size.
            "signal:STOP", "stopped", "size:80x24", "signal:CONT", "wait:PLAYING", "signal:TERM", "exit:0", "restored",
        ]
        let run = try self.screen(steps, ["--relay", "off"])
        #expect(await run.ending() == .exit(0), "\(run.output.suffix(4_000)) \(run.errors)")
    }

    @Test("a job that was stopped by SIGSTOP, and ends in the background, restores the terminal nevertheless")
    func endsBehind() async throws {
        let steps = [
            "wait:PLAYING", "signal:STOP", "stopped", "behind", "signal:CONT", "signal:TERM", "exit:0", "restored",
        ]
        let run = try self.screen(steps, ["--relay", "off"])
        #expect(await run.ending() == .exit(0), "\(run.output.suffix(4_000)) \(run.errors)")
    }

    // MARK: What was before

    private static func trade(_ price: Int, at time: Int64) -> String {
        #"{"data":[{"c":null,"p":\#(price),"s":"BINANCE:BTCUSDT","t":\#(time),"v":1}],"type":"trade"}"#
    }

    /// ms since 1970.
    private static var now: Int64 { Int64(time(nil)) * 1_000 }

    @Test("with recording on the chart begins with the prices of the run before, and a hole")
    func history() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try await ScriptedFinnhub.start { connection in
            .play([.send(Self.trade(connection == 0 ? 100 : 200, at: Self.now - 10_000))])
        }
        let arguments = [
            "--symbol", "BINANCE:BTCUSDT", "--upstream", "ws://127.0.0.1:\(server.port)", "--relay", "off", "--set",
            "record.directory=\(folder.path)",
        ]
        let first = try RunningProgram(
            RunningProgram.tickertape,
            arguments + ["--format", "csv", "--fields", "price", "--record", "\(folder.path)/1.jsonl"],
            environment: ["FINNHUB_TOKEN": "averysecretkey"]
        )
        #expect(await first.prints("100,live\r"), "\(first.output) \(first.errors)")
        first.send(signal: SIGTERM)
        #expect(await first.ending(atMost: .seconds(10)) == .exit(0), "\(first.errors)")
        // A chart of a single price has none of these in its scale.
        let steps = [
            "size:100x30", "wait:200", "wait:┤ *150", "wait:┤ *100", "key:q", "exit:0", "restored",
        ]
        let second = try self.screen(
            steps,
            arguments + ["--record", "\(folder.path)/2.jsonl"],
            environment: ["FINNHUB_TOKEN": "averysecretkey"]
        )
        #expect(await second.ending() == .exit(0), "\(second.output) \(second.errors)")
        try await server.stop()
    }

    @Test("a second program with the same key shows the program that it follows, until it takes over")
    func follows() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try await ScriptedFinnhub.start { _ in .play([.send(Self.trade(100, at: Self.now))]) }
        let environment = [
            "FINNHUB_TOKEN": "averysecretkey", "XDG_STATE_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path,
        ]
        let upstream = ["--upstream", "ws://127.0.0.1:\(server.port)"]
        let first = try RunningProgram(
            RunningProgram.tickertape,
            ["run", "--quiet", "--relay", "127.0.0.1:0", "--set", "relay.rooms=true"] + upstream,
            environment: environment
        )
        let port = try #require(await first.relayPort(), "\(first.errors)")
        let steps = [
            "size:120x24", "wait:follows the tickertape at 127.0.0.1:\(port)",
            // Its rooms are those of the program that it follows.
            "key:m", "wait:no message yet", "key:m",
            "wait:^ws://127.0.0.1:\(port) is the relay of another tickertape .pid \(first.processIdentifier).",
            "wait:^page http://127.0.0.1:\(port)/, 0 clients", "absent:follows", "key:q", "exit:0", "restored",
        ]
        let second = try self.screen(
            steps,
            ["--relay", "127.0.0.1:\(port)"] + upstream,
            environment: environment
        )
        #expect(await second.prints("ok wait:^ws"), "\(second.output) \(second.errors)")
        first.send(signal: SIGTERM)
        #expect(await second.ending() == .exit(0), "\(second.output.suffix(4_000)) \(second.errors)")
        try await server.stop()
    }

    @Test("a relay that has closed with its replay is shown as closed")
    func closed() async throws {
        let run = try self.screen(
            [
                "size:100x24", "wait:ENDED", "wait:^relay closed", "absent:client", "key:q",
                "exit:0",
            ],
            ["simulate", "--duration", "2s", "--relay", "127.0.0.1:0"]
        )
        #expect(await run.ending() == .exit(0), "\(run.output.suffix(4_000)) \(run.errors)")
    }

    @Test("a replay can be played again from its end, and gone back into, with its relay open")
    func again() async throws {
        let run = try self.screen(
            [
                "size:100x24", "wait:ENDED: end of the recording", "wait:REPLAY 50x", "key: ", "wait:PLAYING",
                "wait:ENDED",
                "key:e", "wait:ENDED: end of the recording", "key:e", "key:,", "wait:PAUSED", "absent:ENDED",
                "wait:REPLAY 50x", "wait:^page http://127.0.0.1:[0-9]+/, 0 clients", "key:q", "exit:0",
            ],
            ["replay", Self.demo, "--from", "80%", "--speed", "50", "--relay", "127.0.0.1:0"]
        )
        #expect(await run.ending() == .exit(0), "\(run.output.suffix(4_000)) \(run.errors)")
    }

    @Test("--once takes the symbols of the settings on a terminal as in a pipe, and no list that a screen has kept")
    func once() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        _ = try folder.write("tickertape watchlist 1\nbase BINANCE:BTCUSDT\nsymbol BINANCE:ETHUSDT\n", to: "watchlist")
        let server = try await ScriptedFinnhub.start { _ in .play([.send(Self.trade(100, at: Self.now))]) }
        let run = try self.screen(
            ["wait:BTCUSDT 100\\b", "exit:0"],
            [
                "--once", "--upstream", "ws://127.0.0.1:\(server.port)", "--set", "state.directory=\(folder.path)",
                "--fields", "symbol,price",
            ],
            environment: ["FINNHUB_TOKEN": "averysecretkey", "TICKERTAPE_SYMBOLS": "BINANCE:BTCUSDT"]
        )
        #expect(await run.ending() == .exit(0), "\(run.output) \(run.errors)")
        try await server.stop()
    }

    @Test("watch searches names and headlines if a key is set, and gives the reason if not")
    func watchSearches() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let service = try RunningProgram(
            RunningProgram.tickertape,
            ["serve", Self.demo, "--listen", "127.0.0.1:0", "--ca-out", "\(folder.path)/ca.pem"]
        )
        #expect(await service.printsError(of: "the authority to trust is in"))
        let servicePort = try #require(RunningProgram.number(in: service.errors, behind: "wss://127.0.0.1:"))
        let relay = try RunningProgram(
            RunningProgram.tickertape,
            ["replay", Self.demo, "--quiet", "--relay", "127.0.0.1:0"]
        )
        let port = try #require(await relay.relayPort(), "\(relay.errors)")
        let place = [
            "--set", "service.url=https://127.0.0.1:\(servicePort)/api/v1", "--ca-file", "\(folder.path)/ca.pem",
        ]
        let steps = [
            "size:100x24", "wait:BTCUSDT", "key:+bitc", "wait:BINANCE:BTCUSDT +BTC/USDT", "key:\\x15zzz",
            "wait:nothing among 2 symbols fits", "wait:these are BINANCE's: Enter adds what is typed whole",
            "key:\\x1b",
            "absent:add a symbol", "key:n", "wait:NEWS", "wait:no headlines", "key:q", "exit:0", "restored",
        ]
        let watch = try self.screen(
            steps,
            ["watch", "ws://127.0.0.1:\(port)"] + place,
            environment: ["FINNHUB_TOKEN": "averysecretkey", "XDG_CACHE_HOME": folder.path]
        )
        #expect(await watch.ending() == .exit(0), "\(watch.output.suffix(4_000)) \(watch.errors)")
        let keyless = try self.screen(
            ["size:120x24", "wait:BTCUSDT", "key:n", "wait:set FINNHUB_TOKEN", "key:q", "exit:0"],
            ["watch", "ws://127.0.0.1:\(port)"]
        )
        #expect(await keyless.ending() == .exit(0), "\(keyless.output.suffix(4_000)) \(keyless.errors)")
        for program in [service, relay] { program.send(signal: SIGTERM) }
        for program in [service, relay] { #expect(await program.ending(atMost: .seconds(20)) == .exit(0)) }
    }

    @Test("watch shows the relay's replay: its speed, its position, and its pauses")
    func watchesReplay() async throws {
        let relay = try RunningProgram(
            RunningProgram.tickertape,
            ["replay", Self.demo, "--quiet", "--relay", "127.0.0.1:0"]
        )
        let port = try #require(await relay.relayPort(), "\(relay.errors)")
        func ask(_ body: String) async throws {
            let url = "http://127.0.0.1:\(port)/v1/replay"
            let curl = try RunningProgram("/usr/bin/env", ["curl", "-sf", "-d", body, url])
            #expect(await curl.ending() == .exit(0), "\(body)")
        }
        let steps = [
            "size:100x24", "wait:^● PLAYING +REPLAY 1x demo", "wait:^2026-01-01 .*% of 3m00s",
            "wait:^◌ PAUSED +REPLAY 1x demo",
            "wait:^2026-01-01 00:01:(29|30).* (49|50)% of 3m00s", "wait:REPLAY 0.5x demo", "key:q", "exit:0",
            "restored",
        ]
        let watch = try self.screen(steps, ["watch", "ws://127.0.0.1:\(port)"])
        #expect(await watch.prints("ok wait:^2026"), "\(watch.output) \(watch.errors)")
        try await ask(#"{"request":"pause"}"#)
        #expect(await watch.prints("ok wait:^◌ PAUSED"), "\(watch.output)")
        // A client that connects during the pause is informed at once, on the screen and in a line.
        let later = try self.screen(
            ["size:100x24", "wait:^◌ PAUSED +REPLAY 1x demo", "wait:BTCUSDT", "absent:OLD", "key:q", "exit:0"],
            ["watch", "ws://127.0.0.1:\(port)"]
        )
        #expect(await later.ending() == .exit(0), "\(later.output) \(later.errors)")
        let line = try RunningProgram(
            RunningProgram.tickertape,
            ["watch", "ws://127.0.0.1:\(port)", "--format", "oneline"]
        )
        var last: String?
        for count in 1...30 where last?.hasSuffix("PAUSED REPLAY") != true { last = await line.lines(count).last }
        #expect(last?.hasSuffix("PAUSED REPLAY") == true, "\(line.output)")
        try await ask(#"{"request":"seek","to":"50%"}"#)
        #expect(await watch.prints("ok wait:^2026-01-01 00:01"), "\(watch.output)")
        try await ask(#"{"request":"speed","speed":0.5}"#)
        try await ask(#"{"request":"resume"}"#)
        #expect(await watch.ending() == .exit(0), "\(watch.output.suffix(4_000)) \(watch.errors)")
        for program in [line, relay] { program.send(signal: SIGTERM) }
        #expect(await relay.ending(atMost: .seconds(20)) == .exit(0))
    }

    @Test("watch talks in the room of its symbol, with a client in Python, and leaves it with the pane")
    func room() async throws {
        let relay = try RunningProgram(
            RunningProgram.tickertape,
            ["--demo", "--quiet", "--relay", "127.0.0.1:0", "--set", "relay.rooms=true"]
        )
        let port = try #require(await relay.relayPort(), "\(relay.errors)")
        let steps = [
            "size:100x24", "wait:BTCUSDT", "key:m", "wait:ROOM BINANCE:BTCUSDT .UTC., 0 users", "wait:no message yet",
            "key:\\r", "wait:^your name:", "key:ann\\r", "wait:1 user: ann", "wait:^message:", "key:hi 株\\r",
            "wait:<ann> hi 株", "wait:<bob> hello", "wait:bob has left", "clean", "size:40x10", "wait:bob has left",
            "size:100x24", "key:\\x1b", "absent:^message", "key:m", "absent:ROOM", "key:m", "wait:<bob> hello",
            "wait:0 users", "key:q", "exit:0", "restored",
        ]
        let watch = try self.screen(steps, ["watch", "ws://127.0.0.1:\(port)"])
        #expect(await watch.prints("ok wait:<ann> hi"), "\(watch.output.suffix(4_000)) \(watch.errors)")
        let bob = try RunningProgram(
            RunningProgram.python,
            [
                "\(RunningProgram.sources)/Tests/Clients/room_client.py",
                "ws://127.0.0.1:\(port)/v1/room/BINANCE%3ABTCUSDT", "bob", "hello",
            ]
        )
        #expect(await bob.ending() == .exit(0), "\(bob.output) \(bob.errors)")
        #expect(bob.output.contains(#""users":[{"user":"ann","userId":1}]"#) && bob.output.contains("hi 株"))
        #expect(await watch.ending() == .exit(0), "\(watch.output.suffix(8_000)) \(watch.errors)")
        relay.send(signal: SIGTERM)
        #expect(await relay.ending(atMost: .seconds(10)) == .exit(0))
    }

    @Test("the program enters the rooms of its own relay, with the relay's token and over TLS, and ends from there")
    func ownRoom() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let pair = try RunningProgram(
            RunningProgram.tickertape,
            ["cert", "--out", folder.path, "--name", "ticker.lan"]
        )
        #expect(await pair.ending() == .exit(0), "\(pair.errors)")
        let token = try folder.write("averysecrettoken0123456789abcdef\n", to: "token")
        let settings = [
            "relay.rooms=true", "relay.certificate-file=\(folder.path)/certificate.pem",
            "relay.key-file=\(folder.path)/key.pem", "relay.token-file=\(token)",
        ]
        let run = try self.screen(
            [
                "size:100x24", "wait:PLAYING", "key:m", "wait:no message yet", "key:\\rann\\r", "wait:^message:",
                "key:hi\\r", "wait:<ann> hi", "signal:TERM", "exit:0", "restored",
            ],
            ["--demo", "--relay", "127.0.0.1:0"] + settings.flatMap { ["--set", $0] }
        )
        #expect(await run.ending() == .exit(0), "\(run.output.suffix(4_000)) \(run.errors)")
    }

    @Test("without a relay or with rooms off the screen says how to get a room")
    func noRoom() async throws {
        let off = try self.screen(
            ["size:100x24", "wait:PLAYING", "key:m", "wait:set relay.listen and relay.rooms", "key:q", "exit:0"],
            ["--demo", "--relay", "off"]
        )
        #expect(await off.ending() == .exit(0), "\(off.output.suffix(4_000)) \(off.errors)")
        let without = try self.screen(
            [
                "size:100x24", "wait:PLAYING", "key:m", "wait:no room, .*relay.rooms: true", "key:q", "exit:0",
                "restored",
            ],
            ["--demo", "--relay", "127.0.0.1:0"]
        )
        #expect(await without.ending() == .exit(0), "\(without.output.suffix(4_000)) \(without.errors)")
    }

    @Test("a simulated market has no end on the screen, and its own symbols in the add box")
    func simulated() async throws {
        let steps = [
            "size:100x24", "wait:PLAYING", "wait:^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d UTC[-+:0-9]*$",
            "absent:% of",
            "key:+X:Y\\r",
            "wait:the simulated market has no X:Y", "key:\\x1b", "absent:add a symbol", "key:q", "exit:0", "restored",
        ]
        let run = try self.screen(steps, ["simulate", "--relay", "off"])
        #expect(await run.ending() == .exit(0), "\(run.output.suffix(4_000)) \(run.errors)")
    }

    @Test("watch of 1,000 trades a second gets the newest prices only, and shows the relay's high, low and volume")
    func watchesBurst() async throws {
        let server = try await ScriptedFinnhub.start { _ in
            .play([.send(Self.trade(900, at: Self.now)), .send(Self.trade(10, at: Self.now))])
        }
        let relay = try RunningProgram(
            RunningProgram.tickertape,
            ["--quiet", "--upstream", "ws://127.0.0.1:\(server.port)", "--relay", "127.0.0.1:0"],
            environment: ["FINNHUB_TOKEN": "averysecretkey"]
        )
        let port = try #require(await relay.relayPort(), "\(relay.errors)")
        let line = try await CuttableLine.start(to: port)
        let steps = [
            "size:120x40", "wait:volume 2\\b", "wait:volume 3.?002\\b", "wait:high 900 ", "wait:low 10 ",
            "wait:trades 3.?002\\b", "key:q", "exit:0", "restored",
        ]
        let watch = try self.screen(steps, ["watch", "ws://127.0.0.1:\(line.port)"])
        #expect(await watch.prints("ok wait:volume 2"), "\(watch.output) \(watch.errors)")
        let (before, start) = (line.bytesBack, ContinuousClock.now)
        for tick in 0..<300 {
            let trades = (0..<10).map { place in
                #"{"c":null,"p":\#(100 + (tick + place) % 50),"s":"BINANCE:BTCUSDT","t":\#(Self.now),"v":1}"#
            }
            server.send(#"{"data":[\#(trades.joined(separator: ","))],"type":"trade"}"#, on: 0)
            try await Task.sleep(until: start + .milliseconds(10 * (tick + 1)))
        }
        #expect(await watch.ending() == .exit(0), "\(watch.output.suffix(8_000)) \(watch.errors)")
        // Two prices a second (`pipeline.at-most`), one message about trades without a new price, and little else.
        // Each trade alone would be 150 bytes, 450,000 in all.
        let seconds = Int((ContinuousClock.now - start) / .seconds(1)) + 1
        let bytes = line.bytesBack - before
        #expect(bytes > 300 && bytes <= seconds * 5 * 400, "\(bytes) bytes in \(seconds) s")
        relay.send(signal: SIGTERM)
        #expect(await relay.ending(atMost: .seconds(10)) == .exit(0))
        try await line.stop()
        try await server.stop()
    }

    @Test("watch shows every trade of a break in tape, chart and sums")
    func watching() async throws {
        let server = try await ScriptedFinnhub.start { _ in .play([.send(Self.trade(100, at: Self.now))]) }
        let relay = try RunningProgram(
            RunningProgram.tickertape,
            ["--quiet", "--upstream", "ws://127.0.0.1:\(server.port)", "--relay", "127.0.0.1:0"],
            environment: ["FINNHUB_TOKEN": "averysecretkey"]
        )
        let port = try #require(await relay.relayPort(), "\(relay.errors)")
        let line = try await CuttableLine.start(to: port)
        let steps = [
            "size:120x40", "wait:volume 1\\b", "wait:no link to the relay",
            "wait:PRICE[^$]*105 ▲[^$]*104 ▼[^$]*109 ▲[^$]*101 ▲",
            "wait:high 109 ", "wait:low 100 ", "wait:volume 5\\b", "wait:trades 5", "wait:┤ *108", "key:+X:Y\\r",
            "wait:add a symbol: X:Y", "wait:Invalid symbol X:Y", "key:\\x1b", "absent:add a symbol",
            // A symbol that was removed and added again has its price at once, and its chart.
            "key:+BINANCE:ETHUSDT\\r", "wait:ETHUSDT +no price yet", "key:\\x1b[H", "key:-", "wait:BTCUSDT is removed",
            "absent:┤ *10\\d", "absent:BTCUSDT +105 ", "key:+BINANCE:BTCUSDT\\r",
            // The price that the relay stores, and then the next one.
            "wait:BTCUSDT +105 ", "wait:BTCUSDT +106 ",
            "wait:┤ *10\\d", "key:q", "exit:0",
            "restored",
        ]
        let service = Task {
            for await case .received(let connection, let text) in server.events where text.contains("X:Y") {
                server.send(#"{"msg":"Invalid symbol X:Y","type":"error"}"#, on: connection)
            }
        }
        let watch = try self.screen(steps, ["watch", "ws://127.0.0.1:\(line.port)"])
        #expect(await watch.prints("ok wait:volume 1"), "\(watch.output) \(watch.errors)")
        await line.cut()
        #expect(await watch.prints("ok wait:no link"), "\(watch.output)")
        // Prices within one second are one point of the chart, which then has no scale.
        let begin = Self.now
        while Self.now == begin { try await Task.sleep(for: .milliseconds(5)) }
        for price in [101, 109, 104, 105] { server.send(Self.trade(price, at: Self.now), on: 0) }
        // Only a client shows that the relay has them.
        let plain = try RunningProgram(
            RunningProgram.tickertape,
            ["watch", "ws://127.0.0.1:\(port)", "--format", "csv", "--fields", "price"]
        )
        #expect(await plain.prints("105,live\r"), "\(plain.output) \(plain.errors)")
        line.mend()
        #expect(await watch.prints("ok wait:BTCUSDT +105 "), "\(watch.output.suffix(4_000))")
        server.send(Self.trade(106, at: Self.now), on: 0)
        #expect(await watch.ending() == .exit(0), "\(watch.output.suffix(8_000)) \(watch.errors)")
        for program in [plain, relay] { program.send(signal: SIGTERM) }
        #expect(await relay.ending(atMost: .seconds(10)) == .exit(0))
        try await line.stop()
        try await server.stop()
        await service.value
    }
}
