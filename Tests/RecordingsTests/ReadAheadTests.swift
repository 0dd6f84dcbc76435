import Glibc
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

@Suite("Decompressing ahead of the reader", .serialized)
struct ReadAheadTests {
    private struct Read: Equatable {
        var text = ByteBuffer()
        var damage: [RecordedLine.UnreadablePart] = []
        /// The length of the text before each damage, and the final error.
        var places: [Int] = []
        var failure: String?
    }

    private func read(_ path: String, ahead: Bool) throws -> Read {
        let bytes = try RecordingBytes(path: path)
        if ahead { try bytes.readAhead() }
        var read = Read()
        do {
            while let part = try bytes.next() {
                switch part {
                case .text(let chunk): read.text.writeImmutableBuffer(chunk)
                case .unreadable(let part):
                    read.damage.append(part)
                    read.places.append(read.text.readableBytes)
                }
            }
            #expect(try bytes.next() == nil)
        } catch {
            read.failure = "\(error)"
        }
        return read
    }

    private func packed(_ folder: TemporaryFolder) throws -> [UInt8] {
        let path = try folder.write(String(buffer: MarketText.make(frames: 30_000)), to: "a.jsonl")
        try PackedSegment.pack(path, to: "\(path).zst")
        return ForgetfulDisk.content(of: "\(path).zst")
    }

    private func write(_ bytes: [UInt8], _ path: String) throws {
        let file = try #require(fopen(path, "we"))
        defer { fclose(file) }
        #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
    }

    @Test("returns the same text and reports the same damage at the same place, whole, damaged and cut off")
    func equal() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let whole = try self.packed(folder)
        var files = [whole, Array(whole.dropLast(whole.count / 3)), []]
        for place in [0, 5, whole.count / 3, whole.count / 2] {
            var damaged = whole
            damaged[place] ^= 0x40
            files.append(damaged)
        }
        let path = "\(folder.path)/b"
        for (number, file) in files.enumerated() {
            try self.write(file, path)
            let one = try self.read(path, ahead: false)
            #expect(try self.read(path, ahead: true) == one, "file \(number)")
            #expect(number != 0 || one.text.readableBytes > 5 << 20)
            #expect(number < 3 || one.text.readableBytes > 0 || one.damage.isEmpty == false)
        }
    }

    @Test("an excessive expansion is refused in the same words")
    func bomb() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try #require(access("/usr/bin/zstd", X_OK) == 0, "scripts/setup --tests installs zstd")
        let path = "\(folder.path)/bomb.zst"
        let shell = try RunningProgram("/bin/sh", ["-c", "head -c 200000000 /dev/zero | zstd -q -19 > '\(path)'"])
        #expect(await shell.ending() == .exit(0))
        let failures = try [false, true].map { ahead in
            let bytes = try RecordingBytes(path: path)
            if ahead { try bytes.readAhead() }
            return #expect(throws: RecordingFailure.self) {
                while let part = try bytes.next() { if case .text(let text) = part { #expect(text.readableBytes > 0) } }
            }
        }
        #expect(failures[0]?.description == failures[1]?.description)
    }

    private static var threads: Int {
        SegmentNames.names(in: "/proc/self/task").count
    }

    @Test("a reader that stops early leaves no thread behind")
    func stops() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        _ = try self.packed(folder)
        let before = Self.threads
        for reads in 0..<40 {
            let bytes = try RecordingBytes(path: "\(folder.path)/a.jsonl.zst")
            try bytes.readAhead()
            for _ in 0..<reads % 4 { #expect(try bytes.next() != nil) }
        }
        // Other tests may start or end threads meanwhile, but not forty of them.
        let end = ContinuousClock.now + .seconds(30) * Patience.factor
        while Self.threads >= before + 20, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
        #expect(Self.threads < before + 20)
    }
}
