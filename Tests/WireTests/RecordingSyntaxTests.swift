import CChecksum
import Market
import NIOCore
import Testing
import Wire

/// Version 2 of the recording's lines.
@Suite struct RecordingSyntaxTests {
    private static let frames = [
        #"{"data":[{"c":null,"p":61837.63,"s":"BINANCE:BTCUSDT","t":1723161255342,"v":0.02}],"type":"trade"}"#,
        "", "\u{1}\n\"\\é😀\u{1F}", #"{"type":"ping"}"#,
    ]

    private static var header: RecordingHeader {
        var header = RecordingHeader(
            program: "1.0",
            symbols: ["X\"Y"],
            start: 1_767_225_600_123_456_000,
            epoch: 1_767_225_600_123,
            source: "live"
        )
        header.address = "wss://ws.finnhub.io"
        header.monotonic = .max
        header.segment = 2
        header.previous = "a.jsonl"
        header.first = 1
        return header
    }

    private static let gap = Gap(
        from: 1_767_225_600_000_001_000,
        to: 1_767_225_601_000_000_000,
        reason: "lost",
        nextSequence: 7,
        epoch: 9,
        overlap: 0,
        overlapBounds: OverlapBounds(least: 0, most: 2),
        symbol: "A",
        missing: 3_735_684_463...UInt64.max
    )

    private static var notes: [RecordedNote] {
        var connect = RecordedNote(.connect, word: "wss://ws.finnhub.io")
        connect.reason = "new"
        var subscribe = RecordedNote(.subscribe, direction: .outgoing)
        subscribe.symbol = "A"
        subscribe.frame = ByteBuffer(string: #"{"type":"subscribe","symbol":"A"}"#)
        var state = RecordedNote(.state, word: "late")
        state.cause = "closed"
        var disconnect = RecordedNote(.disconnect)
        disconnect.code = 1006
        disconnect.reason = "gone"
        var mark = RecordedNote(.mark)
        mark.stops = GapMarkers(count: 3, lastTrade: -7)
        mark.wallClocks = WallClockMarks(latest: 1_767_225_600_123_456, back: 17)
        mark.offset = 4_096
        return [
            connect, subscribe, state, RecordedNote(.ping, direction: .incoming),
            RecordedNote(.pong, direction: .outgoing), disconnect, RecordedNote(.end, word: "b.jsonl"), mark,
            RecordedNote(.end),
        ]
    }

    private static func stamp(_ number: Int) -> RecordingSyntax.Stamp {
        RecordingSyntax.Stamp(
            number: UInt64(number),
            wall: 1_767_225_600_123_456_000 + Int64(number) * 1_000,
            at: Int64(number) * 7
        )
    }

    /// A file with every kind of line.
    private static let sample: ByteBuffer = {
        var text = ByteBuffer()
        RecordingSyntax.header(Self.header, into: &text)
        var number = 0
        for (index, frame) in Self.frames.enumerated() {
            number += 1
            let leftOut = index == 2 ? [0, 3] : []
            let numbers = RecordedNumbers(
                first: UInt64(index * 10),
                count: index,
                leftOut: leftOut,
                possibleRepeats: index == 3 ? [1, 2] : leftOut.map { $0 + 1 },
                ahead: index == 3 ? [0, 2] : [],
                filled: index == 3 ? [2] : []
            )
            RecordingSyntax.frame(
                ByteBuffer(string: frame),
                Self.stamp(number),
                numbers: index == 1 ? nil : numbers,
                into: &text
            )
        }
        RecordingSyntax.gap(Self.gap, Self.stamp(number + 1), into: &text)
        RecordingSyntax.gap(Self.gap, dropped: 12, Self.stamp(number + 2), into: &text)
        number += 2
        for note in Self.notes {
            number += 1
            RecordingSyntax.note(note, Self.stamp(number), into: &text)
        }
        return text
    }()

    private static let lineCount = 16

    private func lines(_ pieces: [ArraySlice<UInt8>]) -> [RecordedLine] {
        var reader = RecordingParser()
        var lines: [RecordedLine] = []
        for piece in pieces {
            reader.feed(ByteBuffer(bytes: piece))
            while let line = reader.nextLine() { lines.append(line) }
        }
        reader.finish()
        while let line = reader.nextLine() { lines.append(line) }
        return lines
    }

    private var bytes: [UInt8] { Array(Self.sample.readableBytesView) }

    @Test("what is written is read back, in every kind of line")
    func roundTrip() {
        let lines = self.lines([self.bytes[...]])
        #expect(lines.count == Self.lineCount)
        #expect(lines.first?.content == .header(Self.header))
        #expect(lines.compactMap(\.number) == (1...15).map { UInt64($0) })
        #expect(lines.compactMap(\.at) == (1...15).map { Int64($0) * 7 })
        #expect(lines.compactMap(\.wall) == (1...15).map { 1_767_225_600_123_456 + Int64($0) })
        let frames = lines.compactMap { line -> (String, RecordedNumbers?)? in
            guard case .frame(let bytes, let numbers, _) = line.content else { return nil }
            return (String(buffer: bytes), numbers)
        }
        #expect(frames.map(\.0) == Self.frames)
        #expect(
            frames.map(\.1) == [
                RecordedNumbers(first: 0, count: 0), nil,
                RecordedNumbers(first: 20, count: 2, leftOut: [0, 3], possibleRepeats: [1, 4]),
                RecordedNumbers(first: 30, count: 3, possibleRepeats: [1, 2], ahead: [0, 2], filled: [2]),
            ]
        )
        #expect(lines[5].content == .gap(Self.gap, dropped: nil))
        #expect(lines[6].content == .gap(Self.gap, dropped: 12))
        let notes = lines.compactMap { if case .note(let note) = $0.content { note } else { nil } }
        #expect(notes == Self.notes)
    }

