import Testing
import TickertapeTesting

/// `upstream.drop-repeats`, which leaves out what a live feed repeats, in the built program's replays.
@Suite("Equal frames in the built program's replay", .timeLimit(.minutes(3 * Patience.factor)))
struct ReplayedRepeatTests {
    private static let count = 30
    private static let setting = ["--set", "upstream.drop-repeats=true"]

    /// A recording of equal frames within half a second.
    private static func recording(in folder: TemporaryFolder) throws -> String {
        let frame = #"{\"data\":[{\"c\":null,\"p\":7,\"s\":\"A\",\"t\":1723161255000,\"v\":1}],\"type\":\"trade\"}"#
        let lines = (0..<Self.count).map { #"{"at":\#($0 * 10_000_000),"frame":"\#(frame)"}"# + "\n" }
        return try folder.write(lines.joined(), to: "a.jsonl")
    }

    private func run(_ arguments: [String]) async throws -> RunningProgram {
        let program = try RunningProgram(RunningProgram.tickertape, arguments)
        #expect(await program.ending() == .exit(0), "\(program.errors)")
        return program
    }

    @Test("are all played, recorded and exported with `upstream.drop-repeats`", arguments: ["max", "1"])
    func played(speed: String) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let copy = "\(folder.path)/b.jsonl"
        let replay = try await self.run(
            ["replay", try Self.recording(in: folder), "--speed", speed, "--quiet", "--relay", "off", "--record", copy]
                + Self.setting
        )
        #expect(replay.errors.contains("\(Self.count) trades"), "\(replay.errors)")
        let export = try await self.run(["export", "--csv", copy])
        #expect(export.output.split(separator: "\n").count == Self.count + 1, "\(export.output)")
    }

    @Test("are all in the outputs on virtual time with `upstream.drop-repeats`")
    func virtual() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try Self.recording(in: folder)
        let without = try await self.run(["replay", path, "--hash", "--format", "json"])
        let with = try await self.run(["replay", path, "--hash", "--format", "json"] + Self.setting)
        #expect(with.output == without.output)
        // The list of trades, from their text.
        let bytes = (1...Self.count).reduce(0) { $0 + "\($1) A 7 1 1723161255000000000\n".utf8.count }
        let trades = try #require(with.output.split(separator: #""trades":"#).last)
        #expect(RunningProgram.number(in: String(trades), behind: #""bytes":"#) == bytes, "\(with.output)")
    }
}
