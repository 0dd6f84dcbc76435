import Market
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire
@testable import Feeds
@testable import MockUpstream

/// Symbols of a recording beyond those in its header: they were added while it was recorded.
@Suite("A recording's later symbols")
struct LaterSymbolTests {
    private func text(frames: Int, later: [String], every: Int = 1) -> ByteBuffer {
        var header = RecordingHeader(symbols: ["A"], start: ReplayRecording.start, epoch: 5, source: "live")
        header.first = 1
        var text = ByteBuffer()
        RecordingSyntax.header(header, into: &text)
        for index in 0..<frames {
            let stamp = RecordingSyntax.Stamp(
                number: UInt64(index + 1),
                wall: ReplayRecording.start + Int64(index) * 1_000_000,
                at: Int64(index) * 1_000_000
            )
            if index == frames / 2, let symbol = later.last {
                var note = RecordedNote(.subscribe, direction: .outgoing)
                note.symbol = symbol
                RecordingSyntax.note(note, stamp, into: &text)
                continue
            }
            let isLater = index >= frames / 2 && index % every == 0 && !later.isEmpty
            let symbol = isLater ? later[0] : "A"
            let trade = #"{"c":null,"p":1,"s":"\#(symbol)","t":1767225600000,"v":1}"#
            RecordingSyntax.frame(ByteBuffer(string: #"{"data":[\#(trade)],"type":"trade"}"#), stamp, into: &text)
        }
        return text
    }

    @Test("are found in a short file and in an index, with certainty; another one is not in it")
    func certain() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(String(buffer: self.text(frames: 2_000, later: ["B", "C"])), to: "a.jsonl")
        let file = try RecordingFile(path: path)
        // One was subscribed to, the other one trades.
        #expect(file.symbols == ["A", "C", "B"] && file.allSymbols == ["A", "B", "C"])
        try PackedSegment.pack(path, to: "\(path).zst")
        try folder.delete("a.jsonl")
        let packed = try RecordingFile(path: path)
        #expect(packed.symbols == ["A", "B"] && packed.allSymbols == ["A", "B"])
    }

    @Test("of a long file those that trade often are found, and no other is refused")
    func long() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let text = self.text(frames: 40_000, later: ["B"], every: 50)
        #expect(text.readableBytes > 4 << 20)
        let file = try RecordingFile(path: try folder.write(String(buffer: text), to: "a.jsonl"))
        #expect(file.symbols == ["A", "B"] && file.allSymbols == nil)
        // A symbol that may be in the recording can be subscribed to.
        var session = FinnhubMockSession(MockSessionOpening(known: file.allSymbols))
        #expect(session.requested(.subscribe("RARE")) == .none)
    }

    @Test("of files that follow are found in each of them")
    func files() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var recording = SegmentedRecording(in: folder)
        try recording.write(from: 0, SegmentedRecording.trades(0..<10))
        var subscribe = RecordedNote(.subscribe, direction: .outgoing)
        subscribe.symbol = "Z"
        try recording.write(from: 2_000, [.note(subscribe, at: 0)] + SegmentedRecording.trades(10..<20))
        let file = try RecordingFile(path: recording.names.path(1))
        #expect(file.symbols == ["A", "Z"] && file.allSymbols == ["A", "Z"])
    }
}
