import Foundation
import Market
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire
@testable import History

@Suite("Recorded trades of the past", .timeLimit(.minutes(2 * Patience.factor)))
struct RecordedPastTests {
    private static let start: Int64 = 1_795_239_000_000_000_000

    /// Writes a recording of two symbols in turn, a frame a second; returns its index entry.
    private func record(
        _ folder: TemporaryFolder,
        _ name: String,
        epoch: UInt64,
        after seconds: Int64,
        frames: Int,
        isPacked: Bool = false
    ) throws -> HistoryBatch.Segment {
        let start = Self.start + seconds * 1_000_000_000
        var recording = RecordingBuffer(
            RecordingHeader(symbols: ["A", "B"], start: start, epoch: epoch, source: "live")
        )
        for index in 0..<frames {
            let trades = ["A", "B"].map { symbol in
                #"{"c":null,"p":\#(index + 1),"s":"\#(symbol)","t":\#(start / 1_000_000 + Int64(index) * 1_000),"v":1}"#
            }
            recording.frame(
                ByteBuffer(string: #"{"data":[\#(trades.joined(separator: ","))],"type":"trade"}"#),
                at: Int64(index) * 1_000_000_000,
                numbers: RecordedNumbers(first: UInt64(index) * 2 + 1, count: 2)
            )
            if index % 3 == 0 {
                recording.frame(ByteBuffer(string: #"{"type":"ping"}"#), at: Int64(index) * 1_000_000_000)
            }
        }
        let path = try folder.write(String(buffer: recording.bytes), to: name)
        if isPacked {
            try PackedSegment.pack(path, to: "\(path).zst")
            try FileManager.default.removeItem(atPath: path)
        }
        return HistoryBatch.Segment(
            path: path,
            epoch: epoch,
            sequences: 1..<UInt64(frames) * 2 + 1,
            firstTime: start,
            lastTime: start + Int64(frames - 1) * 1_000_000_000
        )
    }

    private func find(_ query: PastTradesQuery, in segments: [HistoryBatch.Segment]) -> [String] {
        // The default limit is for waiting people; a busy machine or a sanitizer takes longer.
        var limits = RecordedPast.Limits()
        limits.time = 60_000_000_000 * Int64(Patience.factor)
        var past = RecordedPast(symbol: "B", query: query, limits: limits)
        let found = past.find(in: segments)
        #expect(found.isComplete)
        return found.items.map { "\($0.place) \($0.trade.price)" }
    }

    @Test(
        "trades before a position are found in its file and in earlier ones, compressed or not",
        arguments: [(10, false), (20_000, false), (10, true), (20_000, true)]
    )
    func before(frames: Int, isPacked: Bool) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let segments = [
            try self.record(folder, "1.jsonl", epoch: 5, after: 0, frames: frames, isPacked: isPacked),
            try self.record(folder, "2.jsonl", epoch: 9, after: 100_000, frames: frames),
        ]
        func before(_ epoch: UInt64, _ sequence: UInt64, _ limit: Int) -> [String] {
            let place = TapePosition(epoch: epoch, sequence: sequence)
            return self.find(PastTradesQuery(before: place, limit: limit), in: segments)
        }
        #expect(before(9, 7, 2) == ["9:4 2", "9:6 3"])
        #expect(before(9, 8, 2) == ["9:4 2", "9:6 3"])
        let last = UInt64(frames) * 2
        #expect(before(9, 4, 3) == ["5:\(last - 2) \(frames - 1)", "5:\(last) \(frames)", "9:2 1"])
        #expect(before(9, 1, 1) == ["5:\(last) \(frames)"])
        #expect(before(5, 1, 5) == [])
        #expect(before(99, 1, 1) == ["9:\(last) \(frames)"])
        #expect(before(9, last, 9_999).count == min(9_999, frames * 2 - 1))
    }

    @Test("trades that were cut into a second file appear once, and in order")
    func copies() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let whole = try self.record(folder, "1.jsonl", epoch: 5, after: 0, frames: 300)
        let later = try self.record(folder, "2.jsonl", epoch: 9, after: 100_000, frames: 20)
        var cut = RecordingEdits.Cut()
        cut.from = Self.start + 100 * 1_000_000_000
        cut.to = Self.start + 200 * 1_000_000_000
        let target = "\(folder.path)/0-cut.jsonl"
        _ = try RecordingEdits.cut(whole.path, cut, to: target, form: .current)
        let scanned = RecordingFolder.scan(folder.path, source: "live", known: [])
        #expect(scanned.map(\.path) == [whole.path, target, later.path])
        func find(_ query: PastTradesQuery) -> [String] { self.find(query, in: scanned) }
        let all = self.find(PastTradesQuery(limit: 9_999), in: [whole, later])
        #expect(all.count == 320 && find(PastTradesQuery(limit: 9_999)) == all)
        #expect(find(PastTradesQuery(from: Self.start, limit: 9_999)) == all)
        #expect(find(PastTradesQuery(from: Self.start, limit: 150)) == Array(all.prefix(150)))
        #expect(find(PastTradesQuery(from: Self.start + 150_000_000_000, limit: 7)) == Array(all[150..<157]))
        let before = TapePosition(epoch: 5, sequence: 301)
        #expect(find(PastTradesQuery(before: before, limit: 80)) == Array(all[70..<150]))
    }

    @Test("files that no longer exist are found, compressed or not; those of other folders are ignored")
    func gone() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        func segment(_ path: String) -> HistoryBatch.Segment {
            HistoryBatch.Segment(path: path, epoch: 1, sequences: nil, firstTime: 1, lastTime: 2)
        }
        _ = try folder.write("", to: "plain.jsonl")
        _ = try folder.write("", to: "packed.jsonl.zst")
        let known = ["plain.jsonl", "packed.jsonl", "gone.jsonl", "elsewhere/gone.jsonl"].map {
            segment("\(folder.path)/\($0)")
        }
        #expect(RecordingFolder.gone(from: folder.path, known: known) == ["\(folder.path)/gone.jsonl"])
        #expect(RecordingFolder.gone(from: "\(folder.path)/elsewhere", known: known) == [])
    }

