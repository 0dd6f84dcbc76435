import Glibc
import Market
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

@Suite("A recording's map")
struct MapTests {
    /// Writes the text as an uncompressed and as a compressed file.
    private func files(_ folder: TemporaryFolder, _ text: ByteBuffer) throws -> [String] {
        let path = try folder.write(String(buffer: text), to: "b.jsonl")
        try PackedSegment.pack(path, to: path + ".zst")
        #expect(unlink(path) == 0)
        return [try folder.write(String(buffer: text), to: "a.jsonl"), path + ".zst"]
    }

    private func lines(_ text: ByteBuffer) -> [RecordedLine] {
        var reader = RecordingParser()
        reader.feed(text)
        reader.finish()
        var lines: [RecordedLine] = []
        while let line = reader.nextLine() { lines.append(line) }
        return lines
    }

    @Test("a file may have any time, as a broken clock or an archive leaves it")
    func oddTimes() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write("{}\n", to: "a.jsonl")
        for seconds in [10_413_792_000, -10_413_792_000] {
            let times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
            // A file system with a smaller range of times may cut this one.
            guard utimensat(AT_FDCWD, path, times, 0) == 0 else { continue }
            let found = try #require(SegmentNames(first: path).all().first)
            #expect(found.changed.magnitude < .max / 2 && (found.changed < 0) == (seconds < 0))
        }
    }

    @Test("finds every time at its first line, compressed or not")
    func times() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let text = MarketText.make(frames: 6_000)
        let lines = self.lines(text)
        let last = try #require(lines.last?.at)
        for path in try self.files(folder, text) {
            let map = try RecordingMap(path: path)
            #expect(map.header == MarketText.header())
            #expect(map.length == Int64(text.readableBytes))
            #expect(try map.last()?.at == last)
            var chance = SeededGenerator(seed: 3)
            for round in 0..<60 {
                let at = round == 0 ? 0 : round == 1 ? last : Int64(chance.next() % UInt64(last))
                let expected = try #require(lines.first { ($0.at ?? .min) >= at })
                let place = try #require(try map.place(at: at))
                #expect(place == RecordingPlace(offset: expected.offset, at: expected.at))
                let wall = (MarketText.header().start ?? 0) / 1_000 + at / 1_000
                let byWall = try #require(lines.first { ($0.wall ?? .min) >= wall })
                let earlier = try map.earlier(than: wall)
                let passed = lines.last { $0.offset < earlier.offset }
                #expect(earlier.offset <= byWall.offset && earlier.latest == passed?.wall && !earlier.isAll)
                #expect(earlier.number == passed?.number.map { $0 + 1 })
                #expect(!(map.index != nil) || byWall.offset - earlier.offset < 2 << 20)
                let end = try map.end(before: wall)
                #expect(!lines.contains { $0.offset >= end && ($0.wall ?? .max) <= wall })
                // The text read from there begins with that line.
                var reader = RecordingParser(header: MarketText.header(), offset: place.offset)
                let bytes = try map.bytes(from: place.offset)
                var line: RecordedLine?
                // A chunk may end inside the line.
                while line == nil, case .text(let chunk)? = try bytes.next() {
                    reader.feed(chunk)
                    line = reader.nextLine()
                }
                #expect(line?.offset == expected.offset && line?.content == expected.content)
            }
            #expect(try map.place(at: last + 1) == nil)
            #expect(
                try map.earlier(than: .max).isAll == (map.index != nil)
                    && map.end(before: 0) == ((map.index != nil) ? 0 : .max)
            )
        }
    }

    @Test("knows the blocks in which a symbol trades")
    func blocks() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let text = MarketText.make(frames: 6_000, gapEvery: 1_500)
        _ = try self.files(folder, text)
        let index = try #require(try RecordingMap(path: "\(folder.path)/b.jsonl.zst").index)
        #expect(index.blocks.count > 2)
        #expect(Set(index.symbols) == Set(MarketText.symbols))
        let packed = try RecordingMap(path: "\(folder.path)/b.jsonl.zst")
        let length = try #require(packed.length)
        let all = 0..<length
        #expect(packed.span(of: "BINANCE:BTCUSDT", from: 0, atMost: .max) == all)
        #expect(packed.span(of: "BINANCE:BTCUSDT", before: length, atMost: .max) == all)
        // The symbol trades in the last tenth only.
        let apples = try #require(packed.span(of: "AAPL", from: 0, atMost: .max))
        #expect(apples.lowerBound > 0 && apples.upperBound == length)
        #expect(packed.span(of: "AAPL", before: length, atMost: .max) == apples)
        #expect(packed.span(of: "AAPL", before: apples.lowerBound, atMost: .max) == nil)
        #expect(packed.span(of: "none", from: 0, atMost: .max) == nil)
        let block = try #require(packed.span(of: "BINANCE:BTCUSDT", from: 10, atMost: 1))
        #expect(block.lowerBound == 10 && block.upperBound == Int64(index.blocks[0].length))
        let plain = try RecordingMap(path: "\(folder.path)/a.jsonl")
        #expect(plain.span(of: "none", from: 10, atMost: 5) == 10..<15)
        #expect(plain.span(of: "none", before: 10, atMost: 50) == 0..<10)
        #expect(index.blocks.reduce(0) { $0 + $1.lines } == self.lines(text).count)
    }

    @Test("knows the plain form and files without any line", arguments: ["", "\n\n", "nonsense"])
    func others(text: String) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        for path in try self.files(folder, ByteBuffer(string: text)) {
            let map = try RecordingMap(path: path)
            #expect(map.header == nil)
            #expect(try map.place(at: 0) == nil)
            #expect(try map.last() == nil)
        }
        var plain = ByteBuffer()
        for number in 0..<20_000 {
            RecordingSyntax.plainFrame(ByteBuffer(string: "x"), at: Int64(number) * 10, into: &plain)
        }
        let path = try folder.write(String(buffer: plain), to: "c.jsonl")
        #expect(try RecordingMap(path: path).place(at: 123_455)?.at == 123_460)
    }

    @Test("a recording of several files is read, and searched, as one")
    func stream() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let names = SegmentNames(first: "\(folder.path)/a.jsonl")
        var frames = 0
        for segment in 1...4 {
            var header = MarketText.header(segment: segment)
            header.monotonic = Int64(segment) * 1_000_000
            header.first = UInt64(frames + 1)
            var text = ByteBuffer()
            RecordingSyntax.header(header, into: &text)
            for place in 0..<100 {
                frames += 1
                let stamp = RecordingSyntax.Stamp(number: UInt64(frames), wall: 0, at: Int64(place) * 1_000)
                RecordingSyntax.frame(ByteBuffer(string: "\(frames)"), stamp, into: &text)
            }
            if segment == 3 {
                let stamp = RecordingSyntax.Stamp(number: UInt64(frames + 1), wall: 0, at: 100_000)
                RecordingSyntax.gap(Gap(from: 0, to: 0, reason: "r", nextSequence: 0), stamp, into: &text)
            }
            _ = try folder.write(String(buffer: text), to: names.name(segment))
        }
        #expect(SegmentUpkeep(names).pack() == [])
        _ = try folder.write(try folder.read("a.jsonl.zst"), to: "other.jsonl")
        func text(_ line: RecordedLine?) -> String? {
            guard case .frame(let bytes, _, _)? = line?.content else { return nil }
            return String(buffer: bytes)
        }
        let stream = try RecordingStream(path: names.path(1) + ".zst")
        #expect(stream.segments.map(\.shift) == [0, 1_000_000, 2_000_000, 3_000_000])
        var seen: [String] = []
        while let line = try stream.next() { if let text = text(line) { seen.append(text) } }
        #expect(seen == (1...400).map { "\($0)" })
        #expect(try stream.last { _ in true } == 3_099_000)
        try stream.seek(at: 1_050_000)
        let found = try #require(try stream.next())
        #expect(found.at == 1_050_000 && text(found) == "151")
        // A time between two files belongs to the next one's beginning.
        try stream.seek(at: 1_500_000)
        let second = try stream.next()
        #expect(text(second) == "201")
        try stream.seek(at: .max)
        #expect(try stream.next() == nil)
        try stream.seek(at: 0)
        let first = try stream.next()
        #expect(text(first) == "1")
        // From a file in the middle, only that one and those behind it are left.
        #expect(try RecordingStream(path: names.path(3) + ".zst").segments.count == 2)
        #expect(try RecordingStream(path: names.path(1) + ".zst", followsSegments: false).segments.count == 1)
    }
}
