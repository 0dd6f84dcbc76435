import Glibc
import Market
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

@Suite("The check of a recording")
struct CheckTests {
    private func check(_ text: ByteBuffer) throws -> RecordingFindings {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        return try RecordingCheck.check(try folder.write(String(buffer: text), to: "a.jsonl"))
    }

    private func bytes(_ text: ByteBuffer) -> [UInt8] { Array(text.readableBytesView) }

    @Test("finds nothing wrong with what the recorder writes, and counts it")
    func whole() throws {
        let found = try self.check(MarketText.make(frames: 2_000, gapEvery: 500))
        #expect(found.isIntact && found.isEnded && found.tornAt == nil)
        #expect(found.lines == 2_002 && found.frames == 1_996 && found.holeCount == 4)
        #expect(found.events == ["end": 1] && found.lastNumber == 2_001)
        #expect(found.firstWall.map { $0 / 1_000_000 } == 1_767_225_600)
        #expect((found.trades ?? 0) > 8_000 && found.longestSilence.map { $0.nanoseconds > 0 } == true)
    }

    @Test("counts a clock that was set back, and not a frame that follows an event of its read")
    func wallClocks() throws {
        /// The wall clock and the time of each line, ms since the start.
        func found(_ lines: [(wall: Int64, at: Int64)]) throws -> Int {
            let header = MarketText.header()
            let start = try #require(header.start)
            var text = ByteBuffer()
            RecordingSyntax.header(header, into: &text)
            for (place, line) in lines.enumerated() {
                RecordingSyntax.frame(
                    ByteBuffer(string: "{}"),
                    RecordingSyntax.Stamp(
                        number: UInt64(place + 1),
                        wall: start + line.wall * 1_000_000,
                        at: line.at * 1_000_000
                    ),
                    into: &text
                )
            }
            return try self.check(text).wallsBack
        }
        #expect(try found([(5, 5), (12, 12), (10, 12), (20, 20)]) == 0)
        #expect(try found([(5, 5), (1, 6), (2, 7)]) == 1)
        // Set back while the time stands still.
        #expect(try found([(1_000, 1_000), (100, 1_000), (101, 1_001), (102, 1_002)]) == 1)
    }

    @Test("reports a torn end with its place, and not as damage")
    func torn() throws {
        let text = MarketText.make(frames: 20, hasEnd: false)
        let bytes = self.bytes(text)
        let last = (bytes.dropLast().lastIndex(of: 0x0A) ?? 0) + 1
        for end in stride(from: last + 1, to: bytes.count - 1, by: 7) {
            let found = try self.check(ByteBuffer(bytes: bytes[..<end]))
            #expect(found.isIntact && found.tornAt == Int64(last) && found.frames == 19 && !found.isEnded)
        }
    }

