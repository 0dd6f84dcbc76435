import Foundation
import Testing
import TickertapeTesting

@Suite("The built program's replay when the disk fails", .timeLimit(.minutes(3 * Patience.factor)))
struct ReplayDiskTests {
    /// A recording of 100 s with one trade a millisecond.
    private static func recording(in folder: TemporaryFolder) throws -> String {
        let lines = (0..<100_000).map { number in
            #"{"at":\#(number * 1_000_000),"frame":"{\"data\":[{\"c\":null,\"p\":\#(number + 1),\"s\":\"A\","#
                + #"\"t\":\#(1_723_161_255_000 + number),\"v\":1}],\"type\":\"trade\"}"}"# + "\n"
        }
        return try folder.write(lines.joined(), to: "a.jsonl")
    }

    /// Compiles a library that makes reads within files fail or hang while a control file exists.
    private static func library(in folder: TemporaryFolder) async throws -> String {
        let library = "\(folder.path)/disk.so"
        let compiler = try RunningProgram(
            "/usr/bin/env",
            [
                "clang", "-shared", "-fPIC", "-o", library, "\(RunningProgram.sources)/Tests/Clients/faulty_disk.c",
                "-ldl",
            ],
            // The toolchain's compiler need not be on the path of the programs under test.
            environment: ProcessInfo.processInfo.environment["PATH"].map { ["PATH": $0] } ?? [:]
        )
        try #require(await compiler.ending() == .exit(0), "\(compiler.errors)")
        return library
    }

    private func start(_ folder: TemporaryFolder) async throws -> RunningProgram {
        let program = try RunningProgram(
            RunningProgram.tickertape,
            [
                "replay", try Self.recording(in: folder), "--symbol", "A", "--speed", "5", "--format", "plain",
                "--relay", "off",
            ],
            environment: ["LD_PRELOAD": try await Self.library(in: folder), "FAULTY_DISK": folder.path]
        )
        #expect(await program.lines(1).first?.contains(" A ") == true, "\(program.errors)")
        return program
    }

    @Test("tells a failed read in one line, and ends with status 1")
    func fails() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let program = try await self.start(folder)
        _ = try folder.write("", to: "fail")
        #expect(await program.ending() == .exit(1), "\(program.errors)")
        let lines = program.errors.split(separator: "\n").filter { $0.contains("Input/output error") }
        #expect(lines.count == 1 && lines[0].hasSuffix("/a.jsonl: Input/output error"), "\(program.errors)")
        #expect(!program.errors.contains("end of the recording"))
    }

    @Test("warns once while a read hangs, and plays on when the disk answers")
    func goesOn() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let program = try await self.start(folder)
        let hang = try folder.write("", to: "hang")
        let warning = "a.jsonl does not answer, and the replay stands still until it does"
        #expect(await program.printsError(of: warning), "\(program.errors)")
        try await Task.sleep(for: .seconds(2))
        let stood = program.output.split(separator: "\n").count
        try FileManager.default.removeItem(atPath: hang)
        #expect(await program.lines(stood + 3).count >= stood + 3, "\(program.errors)")
        program.send(signal: SIGTERM)
        #expect(await program.ending() == .exit(0), "\(program.errors)")
        #expect(program.errors.components(separatedBy: "does not answer").count == 2, "\(program.errors)")
    }

    @Test("ends at SIGTERM though a read hangs, with status 0 and a warning")
    func hangs() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let program = try await self.start(folder)
        _ = try folder.write("", to: "hang")
        #expect(await program.printsError(of: "the disk hangs"), "\(program.errors)")
        program.send(signal: SIGTERM)
        #expect(await program.ending() == .exit(0), "\(program.errors)")
        #expect(program.errors.contains("warning: the disk of the recording does not answer"), "\(program.errors)")
    }
}