    @Test("a symbol that trades rarely is found by the index, within limits that the whole file exceeds")
    func rare() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var recording = RecordingBuffer(
            RecordingHeader(symbols: ["A", "B"], start: Self.start, epoch: 5, source: "live")
        )
        let frames = 60_000
        for index in 0..<frames {
            let symbol = [10, 30_000].contains(index) ? "B" : "A"
            recording.frame(
                ByteBuffer(string: #"{"data":[{"c":null,"p":1,"s":"\#(symbol)","t":1,"v":1}],"type":"trade"}"#),
                at: Int64(index) * 1_000_000,
                numbers: RecordedNumbers(first: UInt64(index + 1), count: 1)
            )
        }
        let path = try folder.write(String(buffer: recording.bytes), to: "a.jsonl")
        try PackedSegment.pack(path, to: "\(path).zst")
        try FileManager.default.removeItem(atPath: path)
        let segments = RecordingFolder.scan(folder.path, source: "live", known: [])
        var limits = RecordedPast.Limits()
        limits.bytes = 3 << 20
        limits.time = 60_000_000_000 * Int64(Patience.factor)
        for query in [PastTradesQuery(limit: 10), PastTradesQuery(from: Self.start, limit: 10)] {
            var past = RecordedPast(symbol: "B", query: query, limits: limits)
            let found = past.find(in: segments)
            #expect(found.isComplete && found.items.map(\.place.sequence) == [11, 30_001])
            var none = RecordedPast(symbol: "NONE", query: query, limits: limits)
            #expect(none.find(in: segments) == PastTrades())
        }
    }

