import Glibc
import Testing
import TickertapeTesting

/// The program without a screen, as in scripts and status bars.
@Suite("The program's outputs", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct OutputProgramTests {
    private static let demo = "\(RunningProgram.sources)/Sources/Tickertape/Resources/demo.jsonl"
    private static let trade =
        #"{"data":[{"c":null,"p":61837.63,"s":"BINANCE:BTCUSDT","t":1723161255342,"v":0.02}],"type":"trade"}"#

    private func start(_ arguments: String..., environment: [String: String] = [:]) throws -> RunningProgram {
        try self.start(arguments, environment: environment)
    }

    private func start(_ arguments: [String], environment: [String: String] = [:]) throws -> RunningProgram {
        try RunningProgram(RunningProgram.tickertape, arguments, environment: environment)
    }

    @Test("prints CSV that Python's csv module reads as it was meant, from the header to the last record")
    func csv() async throws {
        try #require(access(RunningProgram.python, X_OK) == 0, "scripts/test makes \(RunningProgram.python)")
        let script = """
            import csv, decimal, datetime, sys
            with open(sys.argv[1], newline="") as file: text = file.read()
            assert text.count("\\r\\n") == text.count("\\n") > 3, text
            for row in csv.DictReader(text.splitlines()):
                assert None not in row and None not in row.values(), row
                assert decimal.Decimal(row["price"]) - decimal.Decimal(row["open"]) == decimal.Decimal(row["change"]), row
                assert datetime.datetime.fromisoformat(row["time"]) and datetime.datetime.fromisoformat(row["received"])
                assert row["state"].endswith("REPLAY") and int(row["sequence"]) > 0 and float(row["age"]) >= 0, row
            print("good")
            """
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let replay = try RunningProgram(
            "/bin/sh",
            [
                "-c",
                "'\(RunningProgram.tickertape)' replay '\(Self.demo)' --speed 50 --relay off --format csv > '\(folder.path)/out.csv'",
            ]
        )
        #expect(await replay.ending() == .exit(0), "\(replay.errors)")
        let python = try RunningProgram(RunningProgram.python, ["-c", script, "\(folder.path)/out.csv"])
        #expect(await python.ending() == .exit(0), "\(python.errors)")
        #expect(python.output == "good\n")
    }

    @Test("an unknown field is refused with the known ones, before anything is opened")
    func fields() async throws {
        let program = try self.start("--fields", "price,prize", "--format", "csv")
        #expect(await program.ending() == .exit(64))
        #expect(
            program.errors.contains(
                "\"prize\", which is not a field; did you mean price? The fields are: symbol, price,"
            ),
            "\(program.errors)"
        )
        let variable = try self.start("--relay", "off", environment: ["TICKERTAPE_DISPLAY_FIELDS": "x"])
        #expect(await variable.ending() == .exit(78))
    }

    @Test("--once prints each symbol's price once and ends with 0, without a relay")
    func once() async throws {
        let program = try self.start(
            "--once",
            "--demo",
            "--fields",
            "symbol,price,state",
            "--symbol",
            "BINANCE:BTCUSDT",
            "--symbol",
            "BINANCE:ETHUSDT"
        )
        #expect(await program.ending() == .exit(0), "\(program.errors)")
        let lines = program.output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { $0.hasPrefix("BINANCE:") && $0.hasSuffix(" PLAYING DEMO") }, "\(lines)")
        #expect(!program.errors.contains("the relay is on"))
    }

    @Test(
        "--once without a key prints no price, says what to do, and ends with 78",
        arguments: ["plain", "json", "csv", "oneline", "waybar", "i3blocks"]
    )
    func onceWithoutKey(format: String) async throws {
        let program = try self.start("--once", "--format", format)
        #expect(await program.ending() == .exit(78), "\(program.errors)")
        #expect(program.output == "")
        let lines = program.errors.split(separator: "\n")
        #expect(lines.count == 1 && lines[0].contains("no key is set") && lines[0].contains("--demo"), "\(lines)")
    }

    @Test("without a key every price of the demo has its source, with any fields")
    func demoIsMarked() async throws {
        for (format, mark) in [("plain", " DEMO"), ("csv", ",demo"), ("json", #","source":"demo"}"#)] {
            for fields in [[], ["--fields", "symbol,price"]] {
                let program = try self.start(["--demo", "--once", "--format", format] + fields)
                #expect(await program.ending() == .exit(0), "\(program.errors)")
                let lines = program.output.split(whereSeparator: \.isNewline)
                let prices = format == "csv" ? lines.dropFirst() : lines[...]
                #expect(prices.count == 2 && prices.allSatisfy { $0.hasSuffix(mark) }, "\(lines)")
                if format == "csv" { #expect(lines.first?.hasSuffix(",source") == true, "\(lines)") }
            }
        }
    }

    @Test(
        "without a key each output says once how to see the live market without one",
        arguments: ["plain", "csv", "json", "waybar"]
    )
    func demoNamesTheLiveMarket(format: String) async throws {
        let program = try self.start("--format", format, "--relay", "off")
        let words = "the live market needs no key: start with --from venue"
        let isObject = format == "json" || format == "waybar"
        _ = isObject ? await program.lines(4).isEmpty : await program.printsError(of: "PLAYING: the bundled")
        program.send(signal: SIGTERM)
        #expect(await program.ending() == .exit(0), "\(program.errors)")
        let lines = program.errors.split(separator: "\n")
        #expect(lines.contains { $0.contains("no key is set") && $0.contains(words) }, "\(lines)")
        if isObject {
            #expect(program.output.contains(words), "\(program.output)")
        } else {
            #expect(lines.contains { $0.contains("PLAYING: the bundled") && $0.contains(words) }, "\(lines)")
        }
        #expect(!program.errors.contains("press v"), "there is no screen")
    }

    @Test("--once ends with 3, and reports the symbol without a fresh price and the reason")
    func missed() async throws {
        let server = try await ScriptedFinnhub.start { _ in
            .play([.send(Self.trade), .send(#"{"msg":"Invalid symbol X:Y","type":"error"}"#)])
        }
        let program = try self.start(
            "--once",
            "--once-within",
            "4s",
            "--format",
            "json",
            "--upstream",
            "ws://127.0.0.1:\(server.port)",
            "--symbol",
            "BINANCE:BTCUSDT",
            "--symbol",
            "X:Y",
            environment: ["FINNHUB_TOKEN": Canary.key]
        )
        #expect(await program.ending() == .exit(3), "\(program.errors)")
        #expect(program.output.split(separator: "\n").count == 1)
        #expect(program.output.hasPrefix(#"{"type":"price","symbol":"BINANCE:BTCUSDT""#))
        #expect(
            program.errors.contains("no fresh price of X:Y (Invalid symbol X:Y)"),
            "\(program.errors)"
        )
        try await server.stop()
        let silent = try self.start(
            "--once",
            "--once-within",
            "2s",
            "--upstream",
            "ws://127.0.0.1:\(server.port)",
            environment: ["FINNHUB_TOKEN": Canary.key]
        )
        #expect(await silent.ending() == .exit(3), "\(silent.errors)")
        #expect(silent.errors.contains("refuses connections"), "\(silent.errors)")
        #expect(silent.output == "" && !Canary.occurs(in: silent.errors))
    }

    @Test(
        "a reader that goes away ends it quietly with 0, in every format",
        arguments: ["plain", "json", "csv", "oneline", "waybar", "i3blocks"]
    )
    func closedPipe(_ format: String) async throws {
        let shell = try RunningProgram(
            "/bin/sh",
            [
                "-c",
                "{ '\(RunningProgram.tickertape)' --relay off --format \(format) 2>&3; echo \"status $?\" >&3; } 3>&2 | head -n 1",
            ]
        )
        #expect(await shell.ending() == .exit(0))
        #expect(shell.output.split(separator: "\n").count == 1)
        #expect(shell.errors.contains("status 0"), "\(shell.errors)")
        #expect(!shell.errors.lowercased().contains("pipe"))
    }

    @Test("a signal shows the next symbol in a bar, and has no effect on other formats")
    func signals() async throws {
        let options = ["--demo", "--relay", "off", "--symbol", "BINANCE:BTCUSDT", "--symbol", "BINANCE:ETHUSDT"]
        let program = try self.start(options + ["--format", "oneline", "--rotate", "1h"])
        #expect(await program.prints("BTCUSDT ") && !program.output.contains("ETHUSDT"), "\(program.errors)")
        program.send(signal: SIGUSR1)
        #expect(await program.prints("ETHUSDT "), "\(program.output) \(program.errors)")
        let count = program.output.split(separator: "\n").count
        program.send(signal: SIGUSR2)
        let lines = await program.lines(count + 2)
        #expect(lines.suffix(1).allSatisfy { $0.hasPrefix("BTCUSDT ") }, "\(lines)")
        program.send(signal: SIGTERM)
        #expect(await program.ending() == .exit(0))
        let plain = try self.start(options + ["--format", "plain"])
        #expect(await plain.lines(1).count >= 1, "\(plain.errors)")
        for signal in [SIGUSR1, SIGUSR2] { plain.send(signal: signal) }
        let before = plain.output.split(separator: "\n").count
        #expect(await plain.lines(before + 3).count >= before + 3, "\(plain.errors)")
        plain.send(signal: SIGTERM)
        #expect(await plain.ending() == .exit(0))
    }

    @Test("status bars get a line whose age counts on when the service goes silent")
    func statusBar() async throws {
        let server = try await ScriptedFinnhub.start { _ in .play([.send(Self.trade)]) }
        let program = try self.start(
            "--relay",
            "off",
            "--format",
            "oneline",
            "--upstream",
            "ws://127.0.0.1:\(server.port)",
            environment: ["FINNHUB_TOKEN": Canary.key]
        )
        // At most one line a second; the price is late after five.
        let lines = await program.lines(12)
        let ages = lines.compactMap { RunningProgram.number(in: $0, behind: "BTCUSDT 61837.63 0.00% session ") }
        #expect(ages.count > 5 && zip(ages, ages.dropFirst()).allSatisfy { $0 < $1 }, "\(lines) \(program.errors)")
        #expect(
            lines.contains { $0.hasSuffix(" s | live") } && lines.contains { $0.hasSuffix(" s | late") },
            "\(lines)"
        )
        program.send(signal: SIGTERM)
        #expect(await program.ending() == .exit(0))
        try await server.stop()
    }
}
