import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

@Suite("A recording with an unreadable file")
struct UnreadablePartTests {
    private static let start: Int64 = 1_767_225_600_000_000_000

    /// Returns one file of a run, with one frame.
    private static func part(_ place: Int, epoch: UInt64 = 1) -> String {
        let at = Int64(place - 1) * 1_000_000_000
        var header = MarketText.header()
        header.start = Self.start + at
        header.monotonic = at
        header.epoch = epoch
        header.segment = place
        header.first = UInt64(place)
        var text = ByteBuffer()
        RecordingSyntax.header(header, into: &text)
        RecordingSyntax.frame(
            ByteBuffer(string: #"{"data":[{"c":null,"p":1,"s":"A","t":\#(place),"v":1}],"type":"trade"}"#),
            RecordingSyntax.Stamp(number: UInt64(place), wall: Self.start + at, at: 0),
            numbers: RecordedNumbers(first: UInt64(place), count: 1),
            into: &text
        )
        return String(buffer: text)
    }

    private static let broken = part(2).replacing("{", with: "[", maxReplacements: 1)

    @Test(
        "names it, and leaves out the files behind it",
        arguments: [("first line", broken, true), ("another run", part(2, epoch: 7), false), ("empty", "", false)]
    )
    func reported(kind: String, second: String, isReported: Bool) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(Self.part(1), to: "a.jsonl")
        let next = try folder.write(second, to: "a-0002.jsonl")
        _ = try folder.write(Self.part(3), to: "a-0003.jsonl")
        let stream = try RecordingStream(path: path)
        #expect(stream.segments.map(\.path) == [path])
        let expected = isReported ? "\(next): its first line cannot be read" : nil
        #expect(stream.unreadable == expected, "\(kind)")
        let cut = try RecordingEdits.cut(path, RecordingEdits.Cut(), to: "\(folder.path)/cut.jsonl", form: .current)
        #expect(cut.unreadable == expected && cut.frames == 1)
    }

    @Test("names it also where a later run under the same name counts its own files")
    func laterRun() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        _ = try folder.write(Self.part(1), to: "a.jsonl")
        let path = try folder.write(Self.part(1, epoch: 2), to: "a-0002.jsonl")
        let next = try folder.write(Self.broken, to: "a-0003.jsonl")
        let stream = try RecordingStream(path: path)
        #expect(stream.segments.map(\.path) == [path])
        #expect(stream.unreadable == "\(next): its first line cannot be read")
    }

    @Test("is read to its end without a message where every file is whole")
    func whole() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let paths = try (1...3).map { try folder.write(Self.part($0), to: $0 == 1 ? "a.jsonl" : "a-000\($0).jsonl") }
        for (place, path) in paths.enumerated() {
            let stream = try RecordingStream(path: path)
            #expect(stream.segments.map(\.path) == Array(paths[place...]) && stream.unreadable == nil)
        }
    }
}
