import Glibc
import Market
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

/// A recording of version 2 in several files, written by a test, with times in ms.
struct SegmentedRecording {
    enum Line {
        case trade(at: Int, number: Int)
        /// Any frame.
        case frame(String, at: Int)
        /// A frame without a message, of random text that does not compress.
        case noise(at: Int, bytes: Int)
        case note(RecordedNote, at: Int)
        case gap(Gap, at: Int)
        case damage
    }

    let names: SegmentNames
    let folder: TemporaryFolder
    private var number: UInt64 = 0
    private var segment = 0
    private var chance = SeededGenerator(seed: 7)

    init(in folder: TemporaryFolder, _ name: String = "a.jsonl") {
        self.folder = folder
        self.names = SegmentNames(first: "\(folder.path)/\(name)")
    }

    /// Writes the next file.
    ///
    /// - Parameters:
    ///   - start: the beginning of the file, ms since the recording's start; the lines' times count from there.
    ///   - place: the number in its name, if it is not the next one.
    mutating func write(
        from start: Int,
        _ lines: [Line],
        place: Int? = nil,
        epoch: UInt64 = 5,
        isPacked: Bool = false
    ) throws {
        self.segment += 1
        var header = RecordingHeader(symbols: ["A"], epoch: epoch, source: "live")
        header.start = ReplayRecording.start + Int64(start) * 1_000_000
        header.monotonic = 77_000 + Int64(start) * 1_000_000
        header.segment = self.segment
        header.first = self.number + 1
        var text = ByteBuffer()
        RecordingSyntax.header(header, into: &text)
        for line in lines { self.write(line, from: start, into: &text) }
        let name = self.names.name(place ?? self.segment)
        let path = try self.folder.write(String(buffer: text), to: name)
        guard isPacked else { return }
        try PackedSegment.pack(path, to: "\(path).zst")
        try self.folder.delete(name)
    }

    private mutating func write(_ line: Line, from start: Int, into text: inout ByteBuffer) {
        self.number += 1
        func stamp(_ at: Int) -> RecordingSyntax.Stamp {
            RecordingSyntax.Stamp(
                number: self.number,
                wall: ReplayRecording.start + Int64(start + at) * 1_000_000,
                at: Int64(at) * 1_000_000
            )
        }
        switch line {
        case .trade(let at, let number):
            let frame = ReplayRecording.frame(at: start + at, number: number)
            RecordingSyntax.frame(ByteBuffer(string: frame), stamp(at), into: &text)
        case .frame(let frame, let at): RecordingSyntax.frame(ByteBuffer(string: frame), stamp(at), into: &text)
        case .noise(let at, let bytes):
            // Digits and upper-case letters, which JSON does not escape.
            var frame = ByteBuffer()
            while frame.readableBytes < bytes {
                frame.writeInteger(self.chance.next() & 0x1F1F_1F1F_1F1F_1F1F | 0x3030_3030_3030_3030)
            }
            RecordingSyntax.frame(frame, stamp(at), into: &text)
        case .gap(let gap, let at): RecordingSyntax.gap(gap, stamp(at), into: &text)
        case .note(let note, let at):
            RecordingSyntax.note(note, stamp(at), into: &text)
        case .damage:
            text.writeString("{\"n\":\(self.number),\"wall\":1,\"mono\":1,\"crc\":\"00000000\"}\n")
        }
    }

    /// Returns trades with these numbers, 100 ms apart.
    static func trades(_ numbers: Range<Int>) -> [Line] {
        numbers.map { .trade(at: ($0 - numbers.lowerBound) * 100, number: $0) }
    }
}

extension TemporaryFolder {
    /// Removes an existing file.
    func delete(_ name: String) throws { try #require(unlink("\(self.path)/\(name)") == 0) }

    /// Damages one byte of a file.
    func flip(byte offset: Int, of name: String) throws {
        let descriptor = open("\(self.path)/\(name)", O_RDWR)
        defer { close(descriptor) }
        var byte: UInt8 = 0
        try #require(pread(descriptor, &byte, 1, off_t(offset)) == 1)
        byte ^= 0xFF
        try #require(pwrite(descriptor, &byte, 1, off_t(offset)) == 1)
    }
}
