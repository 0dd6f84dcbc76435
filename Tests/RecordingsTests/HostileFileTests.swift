import Glibc
import Market
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

/// Broken and forged files. They cause an error or a count of damage, and everything read from them is correct.
@Suite("Hostile recordings")
struct HostileFileTests {
    private func write(_ bytes: [UInt8], _ path: String) throws {
        let file = try #require(fopen(path, "we"))
        defer { fclose(file) }
        #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
    }

    private func packed(_ folder: TemporaryFolder, _ text: ByteBuffer) throws -> [UInt8] {
        let plain = try folder.write(String(buffer: text), to: "plain")
        let path = "\(folder.path)/packed"
        try PackedSegment.pack(plain, to: path)
        return try Array(Data(path))
    }

    /// A file's bytes.
    private struct Data: Sequence {
        let bytes: [UInt8]

        init(_ path: String) throws {
            let file = try #require(fopen(path, "re"))
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 1 << 23)
            bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, file))
            self.bytes = bytes
        }

        func makeIterator() -> [UInt8].Iterator { self.bytes.makeIterator() }
    }

    private func lines(_ bytes: RecordingBytes, _ header: RecordingHeader?) throws -> [RecordedLine] {
        var reader = header.map { RecordingParser(header: $0, offset: 0) } ?? RecordingParser()
        var lines: [RecordedLine] = []
        while let part = try bytes.next() {
            if case .text(let text) = part { reader.feed(text) }
            while let line = reader.nextLine() { lines.append(line) }
        }
        reader.finish()
        while let line = reader.nextLine() { lines.append(line) }
        return lines
    }

    /// Reads and searches a file in every way, and compares the results with those of reading from the start.
    private func examine(_ path: String, _ comment: String) throws {
        let findings = try RecordingCheck.check(path)
        let all = try self.lines(try RecordingBytes(path: path), nil).filter { $0.number != nil && $0.at != nil }
        #expect(findings.lines >= all.count, "\(comment)")
        let map = try RecordingMap(path: path)
        for at in [0, 100_000_000, 1_000_000_000, 2_000_000_000, Int64.max] {
            let expected = all.first { ($0.at ?? 0) >= at }
            let place = try map.place(at: at)
            #expect(place?.at == expected?.at, "\(comment), at \(at)")
            guard let place, let expected else { continue }
            // The text continues from there.
            let rest = try self.lines(try map.bytes(from: place.offset), map.header ?? RecordingHeader())
            #expect(rest.first?.number == expected.number, "\(comment), from \(at)")
        }
        _ = try map.last()
    }

    @Test("are searched correctly with any one bit of the index or the table flipped")
    func directory() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let text = MarketText.make(frames: 3_000, gapEvery: 400)
        let whole = try self.packed(folder, text)
        let start = try #require(
            (0..<whole.count - 8).last { Array(whole[$0..<$0 + 4]) == [0x57, 0x2A, 0x4D, 0x18] }
        )
        let path = "\(folder.path)/turned"
        var chance = SeededGenerator(seed: 5)
        for _ in 0..<16 {
            var turned = whole
            let place = Int.random(in: start..<whole.count, using: &chance)
            turned[place] ^= 1 << UInt8(chance.next() % 8)
            try self.write(turned, path)
            try self.examine(path, "byte \(place - start) of the index and the table")
        }
    }

    @Test("are read and searched with any one bit flipped, and cut off anywhere, plain and compressed")
    func anywhere() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let text = MarketText.make(frames: 120, gapEvery: 25)
        let path = "\(folder.path)/turned"
        for whole in [Array(text.readableBytesView), try self.packed(folder, text)] {
            for place in stride(from: 0, to: whole.count, by: whole.count / 60 + 1) {
                var turned = whole
                turned[place] ^= 1 << UInt8(place % 8)
                try self.write(turned, path)
                try self.examine(path, "byte \(place) of \(whole.count)")
                try self.write(Array(whole[..<place]), path)
                try self.examine(path, "the first \(place) of \(whole.count)")
            }
        }
    }

    private static func little(_ number: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
    }

    /// Frames of a few bytes that claim to hold a tebibyte, with a window of that size, and with an allowed one.
    private static let claims: [[UInt8]] = {
        let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
        let block: [UInt8] = [0x19, 0, 0] + Array("abc".utf8)
        return [
            magic + [0xE0] + Self.little(1 << 40, 8) + block,
            magic + [0xC0, 0x68] + Self.little(1 << 40, 8) + block,
            magic + [0xC0, 0xF8] + Self.little(1 << 40, 8) + block,
            // A block of 1 MiB of one repeated byte, which exceeds the size of a block.
            magic + [0x00, 0x68] + Self.little(1 << 23 | 3, 3) + [0x61],
        ]
    }()

    @Test("that claim to hold a tebibyte are damage, and take no memory for it", arguments: 0..<4)
    func claims(number: Int) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/claim"
        try self.write(Self.claims[number], path)
        let read = try RecordingBytes(path: path).rest()
        #expect(read.text.readableBytes <= 4 && read.unreadable.count == 1)
        #expect(try RecordingMap(path: path).place(at: 0) == nil)
    }

    @Test("with false tables are read without them", arguments: 0..<7)
    func tables(number: Int) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let text = MarketText.make(frames: 40, gapEvery: 9)
        let whole = try self.packed(folder, text)
        // The size of two entries and the footer.
        let table = whole.count - 25
        var file = whole
        func put(_ value: UInt64, at place: Int) {
            file.replaceSubrange(place..<place + 4, with: Self.little(value, 4))
        }
        switch number {
        // The text length of the first frame: four gibibytes, and none.
        case 0: put(UInt64(UInt32.max), at: table + 4)
        case 1: put(0, at: table + 4)
        // The length of the first frame: four gibibytes; and none, with an unchanged sum.
        case 2: put(UInt64(UInt32.max), at: table)
        case 3:
            let first = UInt64(file[table]) | UInt64(file[table + 1]) << 8
            let second = UInt64(file[table + 8]) | UInt64(file[table + 9]) << 8
            put(0, at: table)
            put(first + second, at: table + 8)
        // The number of frames.
        case 4: put(UInt64(UInt32.max), at: whole.count - 9)
        case 5: put(1 << 28, at: whole.count - 9)
        // A table of frames without a byte.
        default:
            let count = 40_000
            file = Array(whole[..<(table - 8)])
            let entries =
                [UInt8](repeating: 0, count: count * 8 - 8) + Self.little(UInt64(file.count), 4) + Self.little(9, 4)
            file += Self.little(0x184D_2A5E, 4) + Self.little(UInt64(entries.count + 9), 4) + entries
            file += Self.little(UInt64(count), 4) + [0] + Self.little(0x8F92_EAB1, 4)
        }
        let path = "\(folder.path)/lie"
        try self.write(file, path)
        let map = try RecordingMap(path: path)
        #expect(map.index == nil && map.length == nil)
        try self.examine(path, "table \(number)")
        let read = try RecordingBytes(path: path).rest()
        #expect(read.text == text && read.unreadable.isEmpty)
    }
}
