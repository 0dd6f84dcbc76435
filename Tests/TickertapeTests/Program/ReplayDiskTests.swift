import Foundation
import Testing
import TickertapeTesting

@Suite("The built program's replay when the disk fails", .timeLimit(.minutes(3 * Patience.factor)))
struct ReplayDiskTests {
    private static let warning = "a.jsonl does not answer, and the replay stands still until it does"

    /// A recording of 100 s with one trade a millisecond.
    private static func recording(in folder: TemporaryFolder) throws -> String {
        let lines = (0..<100_000).map { number in
            #"{"at":\#(number * 1_000_000),"frame":"{\"data\":[{\"c\":null,\"p\":\#(number + 1),\"s\":\"A\","#
                + #"\"t\":\#(1_723_161_255_000 + number),\"v\":1}],\"type\":\"trade\"}"}"# + "\n"
        }
        return try folder.write(lines.joined(), to: "a.jsonl")
    }

    private func start(_ folder: TemporaryFolder, _ disk: PreloadedDisk) async throws -> RunningProgram {
        let program = try RunningProgram(
            RunningProgram.tickertape,
            [
                "replay", try Self.recording(in: folder), "--symbol", "A", "--speed", "5", "--format", "plain",
                "--relay", "off",
            ],
            environment: disk.environment
        )
        #expect(await program.lines(1).first?.contains(" A ") == true, "\(program.errors)")
        return program
    }

    @Test("tells a failed read in one line, and ends with status 1")
    func fails() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let disk = try await PreloadedDisk(in: folder)
        let program = try await self.start(folder, disk)
        try disk.begin("fail")
        #expect(await program.ending() == .exit(1), "\(program.errors)")
        let lines = program.errors.split(separator: "\n").filter { $0.contains("Input/output error") }
        #expect(lines.count == 1 && lines[0].hasSuffix("/a.jsonl: Input/output error"), "\(program.errors)")
        #expect(!program.errors.contains("end of the recording"))
    }

    @Test("warns once while a read hangs, and plays on when the disk answers")
    func goesOn() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let disk = try await PreloadedDisk(in: folder)
        let program = try await self.start(folder, disk)
        try disk.begin("hang")
        #expect(await program.printsError(of: Self.warning), "\(program.errors)")
        try await Task.sleep(for: .seconds(2))
        let stood = program.output.split(separator: "\n").count
        try disk.end("hang")
        #expect(await program.lines(stood + 3).count >= stood + 3, "\(program.errors)")
        program.send(signal: SIGTERM)
        #expect(await program.ending() == .exit(0), "\(program.errors)")
        #expect(program.errors.components(separatedBy: "does not answer").count == 2, "\(program.errors)")
    }

    @Test("of `serve` is reported once while a read hangs, and its client gets the rest when the disk answers")
    func serves() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let disk = try await PreloadedDisk(in: folder)
        let server = try RunningProgram(
            RunningProgram.tickertape,
            ["serve", try Self.recording(in: folder), "--plain", "--listen", "127.0.0.1:0", "--speed", "5"],
            environment: disk.environment
        )
        let port = try #require(await server.errorText(numberBehind: "ws://127.0.0.1:"), "\(server.errors)")
        let client = try RunningProgram(
            RunningProgram.tickertape,
            [
                "--upstream", "ws://127.0.0.1:\(port)", "--symbol", "A", "--format", "plain", "--relay", "off",
                // The client does not give up on a server that stands still.
                "--set", "upstream.ping-interval=1h", "--set", "upstream.silent-after=1h",
            ],
            environment: ["FINNHUB_TOKEN": "averysecretkey"]
        )
        #expect(await client.lines(1).first?.contains(" A ") == true, "\(client.errors)")
        try disk.begin("hang")
        #expect(await server.printsError(of: "warning: the disk of "), "\(server.errors)")
        #expect(server.errors.contains(Self.warning), "\(server.errors)")
        try await Task.sleep(for: .seconds(2))
        let stood = client.output.split(separator: "\n").count
        try disk.end("hang")
        #expect(await client.lines(stood + 3).count >= stood + 3, "\(client.errors)")
        for program in [client, server] {
            program.send(signal: SIGTERM)
            #expect(await program.ending() == .exit(0), "\(program.errors)")
        }
        #expect(server.errors.components(separatedBy: "does not answer").count == 2, "\(server.errors)")
    }

    @Test("ends at SIGTERM though a read hangs, with status 0 and a warning")
    func hangs() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let disk = try await PreloadedDisk(in: folder)
        let program = try await self.start(folder, disk)
        try disk.begin("hang")
        #expect(await program.printsError(of: "the disk hangs"), "\(program.errors)")
        program.send(signal: SIGTERM)
        #expect(await program.ending() == .exit(0), "\(program.errors)")
        #expect(program.errors.contains("warning: the disk of the recording does not answer"), "\(program.errors)")
    }
}