    @Test(
        "trades of a period of arrivals are found",
        arguments: [(10, false), (20_000, false), (10, true), (20_000, true)]
    )
    func spans(frames: Int, isPacked: Bool) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let segments = [
            try self.record(folder, "1.jsonl", epoch: 5, after: 0, frames: frames, isPacked: isPacked),
            try self.record(folder, "2.jsonl", epoch: 9, after: 100_000, frames: frames),
        ]
        func span(_ from: Int64?, _ to: Int64?, _ limit: Int) -> [String] {
            self.find(
                PastTradesQuery(
                    from: from.map { Self.start + $0 * 1_000_000_000 },
                    to: to.map { Self.start + $0 * 1_000_000_000 },
                    limit: limit
                ),
                in: segments
            )
        }
        #expect(span(3, 5, 99) == ["5:8 4", "5:10 5"])
        #expect(span(3, nil, 1) == ["5:8 4"])
        #expect(span(nil, 2, 99) == ["5:2 1", "5:4 2"])
        #expect(span(Int64(frames) - 1, 100_001, 99) == ["5:\(frames * 2) \(frames)", "9:2 1"])
        #expect(span(200_000_000, nil, 99) == [])
        #expect(span(-10, nil, 1) == ["5:2 1"])
    }

    @Test("a search has a limit, and says when it was reached")
    func limits() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let segment = try self.record(folder, "1.jsonl", epoch: 5, after: 0, frames: 40_000)
        var limits = RecordedPast.Limits()
        limits.bytes = RecordedPast.windowBytes
        var past = RecordedPast(
            symbol: "NONE",
            query: PastTradesQuery(before: TapePosition(epoch: 9, sequence: 1), limit: 1),
            limits: limits
        )
        #expect(past.find(in: [segment]) == PastTrades(items: [], isComplete: false))
        #expect(try (FileManager.default.attributesOfItem(atPath: segment.path)[.size] as? Int64 ?? 0) > limits.bytes)
    }

    @Test("a file that is missing, torn or invalid is skipped")
    func damaged() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let good = try self.record(folder, "1.jsonl", epoch: 5, after: 0, frames: 10)
        var torn = try self.record(folder, "2.jsonl", epoch: 6, after: 100, frames: 9)
        let text = try folder.read("2.jsonl")
        torn.path = try folder.write(String(text.dropLast(20)), to: "3.jsonl")
        var gone = torn
        gone.path = "\(folder.path)/none.jsonl"
        var nonsense = torn
        nonsense.path = try folder.write("nonsense\n", to: "4.jsonl")
        let query = PastTradesQuery(before: TapePosition(epoch: 9, sequence: 1), limit: 2)
        #expect(self.find(query, in: [good, nonsense, gone, torn]) == ["6:14 7", "6:16 8"])
    }

    @Test("new recordings enter the index")
    func scan() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        _ = try self.record(folder, "1.jsonl", epoch: 5, after: 0, frames: 10)
        _ = try folder.write("nonsense", to: "2.jsonl")
        let found = RecordingFolder.scan(folder.path, source: "live", known: [])
        #expect(found.map(\.epoch) == [5] && found[0].firstTime == Self.start)
        #expect(RecordingFolder.scan(folder.path, source: "live", known: found).isEmpty)
        #expect(RecordingFolder.scan(folder.path, source: "demo", known: []).isEmpty)
    }

    @Test(
        "a compressed file keeps its name in the index, and a damaged part of it costs only that part"
    )
    func packed() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let segment = try self.record(folder, "1.jsonl", epoch: 5, after: 0, frames: 20_000, isPacked: true)
        let found = RecordingFolder.scan(folder.path, source: "live", known: [])
        #expect(found.map(\.path) == [segment.path])
        #expect(RecordingFolder.scan(folder.path, source: "live", known: found).isEmpty)
        #expect(RecordingMap.ofHistory(segment.path)?.entry(path: segment.path) == segment)
        func newest() throws -> [String] {
            self.find(PastTradesQuery(before: TapePosition(epoch: 9, sequence: 1), limit: 20_000), in: [segment])
        }
        #expect(try newest().count == 20_000)
        let file = try #require(FileHandle(forUpdatingAtPath: "\(segment.path).zst"))
        let size = try file.seekToEnd()
        try file.seek(toOffset: size / 2)
        try file.write(contentsOf: Data(repeating: 0xFF, count: 64))
        try file.close()
        let rest = try newest()
        #expect(rest.first == "5:2 1" && rest.last == "5:40000 20000")
        #expect(rest.count > 5_000 && rest.count < 20_000, "\(rest.count)")
    }

    @Test("a complete file enters the index at once and exactly, and the next one begins at its end")
    func completed() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let segment = try self.record(folder, "1.jsonl", epoch: 5, after: 0, frames: 10)
        var limits = HistoryRecorder.Limits()
        limits.pause = 0.01
        let recorder = try HistoryRecorder(
            path: "\(folder.path)/h.sqlite",
            limits: limits,
            recording: { segment.path },
            wallClock: { Self.start },
            notify: { _ in }
        )
        let next = "\(folder.path)/1-0002.jsonl"
        recorder.completed([segment.path], newest: next)
        let end = ContinuousClock.now + .seconds(30) * Patience.factor
        while recorder.report.commits == 0 {
            try #require(ContinuousClock.now < end, "it never came")
            try await Task.sleep(for: .milliseconds(5))
        }
        let found = try await recorder.ask { try $0.segments() }
        var begun = segment
        begun.path = next
        begun.sequences = 21..<21
        begun.firstTime = segment.lastTime
        #expect(found == [segment, begun])
        _ = await recorder.finish()
    }
}
