import Glibc
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

/// The recordings of `record` and the output of `recording`, as users see them.
@Suite("Recordings, from outside", .serialized)
struct RecordingProgramTests {
    private static let demo = "\(RunningProgram.sources)/Sources/Tickertape/Resources/demo.jsonl"

    private func run(
        _ arguments: [String]
    ) async throws -> (status: RunningProgram.Ending, output: String, errors: String) {
        let program = try RunningProgram(RunningProgram.tickertape, arguments)
        let status = try #require(await program.ending())
        return (status, program.output, program.errors)
    }

    /// Records the demo in files of 256 KiB; returns their paths.
    private func record(_ folder: TemporaryFolder) async throws -> [String] {
        let recording = try await self.run([
            "replay", Self.demo, "--speed", "max", "--quiet", "--relay", "off", "--set", "record.segment-size=256KiB",
            "--set", "record.compress=false", "--record", "\(folder.path)/a.jsonl",
        ])
        #expect(recording.status == .exit(0), "\(recording.errors)")
        let listing = try #require(opendir(folder.path))
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".jsonl") { names.append(name) }
        }
        // "a.jsonl" sorts after "a-0002.jsonl".
        let later = names.filter { $0 != "a.jsonl" }.sorted()
        return (["a.jsonl"] + later).map { "\(folder.path)/\($0)" }
    }

    /// Returns the number after a key in a line of JSON.
    private func number(_ key: String, in line: some StringProtocol) -> Int? {
        RunningProgram.number(in: String(line), behind: "\"\(key)\":")
    }

    @Test("are complete across their files, and the documentation's Python reader agrees")
    func whole() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let paths = try await self.record(folder)
        #expect(paths.count > 3)
        let check = try await self.run(["recording", "verify", "--json"] + paths)
        #expect(check.status == .exit(0), "\(check.errors)")
        let found = check.output.split(separator: "\n")
        #expect(found.count == paths.count)
        #expect(found.allSatisfy { $0.contains("\"intact\":true") && $0.contains("\"ended\":true") })
        #expect(found.compactMap { self.number("trades", in: $0) }.reduce(0, +) == 8_847)
        #expect(found.first?.contains("\"connect\":1") == true && found.first?.contains("\"subscribe\":") == true)
        #expect(found.last?.contains("\"disconnect\":1") == true, "\(found.last ?? "")")

        let page = try TemporaryFolder.text(of: "\(RunningProgram.sources)/docs/recording-format.md")
        let start = try #require(page.firstRange(of: "```python\n")?.upperBound)
        let end = try #require(page[start...].firstRange(of: "```")?.lowerBound)
        let reader = try folder.write(String(page[start..<end]), to: "reader.py")
        for (path, line) in zip(paths, found) {
            let python = try RunningProgram("/usr/bin/env", ["python3", reader, path])
            #expect(await python.ending() == .exit(0), "\(python.errors)")
            let frames = try #require(self.number("frame", in: python.output.replacing("\": ", with: "\":")))
            #expect(frames == self.number("frames", in: line))
            #expect(!python.output.contains("lost") && !python.output.contains("damaged"), "\(python.output)")
        }
    }

    @Test("that are damaged end the check with 1 and the place, and are repaired; a torn end is no damage")
    func damaged() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try #require(try await self.record(folder).first)
        var bytes = Array(try TemporaryFolder.text(of: path).utf8)
        let torn = try folder.write(String(decoding: bytes.dropLast(5), as: UTF8.self), to: "torn.jsonl")
        let tornCheck = try await self.run(["recording", "verify", torn])
        #expect(tornCheck.status == .exit(0) && tornCheck.output.contains("as after a crash"), "\(tornCheck.output)")
        bytes[bytes.count / 2] ^= 1
        let broken = try folder.write(String(decoding: bytes, as: UTF8.self), to: "broken.jsonl")
        let check = try await self.run(["recording", "verify", broken])
        #expect(check.status == .exit(1))
        #expect(
            check.output.contains("damage at byte") && check.output.contains("1 line is damaged"),
            "\(check.output)"
        )
        #expect(check.errors.contains("repair FILE NEW-FILE"))
        let empty = try await self.run(["recording", "verify", try folder.write("", to: "empty.jsonl")])
        #expect(empty.status == .exit(0) && empty.output.contains("empty.jsonl: empty\n"), "\(empty.output)")
        let whole = "\(folder.path)/whole.jsonl"
        let repair = try await self.run(["recording", "repair", broken, whole])
        #expect(repair.status == .exit(0) && repair.output.contains("1 damaged line was left out"))
        #expect(try await self.run(["recording", "verify", whole]).status == .exit(0))
        // An existing file is never overwritten.
        #expect(try await self.run(["recording", "repair", broken, whole]).status == .exit(1))
        let info = try await self.run(["recording", "info", whole])
        #expect(info.status == .exit(0) && info.output.contains("BINANCE:BTCUSDT: "), "\(info.output)")
        let cut = try await self.run([
            "recording", "cut", "--from", "1ms", "--symbol", "BINANCE:BTCUSDT", "--plain", whole,
            "\(folder.path)/cut.jsonl",
        ])
        #expect(cut.status == .exit(0), "\(cut.errors)")
        #expect(try await self.run(["recording", "cut", "--from", "noon", whole, "x"]).status == .exit(64))
    }

    @Test("refuse to be cut by a symbol that they do not have, with the symbols that they have")
    func cutOfNothing() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        func cut(_ flags: [String], _ name: String) async throws -> (status: RunningProgram.Ending, errors: String) {
            let cut = try await self.run(["recording", "cut"] + flags + [Self.demo, "\(folder.path)/\(name)"])
            return (cut.status, cut.errors)
        }
        let none = try await cut(["--symbol", "BINANCE:BTCUSTD"], "none.jsonl")
        #expect(none.status == .exit(1))
        #expect(
            none.errors.contains(
                "no trade of BINANCE:BTCUSTD is recorded, only of BINANCE:BTCUSDT, BINANCE:ETHUSDT"
            ),
            "\(none.errors)"
        )
        #expect((try? folder.read("none.jsonl")) == nil)
        let part = try await cut(["--symbol", "A:B", "--to", "10s"], "part.jsonl")
        #expect(part.status == .exit(1) && part.errors.contains("no trade of A:B is in this part of"), "\(part.errors)")
        let some = try await cut(["--symbol", "A:B", "--symbol", "BINANCE:BTCUSDT"], "some.jsonl")
        #expect(some.status == .exit(0) && some.errors.contains("warning: no trade of A:B"), "\(some.errors)")
    }

    @Test("that have been compressed are described under their names of before")
    func packedMeanwhile() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try PackedSegment.pack(Self.demo, to: "\(folder.path)/a.jsonl.zst")
        for command in ["info", "verify"] {
            let found = try await self.run(["recording", command, "\(folder.path)/a.jsonl"])
            #expect(found.status == .exit(0), "\(found.errors)")
            #expect(found.output.hasPrefix("\(folder.path)/a.jsonl.zst: intact\n"), "\(found.output)")
        }
    }

    @Test("the documentation's reader takes any frame, and of a file that is cut off all that is there")
    func reader() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let page = try TemporaryFolder.text(of: "\(RunningProgram.sources)/docs/recording-format.md")
        let start = try #require(page.firstRange(of: "```python\n")?.upperBound)
        let end = try #require(page[start...].firstRange(of: "```")?.lowerBound)
        let reader = try folder.write(String(page[start..<end]), to: "reader.py")
        var text = ByteBuffer()
        var header = RecordingHeader(symbols: ["A"], start: 1_000, epoch: 1, source: "live")
        header.first = 1
        RecordingSyntax.header(header, into: &text)
        for index in 0..<40_000 {
            let stamp = RecordingSyntax.Stamp(number: UInt64(index + 1), wall: Int64(index) * 1_000, at: Int64(index))
            let frame = index % 2 == 0 ? "no JSON \(index) {" : #"{"type":"ping \#(index)"}"#
            RecordingSyntax.frame(ByteBuffer(string: frame), stamp, into: &text)
        }
        let path = try folder.write(String(buffer: text), to: "a.jsonl")
        func read(_ path: String) async throws -> (output: String, errors: String) {
            let python = try RunningProgram("/usr/bin/env", ["python3", reader, path])
            #expect(await python.ending() == .exit(0), "\(python.errors)")
            return (python.output, python.errors)
        }
        #expect(try await read(path).output == "{\"frame\": 40000, \"header\": 1}\n")
        try #require(access("/usr/bin/zstd", X_OK) == 0, "scripts/setup --tests installs zstd")
        try PackedSegment.pack(path, to: "\(path).zst")
        var status = stat()
        try #require(stat("\(path).zst", &status) == 0 && truncate("\(path).zst", status.st_size * 2 / 3) == 0)
        let cut = try await read("\(path).zst")
        let frames = try #require(self.number("frame", in: cut.output.replacing("\": ", with: "\":")))
        #expect(frames > 1_000 && frames < 40_000 && cut.output.contains("\"unpacked\": 1"), "\(cut.output)")
        #expect(!cut.errors.contains("Traceback") && !cut.errors.isEmpty)
    }

    @Test(
        "of one run that are named without one between them end the check with 1, and so does one that cannot be read"
    )
    func neighbours() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let paths = try await self.record(folder)
        #expect(paths.count > 3)
        let all = try await self.run(["recording", "verify"] + paths.reversed())
        #expect(all.status == .exit(0), "\(all.errors)")
        #expect(try await self.run(["recording", "verify", paths[2]]).status == .exit(0))
        let some = try await self.run(["recording", "verify", paths[0], paths[2], paths[3]])
        #expect(some.status == .exit(1) && some.errors.contains("goes on from a-0002.jsonl"), "\(some.errors)")
        let missing = try await self.run(["recording", "verify", "\(folder.path)/none", paths[1]])
        #expect(missing.status == .exit(1) && missing.errors.contains("none"), "\(missing.errors)")
        #expect(missing.output.contains("\(paths[1]): intact"), "\(missing.output)")
        let repair = try await self.run(["recording", "repair", paths[0], "\(folder.path)/r.jsonl"])
        #expect(repair.output.contains("goes on in a-0002.jsonl"), "\(repair.output)")
        // A file made from others numbers its lines itself.
        var lines = try folder.read("a.jsonl").split(separator: "\n")
        lines.removeSubrange(3..<8)
        let poor = try folder.write(lines.joined(separator: "\n") + "\n", to: "poor.jsonl")
        #expect(try await self.run(["recording", "repair", poor, "\(folder.path)/made.jsonl"]).status == .exit(0))
        let made = try await self.run(["recording", "verify", "\(folder.path)/made.jsonl", paths[1]])
        #expect(made.status == .exit(0), "\(made.errors)")
    }

    @Test("are exported with their continuation files, each once, and missing lines are reported and mark bars")
    func exported() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let paths = try await self.record(folder)
        #expect(paths.count > 3)
        func rows(_ files: [String], _ flags: [String] = []) async throws -> (rows: [Substring], errors: String) {
            let export = try await self.run(["export", "--csv"] + flags + files)
            #expect(export.status == .exit(0), "\(export.errors)")
            return (export.output.split(separator: "\n"), export.errors)
        }
        let one = try await rows([paths[0]])
        #expect(one.rows.count == 8_848 && one.errors.contains("goes on in a-0002.jsonl"), "\(one.errors)")
        let all = try await rows(paths)
        #expect(all.rows == one.rows && !all.errors.contains("twice"), "\(all.errors)")
        // In the shell's order and in reverse: continuation files are read after the file that they continue.
        for order in [paths.sorted(), paths.reversed()] {
            let rows = try await rows(order)
            #expect(rows.rows == one.rows && !rows.errors.contains("twice"), "\(rows.errors)")
        }
        // Lines are missing in the middle of the first file.
        let lines = try TemporaryFolder.text(of: paths[0]).split(separator: "\n", omittingEmptySubsequences: false)
        let holed = (lines[..<100] + lines[110...]).joined(separator: "\n")
        let hole = try folder.write(holed, to: "hole.jsonl")
        let before = try await rows([paths[0]], ["--bars", "1s", "--to", "20s"])
        let behind = try await rows([hole], ["--bars", "1s", "--to", "20s"])
        #expect(behind.errors.contains("10 lines are missing"), "\(behind.errors)")
        func marked(_ rows: [Substring]) -> Int { rows.count { $0.hasSuffix(",true,0") } }
        #expect(marked(behind.rows) > marked(before.rows))
        // Every bar that lacks trades is marked.
        let known = Dictionary(
            before.rows.map { ($0.split(separator: ",").prefix(3).joined(separator: ","), $0) },
            uniquingKeysWith: { first, _ in first }
        )
        for row in behind.rows where row.hasSuffix(",false,0") {
            #expect(known[row.split(separator: ",").prefix(3).joined(separator: ",")] == row)
        }
    }

    @Test("whose compressed first part is damaged are exported with a warning: rows have neither epoch nor number")
    func unnamed() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let start: Int64 = 1_723_161_255_000_000_000
        var text = ByteBuffer()
        var header = RecordingHeader(symbols: ["A"], start: start, epoch: 1, source: "live")
        header.first = 1
        RecordingSyntax.header(header, into: &text)
        for index in 0..<20_000 {
            let at = Int64(index) * 1_000_000
            let stamp = RecordingSyntax.Stamp(number: UInt64(index + 1), wall: start + at, at: at)
            let trade = #"{"c":null,"p":\#(index + 1),"s":"A","t":\#(1_723_161_255_000 + index),"v":1}"#
            RecordingSyntax.frame(
                ByteBuffer(string: #"{"data":[\#(trade)],"type":"trade"}"#),
                stamp,
                numbers: RecordedNumbers(first: UInt64(index + 1), count: 1),
                into: &text
            )
        }
        let path = "\(folder.path)/a.jsonl.zst"
        try PackedSegment.pack(try folder.write(String(buffer: text), to: "a.jsonl"), to: path)
        let whole = try await self.run(["export", "--csv", path])
        #expect(whole.status == .exit(0) && whole.errors.isEmpty, "\(whole.errors)")
        let descriptor = open(path, O_RDWR)
        // The header of the first frame's first block (RFC 8878, 3.1.1).
        let nonsense = [UInt8](repeating: 0xA5, count: 64)
        #expect(pwrite(descriptor, nonsense, nonsense.count, 9) == nonsense.count)
        close(descriptor)
        let part = try await self.run(["export", "--csv", path])
        let rows = part.output.split(separator: "\n").dropFirst()
        #expect(part.status == .exit(0) && rows.count > 1_000 && rows.count < 20_000, "\(rows.count)")
        #expect(rows.allSatisfy { $0.hasSuffix(",,,false,false,,false") }, "\(rows.first ?? "")")
        #expect(
            part.errors.contains(
                "warning: \(rows.count) rows have neither epoch nor number: the line that holds them is damaged\n"
            ),
            "\(part.errors)"
        )
    }

    @Test("without a frame are left out of an export with a warning; a file that is no recording ends it")
    func exportedEmpty() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let header = try TemporaryFolder.text(of: Self.demo).prefix { $0 != "\n" } + "\n"
        let empty = try folder.write(String(header), to: "empty.jsonl")
        let both = try await self.run(["export", "--csv", Self.demo, empty])
        let one = try await self.run(["export", "--csv", Self.demo])
        #expect(both.status == .exit(0) && both.output == one.output)
        #expect(both.errors.contains("warning: \(empty) holds no recorded frame\n"), "\(both.errors)")
        let alone = try await self.run(["export", "--csv", empty])
        #expect(alone.status == .exit(1) && alone.output.split(separator: "\n").count == 1, "\(alone.output)")
        let other = try folder.write("hello\n", to: "other.jsonl")
        let wrong = try await self.run(["export", "--csv", Self.demo, other])
        #expect(wrong.status == .exit(1) && wrong.errors.contains("\(other) holds no recorded frame (one JSON object"))
    }

    @Test("that cannot be written to their end are removed, so that the next try finds no half of one")
    func unfinished() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        for command in [
            ["recording", "repair", Self.demo, "new"], ["recording", "cut", "--to", "90%", Self.demo, "new"],
            ["recording", "merge", Self.demo, "new"], ["export", "--csv", Self.demo, "--output", "new"],
            ["simulate", "--duration", "5m", "--rate", "1000", "--write", "new"],
        ] {
            let words = ([RunningProgram.tickertape] + command).map { "'\($0)'" }.joined(separator: " ")
            // At most 64 KiB.
            let shell = try RunningProgram(
                "/bin/bash",
                ["-c", "cd '\(folder.path)' && ulimit -f 64 && \(words)"],
                environment: Sanitizer.withSmallFiles
            )
            #expect(await shell.ending() == .exit(1), "\(command): \(shell.errors)")
            #expect(shell.errors.contains("new"), "\(shell.errors)")
            #expect(access("\(folder.path)/new", F_OK) != 0, "\(command)")
        }
    }

    @Test("are cut at every place that a replay begins at, and not at days that there are not")
    func places() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var number = 0
        for (place, isRight) in [
            ("50%", true), ("00:00:30", true), ("2026-01-01", true), ("2026-01-01T00:00:20.5Z", true), ("90s", true),
            ("1767225620000", true), ("2026-02-31", false), ("2026-02-30T10:00:00Z", false), ("+5s", false),
            ("gap", false),
        ] {
            number += 1
            let cut = try await self.run(["recording", "cut", "--from", place, Self.demo, "\(folder.path)/\(number)"])
            #expect(cut.status == .exit(isRight ? 0 : 64), "\(place): \(cut.errors)")
            let export = try await self.run(["export", "--csv", "--from", place, Self.demo])
            #expect(export.status == .exit(isRight ? 0 : 64), "\(place): \(export.errors)")
        }
        let none = try await self.run(["recording", "cut", "--from", "2027-01-01", Self.demo, "\(folder.path)/none"])
        #expect(none.status == .exit(1) && access("\(folder.path)/none", F_OK) != 0, "\(none.errors)")
    }

    @Test("into a folder have a name by the time")
    func folder() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let recording = try await self.run([
            "replay", Self.demo, "--speed", "max", "--quiet", "--relay", "off", "--record", folder.path,
        ])
        #expect(recording.status == .exit(0), "\(recording.errors)")
        #expect(recording.errors.contains("to \(folder.path)/tickertape-20"), "\(recording.errors)")
    }

    @Test("are replayed from their first file to their last, compressed or not, and under the name of before")
    func replayed() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let paths = try await self.record(folder)
        #expect(paths.count > 3)
        let replay = ["--speed", "max", "--quiet", "--relay", "off"]
        let whole = try await self.run(["replay", paths[0]] + replay)
        #expect(whole.status == .exit(0) && whole.errors.contains("8847 trades"), "\(whole.errors)")
        // A start with the same name compresses the existing files.
        let again = try await self.run(["replay", Self.demo, "--to", "1s", "--record", paths[0]] + replay)
        #expect(again.status == .exit(0), "\(again.errors)")
        let packing = try RunningProgram(
            RunningProgram.tickertape,
            ["replay", Self.demo, "--paused", "--quiet", "--relay", "127.0.0.1:0", "--record", paths[0]]
        )
        let end = ContinuousClock.now + .seconds(60) * Patience.factor
        while paths.contains(where: { access($0, F_OK) == 0 }), ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(50))
        }
        packing.send(signal: SIGTERM)
        #expect(await packing.ending() == .exit(0), "\(packing.errors)")
        #expect(paths.allSatisfy { access($0, F_OK) != 0 && access("\($0).zst", F_OK) == 0 })
        for name in [paths[0], "\(paths[0]).zst"] {
            let packed = try await self.run(["replay", name] + replay)
            #expect(packed.status == .exit(0) && packed.errors.contains("8847 trades"), "\(packed.errors)")
        }
        let part = try await self.run(["replay", paths[0], "--from", "50%"] + replay)
        #expect(part.status == .exit(0) && !part.errors.contains("8847 trades"), "\(part.errors)")
    }

    /// `scripts/kill-recorder` repeats it 200 times and limits the loss to a second, which a loaded machine may exceed.
    @Test("survive SIGKILL at any moment under load: every file is intact, and nothing is missing before its end")
    func killed() async throws {
        let script = "\(RunningProgram.sources)/Tests/Clients/kill_recorder.py"
        let program = try RunningProgram("/usr/bin/env", ["python3", script, "5", RunningProgram.tickertape, "60"])
        #expect(await program.ending() == .exit(0), "\(program.errors)")
        #expect(program.output.contains("killed 5 times"), "\(program.output)")
    }

    /// Whether a test may mount a file system.
    private static let mayMount = system("unshare --mount sh -c 'mount -t tmpfs tickertape /mnt' 2>/dev/null") == 0

    @Test(
        "report the lines that a full disk has cost, are intact around the gap, and continue when there is space",
        .enabled(if: Self.mayMount, "no mount namespace may be made here: it takes root")
    )
    func fullDisk() async throws {
        let script = "\(RunningProgram.sources)/scripts/fill-recorder"
        let program = try RunningProgram("/usr/bin/env", [script, RunningProgram.tickertape])
        #expect(await program.ending() == .exit(0), "\(program.errors)")
        #expect(program.output.contains("filled and emptied"), "\(program.output)")
    }
}
