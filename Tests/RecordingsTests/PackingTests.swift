import Glibc
import Market
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

@Suite("Compressed recordings")
struct PackingTests {
    /// Returns the whole text of a file, and the parts that could not be read.
    private func text(_ path: String) throws -> (text: ByteBuffer, damage: [RecordedLine.UnreadablePart]) {
        let (text, damage) = try RecordingBytes(path: path).rest()
        return (text, damage)
    }

    private func packed(_ folder: TemporaryFolder, _ text: ByteBuffer) throws -> String {
        let path = try folder.write(String(buffer: text), to: "a.jsonl")
        #expect(SegmentUpkeep(SegmentNames(first: path)).pack() == [])
        #expect(access(path, F_OK) != 0)
        return path + ".zst"
    }

    @Test("foreign files are neither compressed nor removed, whatever their names, and each is reported")
    func strangers() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var names = ["a.jsonl"]
        for number in 2...8 { names.append("a-000\(number).jsonl") }
        let market = String(buffer: MarketText.make(frames: 20))
        var header = MarketText.header()
        header.source = "demo"
        var demo = ByteBuffer()
        RecordingSyntax.header(header, into: &demo)
        let foreign = [
            "my shopping list\n", #"{"tickertape":2}"#, #"{"tickertape":1,"symbols":[]}"# + "\n", "\0\0\0\0",
            // Another recording's file, and one whose first line is damaged.
            String(buffer: demo), String(market.dropFirst()),
        ]
        for (name, text) in zip(names, foreign) { _ = try folder.write(text, to: name) }
        let mine = try folder.write(market, to: names[6])
        _ = try folder.write("", to: names[7])
        #expect(symlink(mine, "\(folder.path)/a-0009.jsonl") == 0)
        let care = SegmentUpkeep(SegmentNames(first: "\(folder.path)/a.jsonl"), source: "live")
        #expect(care.pack() == [])
        let before = SegmentNames.names(in: folder.path).filter { $0.hasPrefix("a") }.sorted()
        #expect(before == (names.prefix(6) + ["a-0007.jsonl.zst", names[7], "a-0009.jsonl"]).sorted())
        for (name, text) in zip(names, foreign) { #expect(try folder.read(name) == text) }
        #expect(care.strangers().sorted() == names.prefix(6).map { "\(folder.path)/\($0)" }.sorted())
        // Foreign files do not count towards the size either.
        let size = try RecordingBytes(path: "\(mine).zst").size
        #expect(care.removeOld(now: .max, age: nil, bytes: size, newest: "") == [])
        #expect(care.removeOld(now: .max, age: 1, bytes: 0, newest: "") == ["\(mine).zst"])
        let after = SegmentNames.names(in: folder.path).filter { $0.hasPrefix("a") }.sorted()
        #expect(after == (names.prefix(6) + [names[7], "a-0009.jsonl"]).sorted())
    }

