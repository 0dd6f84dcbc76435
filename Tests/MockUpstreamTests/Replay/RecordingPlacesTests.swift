import Feeds
import Market
import MockUpstream
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

@Suite("Places in a recording")
struct RecordingPlacesTests {
    private static func recording(_ text: String, in folder: TemporaryFolder) throws -> RecordingFile {
        try RecordingFile(path: try folder.write(text, to: "a.jsonl"))
    }

    @Test("any time is found as by reading from the start, and in a long file by reading little of it")
    func seeks() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        // Clusters and silences, several frames with one time, 5 MB.
        var generator = SeededGenerator(seed: 3)
        var time = 0
        let lines = (0..<40_000).map { index -> ReplayRecording.Line in
            time += [0, 0, 1, 3, 900][Int.random(in: 0..<5, using: &generator)]
            return index % 7 == 0 ? .ping(at: time) : .trade(at: time, number: index)
        }
        let recording = try Self.recording(ReplayRecording.text(lines), in: folder)
        let span = try recording.span()
        #expect(
            span
                == RecordingSpan(start: ReplayRecording.start, bounds: span.bounds.lowerBound...Int64(time) * 1_000_000)
        )
        var all: [Int64] = []
        let whole = try recording.makeReader()
        while let frame = try whole.next() { all.append(frame.at) }
        let reader = try recording.makeReader()
        for _ in 0..<300 {
            let wanted = Int64.random(in: -1_000_000...(Int64(time) + 1) * 1_000_000, using: &generator)
            try reader.seek(to: wanted)
            let rest = try reader.next()?.at
            #expect(rest == all.first { $0 >= wanted })
        }
        let fresh = try recording.makeReader()
        try fresh.seek(to: Int64(time) * 500_000)
        _ = try fresh.next()
        #expect(fresh.bytesRead < whole.bytesRead / 2, "\(fresh.bytesRead) of \(whole.bytesRead) bytes")
    }

    @Test("torn ends, damage and lines of other kinds are stepped over, and a file of one line is found")
    func damaged() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var text = ReplayRecording.text((0..<2_000).map { .trade(at: $0 * 10, number: $0) })
        let middle = text.index(text.startIndex, offsetBy: text.count / 2)
        text.insert(contentsOf: "\n{broken\n{\"at\":1,\"other\":2}\n", at: middle)
        text.removeLast(20)
        let recording = try Self.recording(text, in: folder)
        #expect(try recording.span().bounds == 0...19_980_000_000)
        let reader = try recording.makeReader()
        for wanted in [0, 5_000, 10_005, 15_000, 19_980] as [Int64] {
            try reader.seek(to: wanted * 1_000_000)
            #expect(try #require(try reader.next()).at / 1_000_000 <= (wanted + 30) / 10 * 10)
        }
        try reader.seek(to: .max)
        #expect(try reader.next() == nil)
        let one = try Self.recording(ReplayRecording.text([.trade(at: 7, number: 1)]), in: folder)
        #expect(try one.span().bounds == 7_000_000...7_000_000)
    }

    @Test("the plain form's wall clock is that of its first trade")
    func plain() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var plain = ByteBuffer()
        RecordingSyntax.plainFrame(FinnhubEncoder.ping, at: 5_000_000, into: &plain)
        let frame = ByteBuffer(string: ReplayRecording.frame(at: 260, number: 1))
        RecordingSyntax.plainFrame(frame, at: 260_000_000, into: &plain)
        let recording = try Self.recording(String(buffer: plain), in: folder)
        #expect(try recording.span().start == ReplayRecording.start)
    }

    @Test("a part of the longest recording that a file can tell of is a place")
    func longest() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let recording = try Self.recording(ReplayRecording.text([.trade(at: 0, number: 0)]), in: folder)
        let span = RecordingSpan(start: 0, bounds: 0...(.max))
        #expect(try recording.bounds(from: .percent(100), to: nil, in: span) == .max...(.max))
        #expect(try recording.bounds(from: .percent(50), to: nil, in: span).lowerBound > 1 << 61)
        #expect(ReplayPlace.part(.infinity, of: 1_000) == 1_000 && ReplayPlace.part(-1, of: .max) == 0)
        #expect(ReplayPlace.part(98.5, of: 1_000) == 985)
    }
}
