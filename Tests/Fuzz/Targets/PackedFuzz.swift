import Glibc
import NIOCore
import Recordings
import Wire

/// The rules for the reader of compressed recordings.
enum PackedFuzz {
    static let seeds: [[UInt8]] = {
        var folder = Array("/tmp/tickertape-fuzz-XXXXXX".utf8CString)
        guard mkdtemp(&folder) != nil else { preconditionFailure("no folder in /tmp") }
        let path = String(decoding: folder.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { rmdir(path) }
        let plain = "\(path)/a"
        let packed = "\(path)/b"
        defer {
            unlink(plain)
            unlink(packed)
        }
        guard let file = fopen(plain, "we") else { preconditionFailure("no file in \(path)") }
        RecordingFuzz.current.withUnsafeReadableBytes { _ = fwrite($0.baseAddress, 1, $0.count, file) }
        fclose(file)
        do {
            try PackedSegment.pack(plain, to: packed)
        } catch {
            preconditionFailure("\(error)")
        }
        let result = Self.bytes(of: packed)
        // Two concatenated files are a valid file, too.
        return [result, result + result, Array(RecordingFuzz.current.readableBytesView), Self.parts(of: result).index]
    }()

    // MARK: Indexes

    /// Splits a file with one text frame, an index, and a table of both into the frame and the index's text.
    private static func parts(of file: [UInt8]) -> (frame: ArraySlice<UInt8>, index: [UInt8]) {
        // The table has two entries of eight bytes and a footer of nine, after the magic number and the length.
        let table = file.count - 8 - 25
        let length = Self.word(file, at: table + 8)
        return (file[..<length], Array(file[length + 8..<table]))
    }

    private static func word(_ bytes: [UInt8], at place: Int) -> Int {
        (0..<4).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
    }

    private static func bytes(_ words: Int...) -> [UInt8] {
        words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
    }

    /// Returns the file with another index and a matching table, which no change of single bytes could produce.
    private static func file(withIndex index: [UInt8]) -> [UInt8] {
        let seed = Self.seeds[0]
        let frame = Self.parts(of: seed).frame
        let textLength = Self.word(seed, at: seed.count - 25 + 4)
        return Array(frame) + Self.bytes(0x184D_2A57, index.count) + index + Self.bytes(0x184D_2A5E, 25)
            + Self.bytes(frame.count, textLength, index.count + 8, 0, 2) + [0] + Self.bytes(0x8F92_EAB1)
    }

    private static func bytes(of path: String) -> [UInt8] {
        guard let file = fopen(path, "re") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes[..<count])
    }

    static func check(_ input: [UInt8]) throws(FuzzFinding) -> Bool {
        let isIndex = input.first == UInt8(ascii: "{") && input.dropFirst().starts(with: Array("\"index".utf8))
        guard isIndex else { return try Self.checkFile(input) }
        // All text is readable with any index.
        let isRead = try Self.checkFile(Self.file(withIndex: input))
        try FuzzFinding.require(isRead, "with this index no frame is read")
        return true
    }

    private static func checkFile(_ input: [UInt8]) throws(FuzzFinding) -> Bool {
        var name = Array("/tmp/tickertape-fuzz-XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw FuzzFinding("no file in /tmp") }
        defer { close(descriptor) }
        // An unlinked open file still has a path, and no run leaves a file behind.
        unlink(name)
        let count = input.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        try FuzzFinding.require(count == input.count, "\(count) of \(input.count) bytes are in the file")
        let path = "/proc/self/fd/\(descriptor)"
        let frames: Int
        do throws(RecordingFailure) {
            frames = try Self.read(path, size: input.count)
        } catch {
            // An error with a reason is a valid result.
            return false
        }
        try Self.search(path)
        return frames > 0
    }

    /// Reads the whole file; returns the number of frames.
    private static func read(_ path: String, size: Int) throws(RecordingFailure) -> Int {
        let bytes = try RecordingBytes(path: path)
        var produced = 0
        var reader = RecordingParser()
        var frames = 0
        while let part = try bytes.next() {
            guard case .text(let text) = part else { continue }
            produced += text.readableBytes
            // The tolerance exceeds the largest growth in one step.
            precondition(produced <= (size + 512) * 4_096 + (1 << 20), "\(produced) bytes of \(size)")
            reader.feed(text)
            while let line = reader.nextLine() { if case .frame = line.content { frames += 1 } }
        }
        reader.finish()
        while let line = reader.nextLine() { if case .frame = line.content { frames += 1 } }
        return frames
    }

    /// Searches for times and stops; a match must have the time that was searched for.
    private static func search(_ path: String) throws(FuzzFinding) {
        var finding: String?
        do throws(RecordingFailure) {
            let map = try RecordingMap(path: path)
            for at in [Int64.min, 0, 1_000, 2_500, .max] {
                if let place = try map.place(at: at), (place.at ?? .min) < at { finding = "\(place) for \(at)" }
            }
            _ = (try map.earlier(than: 1_767_225_600_000_000), try map.end(before: 1_767_225_600_000_000))
            _ = try RecordingStream(path: path).clear(from: 0, lastTrade: nil)
            _ = try map.last()
        } catch {}
        if let finding { throw FuzzFinding(finding) }
    }
}