    @Test("hold exactly the same text, which the zstd program reads too", arguments: [0, 1, 20_000])
    func roundTrip(frames: Int) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let text = frames == 0 ? ByteBuffer() : MarketText.make(frames: frames)
        let path = "\(folder.path)/a.jsonl.zst"
        try PackedSegment.pack(try folder.write(String(buffer: text), to: "a.jsonl"), to: path)
        let read = try self.text(path)
        #expect(read.text == text && read.damage.isEmpty)
        try #require(access("/usr/bin/zstd", X_OK) == 0, "scripts/setup --tests installs zstd")
        let program = try RunningProgram("/usr/bin/zstd", ["-d", "-q", path, "-o", "\(folder.path)/b.jsonl"])
        #expect(await program.ending() == .exit(0), "\(program.errors)")
        #expect(try folder.read("b.jsonl") == String(buffer: text))
    }

    @Test("that differ from the original never replace it, and the recording stays")
    func compares() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(String(buffer: MarketText.make(frames: 100)), to: "a.jsonl")
        _ = try folder.write("something else", to: "a.jsonl.zst")
        let problems = SegmentUpkeep(SegmentNames(first: path)).pack()
        #expect(problems.count == 1 && problems.allSatisfy { $0.contains("both are kept") })
        #expect(access(path, F_OK) == 0)
        #expect(try folder.read("a.jsonl.zst") == "something else")
    }

    @Test("a step that a crash interrupted is repeated: an incomplete file, and an original that was not removed")
    func resumes() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let text = MarketText.make(frames: 100)
        let path = try self.packed(folder, text)
        _ = try folder.write(String(buffer: text), to: "a.jsonl")
        _ = try folder.write("half of", to: "a.jsonl.zst.part")
        #expect(SegmentUpkeep(SegmentNames(first: path)).pack() == [])
        #expect(SegmentNames.names(in: folder.path).filter { $0.hasPrefix("a") } == ["a.jsonl.zst"])
        #expect(try self.text(path).text == text)
    }

    @Test("a file that a program still writes is left alone")
    func locked() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(String(buffer: MarketText.make(frames: 1)), to: "a.jsonl")
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX) == 0)
        #expect(SegmentUpkeep(SegmentNames(first: path)).pack() == [])
        #expect(access(path, F_OK) == 0 && access("\(path).zst", F_OK) != 0)
    }

    @Test("with a damaged first part their rows have neither epoch nor number, and an export counts them")
    func damagedFirstPart() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try self.packed(folder, MarketText.make(frames: 4_000))
        let descriptor = open(path, O_RDWR)
        // The header of the first frame's first block (RFC 8878, 3.1.1).
        let nonsense = [UInt8](repeating: 0xA5, count: 64)
        #expect(pwrite(descriptor, nonsense, nonsense.count, 9) == nonsense.count)
        close(descriptor)
        let stream = try RecordingStream(path: path)
        var export = RecordingExport(RecordingExport.Order(format: .csv))
        export.beginFile()
        var unreadable = 0
        while let line = try stream.next() {
            if case .unreadable = line.content { unreadable += 1 }
            export.take(line)
        }
        export.finish()
        #expect(unreadable == 1)
        #expect(export.report.rows > 1_000 && export.report.unnamed == export.report.rows, "\(export.report)")
        let rows = String(buffer: export.takeText()).split(separator: "\n").dropFirst()
        #expect(rows.allSatisfy { $0.hasSuffix(",,,false,false,,false") })
    }

    @Test("damaged anywhere they lose at most one frame, report where, and every line read is correct")
    func damaged() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let text = MarketText.make(frames: 4_000)
        let path = try self.packed(folder, text)
        let lines = Set(String(buffer: text).split(separator: "\n").map(String.init))
        let whole = try RecordingBytes(path: path).size
        var chance = SeededGenerator(seed: 7)
        for _ in 0..<10 {
            let place = off_t(chance.next() % UInt64(whole))
            let descriptor = open(path, O_RDWR)
            var byte: UInt8 = 0
            let got = pread(descriptor, &byte, 1, place)
            #expect(got == 1)
            let flipped = byte ^ (1 << UInt8(chance.next() % 8))
            withUnsafeBytes(of: flipped) { _ = pwrite(descriptor, $0.baseAddress, 1, place) }
            let (found, damage) = try self.text(path)
            var reader = RecordingParser()
            reader.feed(found)
            reader.finish()
            var good = 0
            var bad = 0
            while let line = reader.nextLine() {
                switch line.content {
                case .damaged, .torn: bad += 1
                default:
                    good += 1
                    let range = Int(line.offset)..<Int(line.offset) + line.length
                    let known = lines.contains(String(decoding: found.readableBytesView[range], as: UTF8.self))
                    #expect(known)
                }
            }
            // A flipped bit in the index or the table costs no text; any other is reported.
            #expect(good == lines.count || !damage.isEmpty || bad > 0, "byte \(place)")
            #expect(good >= lines.count - 3_000, "byte \(place)")
            withUnsafeBytes(of: byte) { _ = pwrite(descriptor, $0.baseAddress, 1, place) }
            close(descriptor)
        }
        #expect(try self.text(path).text == text)
    }

    @Test("cut off anywhere they return the text before the cut, and report that the end is missing")
    func cut() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let text = MarketText.make(frames: 4_000)
        let path = try self.packed(folder, text)
        let size = try RecordingBytes(path: path).size
        for part in 1..<10 {
            #expect(truncate(path, off_t(size * Int64(10 - part) / 10)) == 0)
            let (found, damage) = try self.text(path)
            #expect(damage.last?.isTail == true)
            #expect(found.readableBytes < text.readableBytes)
            #expect(text.getSlice(at: 0, length: found.readableBytes) == found)
        }
    }

    @Test("an excessive expansion is refused")
    func bomb() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try #require(access("/usr/bin/zstd", X_OK) == 0, "scripts/setup --tests installs zstd")
        let shell = try RunningProgram(
            "/bin/sh",
            ["-c", "head -c 200000000 /dev/zero | zstd -q -19 > '\(folder.path)/bomb.zst'"]
        )
        #expect(await shell.ending() == .exit(0))
        let bytes = try RecordingBytes(path: "\(folder.path)/bomb.zst")
        #expect(throws: RecordingFailure.self) {
            while let part = try bytes.next() { if case .text(let text) = part { #expect(text.readableBytes > 0) } }
        }
    }

    @Test("the oldest files are removed when they are too old or too large in all; the one being written stays")
    func retention() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let names = SegmentNames(first: "\(folder.path)/a.jsonl")
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let text = String(buffer: MarketText.make(frames: 3))
        for place in 1...5 {
            let path = try folder.write(text, to: names.name(place))
            let time = timespec(tv_sec: now.tv_sec - (6 - place) * 86_400, tv_nsec: 0)
            utimensat(AT_FDCWD, path, [time, time], 0)
        }
        _ = try folder.write("other", to: "ab.jsonl")
        _ = try folder.write("other", to: "a-2.jsonl")
        let care = SegmentUpkeep(names)
        let wall = Int64(now.tv_sec) * 1_000_000_000
        func left() -> [Int] { names.all().map(\.place) }
        #expect(care.removeOld(now: wall, age: nil, bytes: nil, newest: "") == [] && left() == [1, 2, 3, 4, 5])
        let removed = care.removeOld(now: wall, age: 345_600_000_000_001, bytes: nil, newest: "")
        #expect(removed == [names.path(1)] && left() == [2, 3, 4, 5])
        #expect(care.removeOld(now: wall, age: nil, bytes: Int64(3 * text.utf8.count), newest: "") == [names.path(2)])
        let descriptor = open(names.path(3), O_RDONLY)
        #expect(flock(descriptor, LOCK_EX) == 0)
        _ = care.removeOld(now: wall, age: nil, bytes: 1, newest: names.path(5))
        #expect(left() == [3, 5])
        close(descriptor)
        #expect(SegmentNames.names(in: folder.path).contains("ab.jsonl"))
        #expect(SegmentNames.names(in: folder.path).contains("a-2.jsonl"))
    }

    @Test("files are named and found in order, and those named by the time are maintained together")
    func names() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let names = SegmentNames(first: "\(folder.path)/a.b.jsonl")
        #expect((1...3).map(names.name) == ["a.b.jsonl", "a.b-0002.jsonl", "a.b-0003.jsonl"])
        #expect(names.name(12_345) == "a.b-12345.jsonl")
        for name in [
            "a.b.jsonl", "a.b-0003.jsonl", "a.b-0010.jsonl.zst", "a.b-3.jsonl", "a.b-0000.jsonl", "a.b-.jsonl",
        ] {
            _ = try folder.write("", to: name)
        }
        #expect(names.all().map(\.place) == [1, 3, 10] && names.firstFree() == 11)
        #expect(names.all().map(\.isPacked) == [false, false, true])
        #expect(SegmentNames(first: "x").name(2) == "x-0002" && SegmentNames(first: "/x.zst").path(2) == "/x-0002")
        let timed = ["20260101T000000Z", "20260101T000000Z-0002", "20260102T000000Z"].map { "tickertape-\($0).jsonl" }
        for name in timed + ["tickertape-20260102.jsonl"] { _ = try folder.write("", to: name) }
        let family = SegmentNames(first: "\(folder.path)/\(timed[2])").family()
        #expect(family.map(\.path) == timed.map { "\(folder.path)/\($0)" })
    }
}
