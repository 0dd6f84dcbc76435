import Glibc
import Market
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

@Suite("Losses in repaired, cut and merged recordings")
struct EditLossTests {
    private func lines(_ path: String) throws -> [RecordedLine] {
        let stream = try RecordingStream(path: path, followsSegments: false)
        var lines: [RecordedLine] = []
        while let line = try stream.next() { lines.append(line) }
        return lines
    }

    private func frames(_ path: String) throws -> [String] {
        try self.lines(path).compactMap {
            if case .frame(let bytes, _, _) = $0.content { String(buffer: bytes) } else { nil }
        }
    }

    /// Returns the gaps and dropped lines, and the wall clocks (µs) of the lines before and behind each.
    private func holes(_ path: String) throws -> [(gap: Gap, dropped: UInt64?, before: Int64?, behind: Int64?)] {
        let lines = try self.lines(path)
        return lines.indices.compactMap { place in
            guard case .gap(let gap, let dropped) = lines[place].content else { return nil }
            let behind = place + 1 < lines.count ? lines[place + 1].wall : nil
            return (gap, dropped, lines[place - 1].wall, behind)
        }
    }

    private func write(_ lines: some Sequence<Substring>, _ folder: TemporaryFolder, _ name: String) throws -> String {
        try folder.write(lines.joined(separator: "\n") + "\n", to: name)
    }

    private func cut(_ path: String, from: Int64?, to: Int64?, _ target: String) throws {
        var cut = RecordingEdits.Cut()
        cut.from = from
        cut.to = to
        _ = try RecordingEdits.cut(path, cut, to: target, form: .current)
    }

