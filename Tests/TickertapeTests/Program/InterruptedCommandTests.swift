import Glibc
import Testing
import TickertapeTesting

/// The new files of commands that are ended early.
@Suite("Files that are not finished", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct InterruptedCommandTests {
    private static let demo = "\(RunningProgram.sources)/Sources/Tickertape/Resources/demo.jsonl"

    /// Waits until a condition holds; fails after the time limit.
    private func eventually(_ condition: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60) * Patience.factor
        while !condition() {
            try #require(ContinuousClock.now < end, "it never came true")
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    @Test(
        "are removed by what ends the command, which ends by that signal",
        arguments: [
            (["simulate", "--duration", "240h", "--write", "NEW"], SIGTERM),
            (
                ["export", "--csv", "--output", "NEW"]
                    + [String](repeating: InterruptedCommandTests.demo, count: 2_000), SIGTERM
            ),
            (
                ["recording", "merge"] + [String](repeating: InterruptedCommandTests.demo, count: 100) + ["NEW"],
                SIGTERM
            ),
        ]
    )
    func removed(arguments: [String], signal: Int32) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/new"
        let program = try RunningProgram(RunningProgram.tickertape, arguments.map { $0 == "NEW" ? path : $0 })
        try await self.eventually {
            var status = stat()
            return stat(path, &status) == 0 && status.st_size > 0
        }
        program.send(signal: signal)
        #expect(await program.ending() == .signal(signal), "\(program.errors)")
        #expect(access(path, F_OK) != 0)
    }

    @Test("a file that was there before stays, whatever ends the command")
    func somebodys() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write("mine", to: "new")
        let program = try RunningProgram(RunningProgram.tickertape, ["recording", "repair", Self.demo, path])
        #expect(await program.ending() == .exit(1))
        #expect(try folder.read("new") == "mine")
        // A complete file stays, too.
        let whole = "\(folder.path)/whole"
        let repair = try RunningProgram(RunningProgram.tickertape, ["recording", "repair", Self.demo, whole])
        #expect(await repair.ending() == .exit(0))
        #expect(access(whole, F_OK) == 0)
    }
}
