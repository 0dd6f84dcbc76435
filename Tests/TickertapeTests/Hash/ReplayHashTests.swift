import Feeds
import Market
import MockUpstream
import NIOCore
import Simulation
import Testing
import TickertapeTesting
import Wire
@testable import Tickertape

/// The outputs of a replay in virtual time.
@Suite("The bytes of a replay", .timeLimit(.minutes(5 * Patience.factor)))
struct ReplayHashTests {
    /// The outputs that depend on the trades only, and not on their arrival times.
    private static let timeless: Set<String> = ["alerts", "bars", "history", "relay-drop-in", "trades"]

    /// The outputs of the unchanged market, with their bytes. They are made once, for all tests that compare with them.
    private static let unchanged = Task {
        let tests = try Self()
        defer { tests.folder.remove() }
        return try await tests.hash { $0.keepsBytes = true }
    }

    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.path = try self.folder.write(ScriptedMarket().text, to: "market.jsonl")
    }

    private func hash(
        _ path: String? = nil,
        _ change: (inout ReplayHash) -> Void = { _ in }
    ) async throws -> ReplayHash.Report {
        var hash = ReplayHash(recording: try RecordingFile(path: path ?? self.path))
        change(&hash)
        return try await hash.run()
    }

    /// Returns the names of the outputs that differ.
    private static func differences(_ left: ReplayHash.Report, _ right: ReplayHash.Report) -> Set<String> {
        let before = Dictionary(uniqueKeysWithValues: left.outputs.map { ($0.name, $0.digest) })
        return Set(right.outputs.filter { before[$0.name] != $0.digest }.map(\.name))
    }

    @Test("are the same at every speed, though the player takes its own time")
    func everySpeed() async throws {
        defer { self.folder.remove() }
        let first = try await self.hash()
        #expect(first.elapsed == ScriptedMarket.length)
        #expect(first.outputs.count == 19 && first.outputs.allSatisfy { $0.count > 0 }, "\(first.outputs)")
        #expect(Set(first.outputs.map(\.digest)).count == first.outputs.count)
        for speed in [0.1, 7.3, 10, 1_000, nil] as [Double?] {
            let report = try await self.hash { $0.replay.machine.speed = speed }
            // The player waits the full time before every message at this speed.
            let expected = speed.map { Int64(Double(ScriptedMarket.length) / $0) } ?? 0
            #expect(abs(report.elapsed - expected) <= 1_000, "at \(speed ?? .infinity): \(report.elapsed)")
            #expect(report.outputs == first.outputs, "at \(speed ?? .infinity): \(Self.differences(first, report))")
        }
        // A silence that the player shortens does not affect any output.
        let hasty = try await self.hash { $0.replay.machine.longestSilence = 1_000_000_000 }
        #expect(hasty.elapsed < ScriptedMarket.length / 2)
        #expect(hasty.outputs == first.outputs, "\(Self.differences(first, hasty))")
    }

    @Test("are the same in every run, and in the program, whatever is around it")
    func everyRun() async throws {
        defer { self.folder.remove() }
        let report = try await self.hash()
        let again = try await self.hash()
        #expect(again.outputs == report.outputs, "\(Self.differences(report, again))")
        let expected = report.outputs.map { "\($0.digest)  \($0.name)" }
        let copy = try self.folder.write(ScriptedMarket().text, to: "another name.jsonl")
        // Each process has a different hash seed, and so a different order in sets and dictionaries.
        let plain = try RunningProgram(
            RunningProgram.tickertape,
            ["replay", copy, "--hash", "--speed", "max"],
            environment: ["TZ": "Asia/Tokyo", "LANG": "C", "NO_COLOR": "1", "COLUMNS": "40"]
        )
        #expect(await plain.ending() == .exit(0), "\(plain.errors)")
        #expect(plain.output.split(separator: "\n").map(String.init) == expected)
        let json = try RunningProgram(
            RunningProgram.tickertape,
            ["replay", self.path, "--hash", "--format", "json", "--speed", "0.5", "--set", "pipeline.quiet=1s"],
            environment: ["TZ": "America/New_York", "LANG": "de_DE.UTF-8", "TERM": "xterm-256color"]
        )
        #expect(await json.ending() == .exit(0), "\(json.errors)")
        let members = report.outputs.map { #""\#($0.name)":{"sha256":"\#($0.digest)","bytes":\#($0.count)}"# }
        #expect(json.output == "{\(members.joined(separator: ","))}\n")
        for flags in [["--loop"], ["--record", "\(self.folder.path)/new.jsonl"]] {
            let refused = try RunningProgram(RunningProgram.tickertape, ["replay", self.path, "--hash"] + flags)
            #expect(await refused.ending() == .exit(64) && refused.errors.contains(flags[0]), "\(refused.errors)")
        }
    }

    @Test("are those of every machine: the bundled recording's are kept in a file")
    func everyMachine() async throws {
        defer { self.folder.remove() }
        let demo = "\(RunningProgram.sources)/Sources/Tickertape/Resources/demo.jsonl"
        let report = try await self.hash(demo) { $0.replay.machine.speed = nil }
        try KeptHashes.check(report.outputs, in: "demo-hashes.txt")
    }

    @Test("are others on every output that shows a price in which one digit is another")
    func oneByte() async throws {
        defer { self.folder.remove() }
        var market = ScriptedMarket()
        market.peak = "60999.76"
        let changed = try self.folder.write(market.text, to: "changed.jsonl")
        let before = try await Self.unchanged.value
        let after = try await self.hash(changed) { $0.keepsBytes = true }
        // Notices are about states and gaps, and have no price.
        let all = Set(before.outputs.map(\.name))
        #expect(Self.differences(before, after) == all.subtracting(["lines-notices"]))
        // The test would pass with empty outputs, so the price must appear in them.
        for output in before.outputs where !["lines-notices", "screen-80x24", "screen-40x10"].contains(output.name) {
            #expect(String(decoding: output.bytes ?? [], as: UTF8.self).contains("60999.75"), "\(output.name)")
        }
    }

    @Test(
        "are the same however a message is cut into reads; those made of the trades alone, also where reads hold several"
    )
    func cutting() async throws {
        defer { self.folder.remove() }
        let whole = try await self.hash()
        for size in [1, 7, 64] {
            let pieces = try await self.hash { $0.cutting = .pieces(size) }
            #expect(pieces.outputs == whole.outputs, "pieces of \(size): \(Self.differences(whole, pieces))")
        }
        let all = Set(whole.outputs.map(\.name))
        #expect(Self.timeless.isSubset(of: all))
        for cutting in [ReplayCutting.instants, .several(2), .several(5)] {
            let report = try await self.hash { $0.cutting = cutting }
            let differences = Self.differences(whole, report)
            #expect(differences.isDisjoint(with: Self.timeless), "\(cutting): \(differences)")
            // Batches that are cut differently have other arrival times, which the recording holds.
            if cutting != .instants { #expect(differences.contains("recording"), "\(cutting): \(differences)") }
        }
    }

    @Test(
        "tell of the recording's gaps where the live program did, at every speed and however messages are cut into reads"
    )
    func gaps() async throws {
        defer { self.folder.remove() }
        var market = ScriptedMarket()
        market.hasGap = true
        let path = try self.folder.write(market.text, to: "gap.jsonl")
        let without = try await Self.unchanged.value
        let with = try await self.hash(path) { $0.keepsBytes = true }
        func text(_ report: ReplayHash.Report, _ name: String) -> String {
            String(decoding: report.outputs.first { $0.name == name }?.bytes ?? [], as: UTF8.self)
        }
        let differences = Self.differences(without, with)
        #expect(differences.isSuperset(of: ["bars", "history", "lines-notices", "recording", "relay-stream-all"]))
        #expect(differences.isDisjoint(with: ["trades", "alerts", "relay-drop-in"]), "\(differences)")
        let reported = #""reason":"in the recording: lost""#
        #expect(text(with, "relay-stream-all").contains(#""cause":"recorded""#))
        for name in ["relay-stream-all", "recording"] {
            #expect(text(with, name).contains(reported) && !text(without, name).contains(reported), "\(name)")
        }
        // The bars that an export marks as incomplete.
        func marked(_ text: String) -> Int { text.ranges(of: #""incomplete":true"#).count }
        let export = try RunningProgram(RunningProgram.tickertape, ["export", "--jsonl", "--bars", "1s", path])
        #expect(await export.ending() == .exit(0), "\(export.errors)")
        let plain = try RunningProgram(RunningProgram.tickertape, ["export", "--jsonl", "--bars", "1s", self.path])
        #expect(await plain.ending() == .exit(0), "\(plain.errors)")
        #expect(marked(export.output) > marked(plain.output))
        #expect(marked(text(with, "bars")) > marked(text(without, "bars")))
        for speed in [0.1, 50, nil] as [Double?] {
            let report = try await self.hash(path) { $0.replay.machine.speed = speed }
            #expect(
                Self.differences(with, report).isEmpty,
                "at \(speed ?? .infinity): \(Self.differences(with, report))"
            )
        }
        let hasty = try await self.hash(path) { $0.replay.machine.longestSilence = 1_000_000_000 }
        #expect(Self.differences(with, hasty).isEmpty, "\(Self.differences(with, hasty))")
        for cutting in [ReplayCutting.pieces(7), .instants, .several(3)] {
            let report = try await self.hash(path) { $0.cutting = cutting }
            let differences = Self.differences(with, report)
            #expect(differences.isDisjoint(with: Self.timeless), "\(cutting): \(differences)")
        }
        // A recording of the replay gives the same outputs.
        let copy = try self.folder.write(text(with, "recording"), to: "again.jsonl")
        let again = try await self.hash(copy)
        #expect(Self.differences(with, again).isDisjoint(with: Self.timeless), "\(Self.differences(with, again))")
    }

    @Test("have the alerts that the program gives with sockets and clocks, at any speed")
    func alerts() async throws {
        defer { self.folder.remove() }
        let report = try await Self.unchanged.value
        let output = try #require(report.outputs.first { $0.name == "alerts" })
        let expected = String(decoding: output.bytes ?? [], as: UTF8.self).split(separator: "\n").map(String.init)
        for kind in ["new-high", "new-low", "moves", "stale", "back"] {
            #expect(expected.contains { $0.contains(#""kind":"\#(kind)""#) }, "\(kind): \(expected)")
        }
        for speed in ["max", "20"] {
            let program = try RunningProgram(
                RunningProgram.tickertape,
                ["replay", self.path, "--relay", "off", "--format", "json", "--speed", speed]
                    + OutputHarness.usualRules.flatMap { ["--alert", $0] }
            )
            #expect(await program.ending() == .exit(0), "\(program.errors)")
            let reported = program.output.split(separator: "\n").filter { $0.hasPrefix(#"{"type":"alert""#) }
            let marked = expected.map { "\($0.dropLast()),\"source\":\"replay\"}" }
            #expect(reported.map(String.init) == marked, "at \(speed)")
        }
    }

    @Test("have the trades that the program records with sockets and clocks, at any speed")
    func trades() async throws {
        defer { self.folder.remove() }
        let report = try await Self.unchanged.value
        let output = try #require(report.outputs.first { $0.name == "trades" })
        let expected = String(decoding: output.bytes ?? [], as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(expected.count > 50)
        for speed in ["max", "20"] {
            let path = "\(self.folder.path)/recorded-\(speed).jsonl"
            let program = try RunningProgram(
                RunningProgram.tickertape,
                ["replay", self.path, "--relay", "off", "--quiet", "--speed", speed, "--record", path]
            )
            #expect(await program.ending() == .exit(0), "\(program.errors)")
            let export = try RunningProgram(RunningProgram.tickertape, ["export", "--csv", path])
            #expect(await export.ending() == .exit(0), "\(export.errors)")
            // symbol,price,size,time,received,epoch,seq,possibleRepeat,ahead,id,filled
            let trades = export.output.split(separator: "\n").dropFirst().map { line in
                let cells = line.split(separator: ",", omittingEmptySubsequences: false)
                return "\(cells[6]) \(cells[0]) \(cells[1]) \(cells[2]) \(cells[3])000000"
            }
            #expect(trades == expected, "at \(speed)")
        }
    }

    @Test("are those of the recording that the replay makes, as far as they are made of the trades alone")
    func recordedAgain() async throws {
        defer { self.folder.remove() }
        let first = try await Self.unchanged.value
        let recording = try #require(first.outputs.first { $0.name == "recording" })
        let copy = try self.folder.write(String(decoding: recording.bytes ?? [], as: UTF8.self), to: "again.jsonl")
        let again = try await self.hash(copy)
        #expect(Self.differences(first, again).isDisjoint(with: Self.timeless), "\(Self.differences(first, again))")
    }

    @Test("are not waited for where a recording is too long, and said not to be")
    func tooLong() async throws {
        defer { self.folder.remove() }
        let month: Int64 = 32 * 86_400 * 1_000_000_000
        var recording = RecordingBuffer(RecordingHeader(symbols: ["A"], start: 0))
        for at in [0, month, Int64.max / 2] { recording.frame(FinnhubEncoder.ping, at: at) }
        let path = try self.folder.write(String(buffer: recording.bytes), to: "long.jsonl")
        await #expect(throws: OperatorError.self) { try await self.hash(path) }
        let part = try await self.hash(path) { $0.replay.to = .offset(1_000_000_000) }
        #expect(part.elapsed == 0)
    }

    @Test("are those of a part of the recording and of some of its symbols, where these are asked for")
    func part() async throws {
        defer { self.folder.remove() }
        let whole = try await Self.unchanged.value
        let part = try await self.hash {
            $0.symbols = [ScriptedMarket.symbols[1]]
            $0.replay.from = .offset(2_000_000_000)
            $0.keepsBytes = true
        }
        func trades(_ report: ReplayHash.Report) -> [Substring] {
            let bytes = report.outputs.first { $0.name == "trades" }?.bytes ?? []
            return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { line in
                // Without the sequence number, which counts the played trades.
                line.drop { $0 != " " }
            }
        }
        let wanted = trades(whole).filter { $0.contains(ScriptedMarket.symbols[1]) }
        let played = trades(part)
        #expect(played.count > 10 && played.count < wanted.count)
        #expect(Array(wanted.suffix(played.count)) == played)
    }
}
