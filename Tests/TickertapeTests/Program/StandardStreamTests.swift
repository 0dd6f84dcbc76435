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
}
