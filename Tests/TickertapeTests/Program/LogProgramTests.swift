import Foundation
import Glibc
import Testing
import TickertapeTesting

@Suite("The program's log", .timeLimit(.minutes(5 * Patience.factor)))
struct LogProgramTests {
    private static let demo = "\(RunningProgram.sources)/Sources/Tickertape/Resources/demo.jsonl"
    private static let replay = ["replay", demo, "--speed", "max", "--quiet", "--relay", "127.0.0.1:0"]

    @Test("in JSON, every line of standard error is an object with a time, a level, a part and a message")
    func json() async throws {
        let program = try RunningProgram(
            RunningProgram.tickertape,
            Self.replay + ["--log-format", "json", "--set", "log.levels.feed=debug"]
        )
        #expect(await program.ending() == .exit(0), "\(program.errors)")
        let lines = program.errors.split(separator: "\n")
        var parts: Set<String> = []
        for line in lines {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            let record = try #require(object, "\(line)")
            for name in ["time", "level", "part", "message"] { #expect(record[name] is String, "\(line)") }
            if let part = record["part"] as? String { parts.insert(part) }
        }
        #expect(parts.isSuperset(of: ["program", "feed"]), "\(program.errors)")
        let state = lines.first { $0.contains(#""message":"The feed's state""#) }
        #expect(state?.contains(#""metadata":{"#) == true, "\(program.errors)")
    }

    @Test("a level of a part is that part's alone")
    func levels() async throws {
        let program = try RunningProgram(
            RunningProgram.tickertape,
            Self.replay + ["--log-level", "critical", "--set", "log.levels.relay=info"]
        )
        #expect(await program.ending() == .exit(0))
        #expect(program.errors.contains(" info relay: The relay listens "), "\(program.errors)")
        #expect(!program.errors.contains(" feed: "), "\(program.errors)")
    }

    @Test("every message of a logger is a constant, with what varies in its metadata")
    func constant() throws {
        let sources = "\(RunningProgram.sources)/Sources"
        let files = try #require(FileManager.default.enumerator(atPath: sources))
        var calls = 0
        let call = /[lL]og(?:ger)?\??\.(?:trace|debug|info|notice|warning|error|critical)\(\s*"((?:[^"\\]|\\.)*)"/
        for case let file as String in files where file.hasSuffix(".swift") {
            let source = try String(contentsOfFile: "\(sources)/\(file)", encoding: .utf8)
            for match in source.matches(of: call) {
                calls += 1
                #expect(!match.1.contains("\\("), "\(file): \(match.1)")
            }
        }
        #expect(calls > 15)
    }

    @Test("equal messages are limited, and at the end their number is said")
    func repeats() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let program = try RunningProgram(
            RunningProgram.tickertape,
            // Nothing listens at the port.
            ["record", "\(folder.path)/x.jsonl", "--quiet", "--relay", "off", "--upstream", "ws://127.0.0.1:9"]
                + ["reconnect.min=10ms", "reconnect.max=10ms", "reconnect.at-least=10ms", "log.repeats=3"]
                .flatMap { ["--set", $0] } + ["--log-level", "debug"],
            environment: ["FINNHUB_TOKEN": Canary.key]
        )
        #expect(await program.printsError(of: "attempt=6"), "\(program.errors)")
        program.send(signal: SIGTERM)
        #expect(await program.ending() == .exit(0))
        let lines = program.errors.split(separator: "\n")
        #expect(lines.filter { $0.contains(" debug feed: The connection ended ") }.count == 3, "\(program.errors)")
        let counts = lines.filter { $0.contains(" debug feed: Repeated messages were left out count=") }
        #expect(counts.count == 1 && counts[0].hasSuffix(#" message="The connection ended""#), "\(program.errors)")
        #expect(lines.contains { $0.contains("state=stopped") })
        #expect(!Canary.occurs(in: program.errors))
    }

    @Test("an error that ends the program is one object in JSON, too")
    func failure() async throws {
        let program = try RunningProgram(
            RunningProgram.tickertape,
            ["record", "/nowhere/x.jsonl", "--log-format", "json", "--relay", "off"],
            environment: ["FINNHUB_TOKEN": Canary.key]
        )
        #expect(await program.ending() == .exit(1))
        let last = try #require(program.errors.split(separator: "\n").last)
        #expect(last.contains(#""level":"error","part":"program","message":"#), "\(program.errors)")
        #expect(!Canary.occurs(in: program.errors))
    }

    @Test("where standard error is the journal's stream, each line has its priority if the journal takes no fields")
    func stream() async throws {
        // Where a journal runs, it takes the fields, and nothing is written to the stream.
        guard access("/run/systemd/journal/socket", F_OK) != 0 else { return }
        let words = Self.replay.map { "'\($0)'" }.joined(separator: " ")
        let program = try RunningProgram(
            "/bin/sh",
            [
                "-c",
                "export JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2); exec '\(RunningProgram.tickertape)' \(words)",
            ]
        )
        #expect(await program.ending() == .exit(0), "\(program.errors)")
        let lines = program.errors.split(separator: "\n")
        #expect(lines.count > 2 && lines.allSatisfy { $0.contains(/^<[2-7]>/) }, "\(program.errors)")
        #expect(lines.contains { $0.hasPrefix("<5>the relay is on ws://127.0.0.1:") }, "\(program.errors)")
        #expect(lines.contains { $0.contains(/^<[45]>The feed's state .*state=/) }, "\(program.errors)")
    }
}