    @Test(
        "the merged halves of a recording equal the whole, with their lines numbered anew and the overlap written once"
    )
    func halves() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(String(buffer: MarketText.make(frames: 2_000, gapEvery: 300)), to: "a.jsonl")
        let start = try #require(MarketText.header().start)
        let (one, two) = ("\(folder.path)/1", "\(folder.path)/2")
        for overlap in [0, 3_000_000_000] as [Int64] {
            try self.cut(path, from: nil, to: start + 9_000_000_000 + overlap, one + "-\(overlap)")
            try self.cut(path, from: start + 9_000_000_000, to: nil, two + "-\(overlap)")
            let target = "\(folder.path)/whole-\(overlap)"
            let result = try RecordingEdits.merge(
                [two + "-\(overlap)", one + "-\(overlap)"],
                to: target,
                form: .current
            )
            #expect(try self.frames(target) == self.frames(path), "overlapping by \(overlap)")
            let shared = try self.lines(one + "-\(overlap)").filter { line in
                guard let wall = line.wall, wall >= (start + 9_000_000_000) / 1_000 else { return false }
                switch line.content {
                case .frame, .gap: return true
                case .header, .note, .unknown, .damaged, .torn, .unreadable: return false
                }
            }
            #expect(result.duplicates == shared.count && (overlap > 0) == (shared.count > 100), "\(result)")
            #expect(result.losses == 0, "\(result)")
            #expect(try self.holes(target).map(\.gap) == self.holes(path).map(\.gap))
            let found = try RecordingCheck.check(target)
            let trades = try RecordingCheck.check(path).trades
            #expect(found.isIntact && found.trades == trades)
        }
    }

    @Test("repair, cut and merge report missing lines with their number at their place")
    func missing() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let lines = String(buffer: MarketText.make(frames: 1_000)).split(separator: "\n")
        let path = try self.write(lines[..<300] + lines[700...], folder, "a.jsonl")
        func made(_ name: String, _ make: (String) throws -> RecordingEdits.Result) throws {
            let target = "\(folder.path)/\(name)"
            let result = try make(target)
            let holes = try self.holes(target)
            #expect(result.losses == 1 && holes.count == 1 && holes.first?.dropped == 400, "\(name): \(holes)")
            let hole = try #require(holes.first)
            #expect(hole.gap.from / 1_000 == hole.before && hole.gap.to / 1_000 == hole.behind, "\(name): \(hole)")
            #expect(hole.gap.reason == "400 lines are missing in the recording")
            #expect(try RecordingCheck.check(target).isIntact)
        }
        try made("repaired") { try RecordingEdits.repair(path, to: $0, form: .current) }
        try made("cut") { try RecordingEdits.cut(path, RecordingEdits.Cut(), to: $0, form: .current) }
        try made("merged") { try RecordingEdits.merge([path], to: $0, form: .current) }
        // Lines that another copy has are neither missing nor reported.
        let other = try self.write(lines[..<1] + lines[200...], folder, "b.jsonl")
        let both = try RecordingEdits.merge([path, other], to: "\(folder.path)/both", form: .current)
        #expect(both.losses == 0 && both.frames == 1_000, "\(both)")
        #expect(try self.holes("\(folder.path)/both").isEmpty)
        // Lines that both lack are missing.
        let third = try self.write(lines[..<650] + lines[660...], folder, "c.jsonl")
        let fourth = try self.write(lines[..<640] + lines[670...], folder, "d.jsonl")
        let poor = try RecordingEdits.merge([third, fourth], to: "\(folder.path)/poor", form: .current)
        #expect(poor.frames == 990 && poor.losses == 1, "\(poor)")
        let hole = try #require(try self.holes("\(folder.path)/poor").first)
        #expect(hole.gap.from / 1_000 <= hole.before ?? 0 && hole.gap.to / 1_000 >= hole.behind ?? .max)
    }

    @Test("a garbled line that cost nothing is left out, and no loss is reported")
    func garbage() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let lines = String(buffer: MarketText.make(frames: 50)).split(separator: "\n")
        let path = try self.write(lines[..<20] + ["nonsense"] + lines[20...], folder, "a.jsonl")
        let result = try RecordingEdits.repair(path, to: "\(folder.path)/b.jsonl", form: .current)
        #expect(result.damagedLines == 1 && result.losses == 0 && result.frames == 50)
    }

    @Test("a damaged part of a compressed file is reported with its lines, and so is a cut-off end")
    func packed() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let text = MarketText.make(frames: 9_000)
        let path = try folder.write(String(buffer: text), to: "a.jsonl")
        try PackedSegment.pack(path, to: path + ".zst")
        let all = try self.lines(path)
        let size = try RecordingBytes(path: path + ".zst").size
        // The start of the second frame, without which it is not a frame.
        let second = try self.starts(of: path + ".zst")[1]
        try self.flip(path + ".zst", at: second)
        let found = try RecordingCheck.check(path + ".zst")
        #expect(found.missingLines > 500 && !found.isIntact)
        for name in ["repaired", "cut", "merged"] {
            let target = "\(folder.path)/\(name)"
            let result =
                switch name {
                case "repaired": try RecordingEdits.repair(path + ".zst", to: target, form: .current)
                case "cut": try RecordingEdits.cut(path + ".zst", RecordingEdits.Cut(), to: target, form: .current)
                default: try RecordingEdits.merge([path + ".zst"], to: target, form: .current)
                }
            let hole = try #require(try self.holes(target).first)
            #expect(result.losses == 1 && hole.dropped == found.missingLines, "\(name): \(result), \(hole)")
            #expect(hole.gap.reason == "a part of the compressed file could not be read")
            #expect(hole.gap.from / 1_000 == hole.before && hole.gap.to / 1_000 == hole.behind)
            #expect(result.frames + Int(found.missingLines) == all.count - 2)
        }
        try self.flip(path + ".zst", at: second)
        #expect(truncate(path + ".zst", off_t(size * 2 / 3)) == 0)
        let result = try RecordingEdits.repair(path + ".zst", to: "\(folder.path)/short", form: .current)
        let hole = try #require(try self.holes("\(folder.path)/short").last)
        #expect(result.losses == 1 && hole.dropped == nil && hole.gap.reason == "the compressed file is cut off here")
    }

    /// Returns the offsets of a compressed file's frames.
    private func starts(of path: String) throws -> [Int64] {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Int(lseek(descriptor, 0, SEEK_END)))
        try #require(pread(descriptor, &bytes, bytes.count, 0) == bytes.count)
        return (0..<bytes.count - 4).filter {
            bytes[$0] == 0x28 && Array(bytes[$0..<$0 + 4]) == [0x28, 0xB5, 0x2F, 0xFD]
        }
        .map(Int64.init)
    }

    private func flip(_ path: String, at place: Int64) throws {
        let descriptor = open(path, O_RDWR)
        defer { close(descriptor) }
        var byte: UInt8 = 0
        try #require(pread(descriptor, &byte, 1, off_t(place)) == 1)
        byte ^= 1
        try #require(pwrite(descriptor, &byte, 1, off_t(place)) == 1)
    }

    /// Writes four files of one run with continuous numbers.
    private func segments(_ folder: TemporaryFolder) throws -> [String] {
        let lines = String(buffer: MarketText.make(frames: 2_000)).split(separator: "\n")
        return try (0..<4).map { place in
            var header = MarketText.header(segment: place + 1)
            header.first = UInt64(place * 500 + 1)
            let wall = try #require(RunningProgram.number(in: String(lines[place * 500 + 1]), behind: #""wall":"#))
            header.start = Int64(wall) * 1_000
            header.previous = place == 0 ? nil : place == 1 ? "s.jsonl" : "s-000\(place).jsonl"
            var text = ByteBuffer()
            RecordingSyntax.header(header, into: &text)
            let own = lines[place * 500 + 1..<(place == 3 ? lines.count : place * 500 + 501)]
            text.writeString(own.joined(separator: "\n") + "\n")
            return try folder.write(String(buffer: text), to: place == 0 ? "s.jsonl" : "s-000\(place + 1).jsonl")
        }
    }

    @Test("consecutive files of a run are merged without a gap; a missing file leaves one")
    func files() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let paths = try self.segments(folder)
        let all = try RecordingEdits.merge(paths.reversed(), to: "\(folder.path)/all", form: .current)
        #expect(all.frames == 2_000 && all.losses == 0 && all.duplicates == 0, "\(all)")
        let some = try RecordingEdits.merge([paths[0], paths[2], paths[3]], to: "\(folder.path)/some", form: .current)
        #expect(some.frames == 1_500 && some.losses == 1, "\(some)")
        let hole = try #require(try self.holes("\(folder.path)/some").first)
        #expect(hole.gap.symbol == nil && hole.gap.nextSequence > 0 && hole.gap.epoch == MarketText.header().epoch)
        #expect(hole.gap.from / 1_000 == hole.before && hole.gap.to / 1_000 == hole.behind)
        #expect(hole.gap.reason == "what the recording had here is in none of the merged files")
    }

    @Test("a cut continues in the following files, and one without any line makes no file")
    func cutsOverFiles() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let paths = try self.segments(folder)
        let start = try #require(MarketText.header().start)
        let all = try paths.flatMap { try self.lines($0) }.filter {
            if case .frame = $0.content { true } else { false }
        }
        var cut = RecordingEdits.Cut()
        cut.from = start + 3_000_000_000
        cut.to = start + 17_000_000_000
        let result = try RecordingEdits.cut(paths[0], cut, to: "\(folder.path)/c", form: .current)
        let wanted = all.filter { $0.wall.map { $0 * 1_000 >= cut.from ?? 0 && $0 * 1_000 < cut.to ?? 0 } ?? false }
        #expect(result.files == 4 && result.losses == 0 && wanted.count > 1_000, "\(result)")
        let got = try self.lines("\(folder.path)/c").filter { if case .frame = $0.content { true } else { false } }
        #expect(got.map(\.content) == wanted.map(\.content) && got.map(\.wall) == wanted.map(\.wall))
        cut.from = start + 900_000_000_000
        cut.to = nil
        #expect(throws: RecordingFailure.self) {
            try RecordingEdits.cut(paths[0], cut, to: "\(folder.path)/none", form: .current)
        }
        #expect(access("\(folder.path)/none", F_OK) != 0)
    }

    @Test("between two runs there is a gap, which marks the bars on both sides; symbols that continue have none")
    func runs() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let start: Int64 = 1_767_225_600_000_000_000
        func record(_ name: String, epoch: UInt64, symbol: String, _ seconds: ClosedRange<Int64>) throws -> String {
            var header = MarketText.header()
            header.start = start + seconds.lowerBound * 1_000_000_000
            header.epoch = epoch
            header.symbols = [symbol]
            var text = ByteBuffer()
            RecordingSyntax.header(header, into: &text)
            for (index, tenth) in stride(from: seconds.lowerBound * 10, through: seconds.upperBound * 10, by: 1)
                .enumerated()
            {
                let time = start + tenth * 100_000_000
                let trade = #"{"c":null,"p":1,"s":"\#(symbol)","t":\#(time / 1_000_000),"v":1}"#
                RecordingSyntax.frame(
                    ByteBuffer(string: #"{"data":[\#(trade)],"type":"trade"}"#),
                    RecordingSyntax.Stamp(
                        number: UInt64(index + 1),
                        wall: time,
                        at: (tenth - seconds.lowerBound * 10) * 100_000_000
                    ),
                    numbers: RecordedNumbers(first: UInt64(index + 1), count: 1),
                    into: &text
                )
            }
            return try folder.write(String(buffer: text), to: name)
        }
        let one = try record("1", epoch: 1, symbol: "A", 0...5)
        let two = try record("2", epoch: 2, symbol: "A", 9...15)
        let result = try RecordingEdits.merge([one, two], to: "\(folder.path)/m", form: .current)
        let hole = try #require(try self.holes("\(folder.path)/m").first)
        #expect(result.losses == 1 && hole.gap.reason == "one recording ends here, and another begins")
        #expect(hole.gap.from == start + 5_000_000_000 && hole.gap.to == start + 9_000_000_000)
        var order = RecordingExport.Order(format: .csv, bars: .second)
        order.symbols = ["A"]
        var export = RecordingExport(order)
        var reader = RecordingParser()
        reader.feed(ByteBuffer(string: try folder.read("m")))
        reader.finish()
        while let line = reader.nextLine() { export.take(line) }
        export.finish()
        let bars = String(buffer: export.takeText()).split(separator: "\n").dropFirst()
        func bar(_ second: Int64) -> Substring? {
            bars.first { $0.contains(",\(start / 1_000_000 + second * 1_000),") }
        }
        #expect(bar(5)?.hasSuffix(",true,0") == true && bar(9)?.hasSuffix(",true,0") == true, "\(bars)")
        #expect(bar(1)?.hasSuffix(",false,0") == true && bar(11)?.hasSuffix(",false,0") == true, "\(bars)")

        // Another symbol continues meanwhile: only the first symbol's trades are missing.
        let other = try record("3", epoch: 3, symbol: "B", 0...16)
        _ = try RecordingEdits.merge([other, one, two], to: "\(folder.path)/n", form: .current)
        let holes = try self.holes("\(folder.path)/n")
        #expect(holes.map(\.gap.symbol) == ["A", "A"] && holes.first?.gap.to == start + 9_000_000_000, "\(holes)")
        // No trades are missing while another recording of the same symbol continues.
        let copy = try record("4", epoch: 4, symbol: "A", 3...12)
        let none = try RecordingEdits.merge([one, two, copy], to: "\(folder.path)/o", form: .current)
        #expect(none.losses == 0, "\(none)")
    }
}