    @Test("no number is larger than every reader of JSON holds exactly")
    func safeNumbers() {
        // Outside of strings, which may contain any digits.
        var digits = 0
        var isInString = false
        var isEscaped = false
        for byte in self.bytes {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
            } else if byte == UInt8(ascii: "\"") {
                isInString = true
            } else {
                digits = byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") ? digits + 1 : 0
                #expect(digits <= 16)
            }
        }
    }

    @Test("a time is rounded down to µs, whatever it is")
    func microseconds() {
        for (time, rounded) in [
            (0, 0), (999, 0), (1_000, 1), (-1, -1), (-1_000, -1), (-1_001, -2), (.max, .max / 1_000),
            (.min, .min / 1_000 - 1),
        ] as [(Int64, Int64)] {
            #expect(RecordingSyntax.microseconds(time) == rounded)
        }
    }

    @Test("is read the same in pieces of every size and at every cut")
    func splits() {
        let whole = self.lines([self.bytes[...]])
        for cut in 0...self.bytes.count {
            #expect(self.lines([self.bytes[..<cut], self.bytes[cut...]]) == whole, "cut at \(cut)")
        }
        for size in 1...40 {
            let pieces = stride(from: 0, to: self.bytes.count, by: size).map {
                self.bytes[$0..<min($0 + size, self.bytes.count)]
            }
            #expect(self.lines(pieces) == whole)
        }
    }

    @Test("a file torn at any byte has all whole lines, and names where the torn one begins")
    func torn() {
        let whole = self.lines([self.bytes[...]])
        for end in 0...self.bytes.count {
            let lines = self.lines([self.bytes[..<end]])
            let cut = self.bytes[..<end]
            let start = cut.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            let complete = cut.count(where: { $0 == UInt8(ascii: "\n") })
            #expect(Array(lines.prefix(complete)) == Array(whole.prefix(complete)))
            guard end > start else {
                #expect(lines.count == complete)
                continue
            }
            // A line that lacks only its line feed is complete.
            if end < self.bytes.count, self.bytes[end] == UInt8(ascii: "\n") {
                #expect(lines.last == whole[complete])
            } else {
                #expect(
                    lines.count == complete + 1 && lines.last?.content == .torn && lines.last?.offset == Int64(start)
                )
            }
        }
    }

    @Test("a flipped bit anywhere is damage, and costs no line but its own")
    func flips() {
        let whole = self.lines([self.bytes[...]])
        for place in self.bytes.indices {
            // Two bits of each byte; over eight bytes every bit has its turn.
            for bit in [place % 8, (place * 5 + 3) % 8] {
                var bytes = self.bytes
                bytes[place] ^= 1 << UInt8(bit)
                let lines = self.lines([bytes[...]])
                let good = lines.filter {
                    switch $0.content {
                    case .damaged, .torn, .unreadable: false
                    case .header, .frame, .gap, .note, .unknown: true
                    }
                }
                let isLastNewline = place == bytes.count - 1
                // A change that joins two lines costs both.
                let lost = self.bytes[place] == UInt8(ascii: "\n") && !isLastNewline ? 2 : 1
                // No remaining line differs from the original.
                let isTrue = good.allSatisfy { line in
                    whole.contains { $0.number == line.number && $0.content == line.content && $0.at == line.at }
                }
                if !isTrue || good.count != whole.count - lost || good.count >= lines.count {
                    Issue.record("bit \(bit) of byte \(place): \(good.count) of \(lines.count) lines")
                }
            }
        }
    }

    @Test("files of one recording, one behind the other, have one clock")
    func joined() {
        var text = ByteBuffer()
        for (segment, monotonic) in [(1, Int64(500)), (2, 2_500), (3, 2_000)] {
            var header = Self.header
            header.segment = segment
            header.monotonic = monotonic
            RecordingSyntax.header(header, into: &text)
            RecordingSyntax.frame(
                ByteBuffer(string: "x"),
                RecordingSyntax.Stamp(number: UInt64(segment), wall: 0, at: 10),
                into: &text
            )
        }
        let lines = self.lines([Array(text.readableBytesView)[...]])
        // The third segment starts before the second, which no clock does. It therefore follows the second.
        #expect(lines.compactMap(\.at) == [10, 2_010, 2_020])
    }

    @Test("a reader that begins inside a file reads the lines as one that began at its start")
    func inside() throws {
        let whole = self.lines([self.bytes[...]])
        for line in whole.dropFirst() {
            var reader = RecordingParser(header: Self.header, offset: line.offset)
            reader.feed(ByteBuffer(bytes: self.bytes[Int(line.offset)...]))
            reader.finish()
            let next = reader.nextLine()
            let found = try #require(next)
            #expect(found.offset == line.offset && found.content == line.content && found.at == line.at)
        }
    }

    @Test("lines of the plain form need no checksum")
    func plain() {
        var text = ByteBuffer()
        RecordingSyntax.plainFrame(ByteBuffer(string: Self.frames[0]), at: 259_781_699, into: &text)
        let lines = self.lines([Array(text.readableBytesView)[...]])
        #expect(lines.map(\.content) == [.frame(ByteBuffer(string: Self.frames[0]), nil, .finnhub)])
        #expect(lines.first?.wall == nil && lines.first?.at == 259_781_699)
    }
}