    @Test("finds a flipped bit in any line, with its place and the number of lines lost")
    func flipped() throws {
        let whole = self.bytes(MarketText.make(frames: 30))
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var chance = SeededGenerator(seed: 11)
        for _ in 0..<400 {
            var bytes = whole
            let place = Int(chance.next() % UInt64(bytes.count - 1))
            bytes[place] ^= 1 << UInt8(chance.next() % 8)
            var check = RecordingCheck()
            var reader = RecordingParser()
            reader.leavesTextOut = true
            reader.feed(ByteBuffer(bytes: bytes))
            reader.finish()
            while let line = reader.nextLine() { check.take(line) }
            let found = check.findings
            let damage = try #require(found.damage.first, "byte \(place)")
            #expect(!found.isIntact && found.damage.count == 1)
            #expect(damage.offset <= Int64(place) && Int64(place) <= damage.offset + damage.length)
            // The header has no number, and no line follows the end.
            let start = whole[..<place].lastIndex(of: 0x0A) ?? 0
            if start > 0, place < whole.count - 200 { #expect((1...2).contains(found.missingLines), "byte \(place)") }
        }
    }

    @Test("counts missing, duplicate and misplaced lines")
    func order() throws {
        let text = self.bytes(MarketText.make(frames: 10))
        let lines = text.split(separator: 0x0A).map { $0 + [0x0A] }
        func check(_ lines: [ArraySlice<UInt8>.SubSequence]) throws -> RecordingFindings {
            try self.check(ByteBuffer(bytes: lines.joined()))
        }
        let missing = try check(Array(lines[..<4] + lines[6...]).map { $0[...] })
        #expect(missing.missingLines == 2 && missing.duplicateLines == 0 && !missing.isIntact)
        let twice = try check(Array(lines[..<4] + lines[3...]).map { $0[...] })
        #expect(twice.duplicateLines == 1 && twice.missingLines == 0 && twice.repeatedFrames == 1 && !twice.isIntact)
        let swapped = try check(Array(lines[..<4] + [lines[5], lines[4]] + lines[6...]).map { $0[...] })
        #expect(swapped.timesBack == 1 && swapped.duplicateLines == 1 && !swapped.isIntact)
    }

    @Test(
        "reports a flipped bit in the index or table of a compressed file, and a cut-off end"
    )
    func packed() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(String(buffer: MarketText.make(frames: 3_000)), to: "a.jsonl")
        let packed = path + ".zst"
        try PackedSegment.pack(path, to: packed)
        #expect(try RecordingCheck.check(packed).isIntact)
        let descriptor = open(packed, O_RDWR)
        defer { close(descriptor) }
        let size = Int(lseek(descriptor, 0, SEEK_END))
        var whole = [UInt8](repeating: 0, count: size)
        try #require(pread(descriptor, &whole, size, 0) == size)
        let index = try #require((0..<size - 8).last { Array(whole[$0..<$0 + 4]) == [0x57, 0x2A, 0x4D, 0x18] })
        // The beginnings and middles of both, and the last byte.
        for place in [index + 8, index + 30, index + 120, size - 30, size - 17, size - 9, size - 5, size - 1] {
            var byte = whole[place] ^ 4
            try #require(pwrite(descriptor, &byte, 1, off_t(place)) == 1)
            let found = try RecordingCheck.check(packed)
            #expect(!found.isIntact && found.indexFault != nil, "byte \(place - index) of the index")
            #expect(found.damagedLines == 0 && found.frames == 3_000)
            try #require(pwrite(descriptor, &whole[place], 1, off_t(place)) == 1)
        }
        #expect(try RecordingCheck.check(packed).isIntact)
        try #require(ftruncate(descriptor, off_t(size / 2)) == 0)
        let cut = try RecordingCheck.check(packed)
        #expect(!cut.isIntact && cut.tornAt == nil && cut.packedDamage.map(\.isTail) == [true])
    }

    @Test("checks the plain form by the rules that apply to it")
    func plain() throws {
        var text = ByteBuffer()
        for number in 0..<10 {
            RecordingSyntax.plainFrame(ByteBuffer(string: "x"), at: Int64(number) * 1_000_000, into: &text)
        }
        let found = try self.check(text)
        #expect(found.isIntact && found.frames == 10 && found.header == nil)
        #expect(found.firstAt == 0 && found.lastAt == 9_000_000 && found.firstWall == nil)
        text.writeString("broken\n{\"at\":1,\"frame\":\"y\"}\n{\"at\":")
        let broken = try self.check(text)
        #expect(broken.damagedLines == 1 && broken.timesBack == 1 && broken.tornAt != nil && !broken.isIntact)
    }

