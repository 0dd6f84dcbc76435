import Glibc
import Testing
import TickertapeTesting

/// The program with standard streams that are closed or do not accept output.
@Suite("The program's standard streams", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct StandardStreamTests {
    private static let demo = "\(RunningProgram.sources)/Sources/Tickertape/Resources/demo.jsonl"

    private func shell(_ command: String) throws -> RunningProgram {
        try RunningProgram("/bin/sh", ["-c", command])
    }

    /// Returns the target of a process's descriptor.
    private func target(of descriptor: Int, in process: Int32) -> String {
        var name = [UInt8](repeating: 0, count: 256)
        let count = readlink("/proc/\(process)/fd/\(descriptor)", &name, name.count)
        return String(decoding: name.prefix(max(count, 0)), as: UTF8.self)
    }

    @Test("closed ones are not reused: no event loop gets their numbers, and nothing is written to them")
    func closed() async throws {
        let program = try self.shell(
            "exec '\(RunningProgram.tickertape)' --relay 127.0.0.1:0 --format plain <&- 2>&-"
        )
        #expect(await program.lines(1).count >= 1)
        #expect(self.target(of: 0, in: program.processIdentifier) == "/dev/null")
        #expect(self.target(of: 2, in: program.processIdentifier) == "/dev/null")
        #expect(self.target(of: 1, in: program.processIdentifier).hasPrefix("pipe:"))
        program.send(signal: SIGTERM)
        #expect(await program.ending() == .exit(0))
    }

    @Test(
        "with a limit of too few open files, every command ends with one line and a hint",
        arguments: [
            "--version", "run --format plain", "replay '\(StandardStreamTests.demo)'", "watch ws://127.0.0.1:1",
            "serve '\(StandardStreamTests.demo)' --listen 127.0.0.1:0", "record /nowhere/x.jsonl", "health",
        ]
    )
    func fewFiles(command: String) async throws {
        for limit in [5, 12, 63] {
            let program = try self.shell("ulimit -n \(limit); exec '\(RunningProgram.tickertape)' \(command)")
            #expect(await program.ending() == .exit(1), "\(limit): \(program.errors)")
            #expect(program.output.isEmpty)
            let line = "tickertape: the limit of open files is \(limit), and 64 are needed: raise it (ulimit -n 1024; "
            #expect(
                program.errors.hasPrefix(line) && program.errors.split(separator: "\n").count == 1,
                "\(program.errors)"
            )
        }
    }

    @Test(
        "as many files as are needed are enough, and a soft limit is raised as far as it may be",
        arguments: ["n 64", "Sn 12"]
    )
    func enoughFiles(limit: String) async throws {
        let program = try self.shell(
            "ulimit -\(limit); exec '\(RunningProgram.tickertape)' replay '\(Self.demo)' --speed max --format plain "
                + "--relay 127.0.0.1:0"
        )
        #expect(await program.ending() == .exit(0), "\(program.errors)")
        #expect(program.output.contains("BINANCE:BTCUSDT"))
    }

    @Test("a closed standard output is reported, or ends the program as a closed pipe does")
    func closedOutput() async throws {
        let rows = try self.shell("'\(RunningProgram.tickertape)' export '\(Self.demo)' --csv >&-")
        #expect(await rows.ending() == .exit(1))
        #expect(rows.errors.contains("cannot write the rows: Bad file descriptor"), "\(rows.errors)")
        let once = try self.shell("'\(RunningProgram.tickertape)' --demo --once >&-")
        #expect(await once.ending() == .exit(0), "\(once.errors)")
        #expect(!once.errors.contains("Invalid argument"), "\(once.errors)")
    }

    @Test(
        "output that a full disk does not take is reported, with status 1",
        arguments: [
            "config", "recording info '\(StandardStreamTests.demo)'", "recording verify '\(StandardStreamTests.demo)'",
        ]
    )
    func full(command: String) async throws {
        let program = try self.shell("'\(RunningProgram.tickertape)' \(command) > /dev/full")
        #expect(await program.ending() == .exit(1))
        #expect(
            program.errors == "tickertape: cannot write the output: No space left on device\n",
            "\(program.errors)"
        )
    }

    @Test("a standard error that is full and not read delays no trade and no end, with the relay on the feed's loop")
    func fullErrors() async throws {
        let python = RunningProgram.python
        try #require(access(python, X_OK) == 0, "\(python) is missing: run scripts/test, which makes it")
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/errors"
        try #require(mkfifo(path, 0o600) == 0)
        // Open at both ends, so that it can be filled here.
        let pipe = open(path, O_RDWR | O_NONBLOCK)
        defer { close(pipe) }
        let server = try await ScriptedFinnhub.start { _ in .play([]) }
        let program = try RunningProgram(
            "/bin/sh",
            [
                "-c",
                "exec '\(RunningProgram.tickertape)' --quiet --log-level debug --relay 127.0.0.1:0 "
                    + "--upstream ws://127.0.0.1:\(server.port) 2>'\(path)'",
            ],
            environment: ["FINNHUB_TOKEN": Canary.key]
        )
        let place = "the relay is on ws://127.0.0.1:"
        var text = ""
        while RunningProgram.number(in: text, behind: place) == nil || !text.hasSuffix("\n") {
            text += self.taken(from: pipe)
            try await Task.sleep(for: .milliseconds(5))
        }
        let port = try #require(RunningProgram.number(in: text, behind: place), "\(text)")
        let client = try RunningProgram(
            python,
            [
                "\(RunningProgram.sources)/Tests/Clients/finnhub_sample.py", "ws://127.0.0.1:\(port)/",
                "BINANCE:BTCUSDT",
            ]
        )
        func trade(_ price: Int) -> String {
            #"{"data":[{"c":null,"p":\#(price),"s":"BINANCE:BTCUSDT","t":1723161255342,"v":1}],"type":"trade"}"#
        }
        // Until the client has subscribed.
        while client.output.isEmpty {
            server.send(trade(1), on: 0)
            try await Task.sleep(for: .milliseconds(20))
        }
        while write(pipe, "\n", 1) == 1 {}
        for number in 0..<100 {
            // Logged on the feed's loop.
            server.send(#"{"type":"error","msg":"fault \#(number)"}"#, on: 0)
            server.send(trade(70_000 + number), on: 0)
        }
        let all = await client.lines(client.output.split(separator: "\n").count + 100, atMost: .seconds(20))
        #expect(all.contains { $0.contains("70099") }, "\(all.count)")
        program.send(signal: SIGTERM)
        #expect(await program.ending(atMost: .seconds(20)) == .exit(0))
        client.send(signal: SIGKILL)
        try await server.stop()
    }

    /// Everything that a pipe holds.
    private func taken(from pipe: Int32) -> String {
        var all: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4_096)
        while case let count = read(pipe, &part, part.count), count > 0 { all += part[..<count] }
        return String(decoding: all, as: UTF8.self)
    }
}