@Suite struct Checksum32CTests {
    /// RFC 3720, B.4, and the check value of the catalogue of parametrised CRC algorithms.
    private static let known: [(bytes: [UInt8], checksum: UInt32)] = [
        (Array(repeating: 0, count: 32), 0x8A91_36AA), (Array(repeating: 0xFF, count: 32), 0x62A8_AB43),
        (Array(0...31), 0x46DD_794E), (Array((0...31).reversed()), 0x113F_DB5C),
        (Array("123456789".utf8), 0xE306_9283), ([], 0),
    ]

    @Test("is CRC-32C, by the instruction and by tables", arguments: Checksum32CTests.known)
    func vectors(bytes: [UInt8], checksum: UInt32) {
        bytes.withUnsafeBytes {
            #expect(Checksum32C.of($0) == checksum)
            #expect(tickertape_crc32c_by_tables(0, $0.baseAddress, $0.count) == checksum)
        }
    }

    @Test("is the same by both ways for every length and place, and in parts")
    func ways() {
        let bytes = (0..<300).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 / 7) }
        bytes.withUnsafeBytes { all in
            for start in 0..<9 {
                for end in start...all.count {
                    let part = UnsafeRawBufferPointer(rebasing: all[start..<end])
                    let checksum = Checksum32C.of(part)
                    #expect(checksum == tickertape_crc32c_by_tables(0, part.baseAddress, part.count))
                    let middle = start + (end - start) / 3
                    let first = Checksum32C.of(UnsafeRawBufferPointer(rebasing: all[start..<middle]))
                    #expect(
                        checksum == Checksum32C.of(UnsafeRawBufferPointer(rebasing: all[middle..<end]), after: first)
                    )
                }
            }
        }
    }
}