    @Test("every reader refuses a recording of another version, and says what to do")
    func otherVersions() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let line = #"{"at":1,"frame":"x"}"# + "\n"
        let versions = [
            (#"{"tickertape":1,"symbols":["A"],"start":1}"# + "\n", "`tail -n +2` makes the plain form of it"),
            ((#"{"tickertape":4,"symbols":["A"],"wall":1}"# + "\n").sealed, "a newer tickertape is needed"),
        ]
        for (number, (header, hint)) in versions.enumerated() {
            let path = try folder.write(header + line, to: "\(number).jsonl")
            let target = "\(path)-new"
            let readings: [() throws -> Void] = [
                { _ = try RecordingCheck.check(path) }, { _ = try RecordingMap(path: path) },
                { _ = try RecordingStream(path: path) },
                { _ = try RecordingEdits.repair(path, to: target, form: .current) },
                { _ = try RecordingEdits.cut(path, RecordingEdits.Cut(), to: target, form: .plain) },
                { _ = try RecordingEdits.merge([path], to: target, form: .current) },
            ]
            for read in readings {
                let failure = #expect(throws: RecordingFailure.self) { try read() }
                let text = failure.map { "\($0)" } ?? ""
                #expect(text.hasPrefix("\(path) is a recording of version ") && text.contains(hint), "\(text)")
            }
        }
        #expect(SegmentNames.names(in: folder.path).filter { $0.contains("json") }.sorted() == ["0.jsonl", "1.jsonl"])
        // The remedy that the first message names.
        let plain = try folder.write(line, to: "plain.jsonl")
        #expect(try RecordingCheck.check(plain).frames == 1)
    }

    @Test("reports a header of another version within a file as damage")
    func otherVersionBehind() throws {
        var text = MarketText.make(frames: 5)
        text.writeString(#"{"tickertape":1,"symbols":["A"],"start":1}"# + "\n")
        let found = try self.check(text)
        #expect(found.damagedLines == 1 && found.frames == 5 && found.header?.version == 2)
    }
}

@Suite("Edits of recordings")
struct EditTests {
    private func lines(_ path: String) throws -> [RecordedLine] {
        let stream = try RecordingStream(path: path)
        var lines: [RecordedLine] = []
        while let line = try stream.next() { lines.append(line) }
        return lines
    }

    private func frames(_ lines: [RecordedLine]) -> [String] {
        lines.compactMap { if case .frame(let bytes, _, _) = $0.content { String(buffer: bytes) } else { nil } }
    }

    @Test("a repaired recording is intact, has every whole line, and reports the losses")
    func repair() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let whole = Array(MarketText.make(frames: 200, hasEnd: false).readableBytesView)
        var bytes = whole
        bytes[bytes.count / 3] ^= 4
        bytes.removeLast(10)
        let path = try folder.write(String(decoding: bytes, as: UTF8.self), to: "a.jsonl")
        let target = "\(folder.path)/b.jsonl"
        let result = try RecordingEdits.repair(path, to: target, form: .current)
        #expect(result.damagedLines == 1 && result.frames == 198)
        let found = try RecordingCheck.check(target)
        #expect(found.isIntact && found.frames == 198 && found.isEnded && found.holeCount == 1)
        #expect(found.holes.first?.dropped == 1)
        let before = Set(self.frames(try self.lines(path)))
        #expect(Set(self.frames(try self.lines(target))) == before)
        // Neither the original nor an existing target is changed.
        #expect(try folder.read("a.jsonl") == String(decoding: bytes, as: UTF8.self))
        #expect(throws: RecordingFailure.self) { try RecordingEdits.repair(path, to: path, form: .current) }
    }

    @Test("a cut has the events of its time and symbols, with its own clock, and can be plain")
    func cut() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(String(buffer: MarketText.make(frames: 3_000)), to: "a.jsonl")
        let all = try self.lines(path)
        let start = try #require(MarketText.header().start)
        var cut = RecordingEdits.Cut()
        cut.from = start + 5_000_000_000
        cut.to = start + 9_000_000_000
        let expected = all.filter { line in
            guard let wall = line.wall, case .frame = line.content else { return false }
            return wall >= (start + 5_000_000_000) / 1_000 && wall < (start + 9_000_000_000) / 1_000
        }
        #expect(expected.count > 100)
        let target = "\(folder.path)/b.jsonl"
        _ = try RecordingEdits.cut(path, cut, to: target, form: .current)
        let got = try self.lines(target).filter { if case .frame = $0.content { true } else { false } }
        #expect(got.map(\.content) == expected.map(\.content) && got.map(\.wall) == expected.map(\.wall))
        // The wall clock has a resolution of 1 µs.
        let shifts = Set(zip(expected, got).map { ($0.at ?? 0) - ($1.at ?? 0) })
        #expect(shifts.count == 1 && shifts.allSatisfy { abs($0 - 5_000_000_000) < 1_000 })
        #expect(try RecordingCheck.check(target).isIntact)

        cut = RecordingEdits.Cut()
        cut.symbols = ["AAPL"]
        _ = try RecordingEdits.cut(path, cut, to: "\(folder.path)/c.jsonl", form: .plain)
        let apples = try self.lines("\(folder.path)/c.jsonl")
        let wanted = self.frames(all).filter { $0.contains("AAPL") }
        #expect(self.frames(apples) == wanted && wanted.count > 10 && apples.count == wanted.count)
        #expect(try folder.read("c.jsonl").hasPrefix(#"{"at":"#))
    }

    @Test("a line behind a later one is out of order, and not missing")
    func swapped() throws {
        var lines = String(buffer: MarketText.make(frames: 60)).split(separator: "\n")
        lines.swapAt(30, 31)
        lines.remove(at: 40)
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(lines.joined(separator: "\n") + "\n", to: "a.jsonl")
        let found = try RecordingCheck.check(path)
        #expect(found.missingLines == 1 && found.duplicateLines == 1 && !found.isIntact)
        let stream = try RecordingStream(path: path, followsSegments: false)
        var losses = RecordingLosses()
        var missing: UInt64 = 0
        while let line = try stream.next() { missing += losses.take(line, wall: nil)?.lines ?? 0 }
        #expect(missing == 2 && losses.returned == 1)
    }

    @Test("merged recordings are in order of time, with shared lines once")
    func merge() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let text = String(buffer: MarketText.make(frames: 300))
        let lines = text.split(separator: "\n").map(String.init)
        let one = try folder.write(lines[..<200].joined(separator: "\n") + "\n", to: "a.jsonl")
        let two = try folder.write(([lines[0]] + lines[150...]).joined(separator: "\n") + "\n", to: "b.jsonl")
        let target = "\(folder.path)/c.jsonl"
        let result = try RecordingEdits.merge([two, one], to: target, form: .current)
        #expect(result.duplicates == 50 && result.frames == 300)
        #expect(
            self.frames(try self.lines(target)) == self.frames(try self.lines(try folder.write(text, to: "d.jsonl")))
        )
        let found = try RecordingCheck.check(target)
        #expect(found.isIntact && found.trades != nil && found.header?.epoch == MarketText.header().epoch)

        // A number of another run has another meaning.
        let start = try #require(MarketText.header().start)
        var old = RecordingBuffer(RecordingHeader(symbols: ["X"], start: start + 1_000_000, epoch: 5))
        for place in 0..<50 {
            old.frame(
                ByteBuffer(string: "old \(place)"),
                at: Int64(place) * 30_000_000,
                numbers: RecordedNumbers(first: UInt64(place + 1), count: 1)
            )
        }
        let third = try folder.write(String(buffer: old.bytes), to: "e.jsonl")
        _ = try RecordingEdits.merge([one, third], to: "\(folder.path)/f.jsonl", form: .current)
        let both = try RecordingCheck.check("\(folder.path)/f.jsonl")
        #expect(both.isIntact && both.frames == 249 && both.trades == nil && both.wallsBack == 0)
        #expect(both.header?.symbols == MarketText.symbols + ["X"] && both.header?.epoch == nil)
        let plain = try folder.write(#"{"at":1,"frame":"x"}"#, to: "g.jsonl")
        #expect(throws: RecordingFailure.self) {
            try RecordingEdits.merge([one, plain], to: "\(folder.path)/h.jsonl", form: .current)
        }
    }
}
