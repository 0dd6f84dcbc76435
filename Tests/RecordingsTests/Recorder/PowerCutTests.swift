import Market
import NIOConcurrencyHelpers
import NIOCore
import Recordings
import Testing
import Wire

/// Power cuts at moments chosen by a seed, on a disk that keeps the synced bytes and any part of the rest.
@Suite("The recorder and power cuts")
struct PowerCutTests {
    private static let millisecond: Int64 = 1_000_000
    private static let start: Int64 = 1_767_225_600_000_000_000

    /// The recorded frames at the power cut, and the files on the disk after it.
    private struct Cut {
        /// The arrivals, ns since the start; the frame at index 0 has the number 1 on the tape.
        var arrivals: [Int64] = []
        var now: Int64 = 0
        var names: [String] = []
        var files: [String: [UInt8]] = [:]
        var synced: [String: Int] = [:]
    }

    /// Records for up to 4 s with the recorder's own timing, and cuts the power.
    private func record(_ chance: inout SeededGenerator) throws -> Cut {
        let disk = FaultyDisk()
        var settings = RecorderSettings()
        settings.segmentBytes = UInt64.random(in: 2_000...40_000, using: &chance)
        var writer = try RecordingWriter(
            names: SegmentNames(first: "a.jsonl"),
            header: RecordingHeader(program: "test", start: Self.start, epoch: 7, source: "live"),
            monotonic: 0,
            settings: settings,
            disk: disk
        )
        var cut = Cut()
        let end = Int64.random(in: 0...4_000, using: &chance) * Self.millisecond
        let pace = Int64.random(in: 1...40, using: &chance)
        var flushAt: Int64?
        while cut.now < end {
            cut.now += Self.millisecond
            if chance.next() % UInt64(pace) == 0 {
                cut.arrivals.append(cut.now)
                writer.append(
                    frame: ByteBuffer(string: #"{"data":[{"p":1,"s":"A","t":1,"v":1}],"type":"trade"}"#),
                    of: .finnhub,
                    received: Self.start + cut.now,
                    monotonic: cut.now,
                    numbers: RecordedNumbers(first: UInt64(cut.arrivals.count), count: 1),
                    epoch: 7
                )
                flushAt = flushAt ?? cut.now + settings.flushInterval / 2
            }
            if let time = flushAt, time <= cut.now {
                writer.flush(now: cut.now)
                flushAt = nil
            }
            if let deadline = writer.syncDeadline, deadline <= cut.now { writer.sync(now: cut.now) }
        }
        cut.names = (1...writer.segments).map { SegmentNames(first: "a.jsonl").name($0) }
        cut.files = disk.survivors(&chance)
        cut.synced = disk.state.withLockedValue { $0.files.mapValues(\.synced) }
        return cut
    }

    @Test("500 cuts: every file opens, at most 1 s is missing at its end, and nothing before", arguments: 1...5)
    func random(seed: UInt64) throws {
        var chance = SeededGenerator(seed: seed)
        var torn = 0
        var files = 0
        for number in 1...100 {
            let cut = try self.record(&chance)
            var kept: Set<UInt64> = []
            for name in cut.names {
                let content = try #require(cut.files[name])
                files += 1
                var reader = RecordingParser()
                reader.feed(ByteBuffer(bytes: content))
                reader.finish()
                while let line = reader.nextLine() {
                    switch line.content {
                    case .frame(_, let numbers, _):
                        let first = try #require(numbers?.first)
                        // Neither a duplicate nor a frame that was not recorded.
                        #expect(kept.insert(first).inserted && first <= cut.arrivals.count)
                    case .damaged, .torn:
                        // Only behind the synced bytes.
                        #expect(line.offset + Int64(line.length) >= cut.synced[name] ?? 0, "\(number): \(line)")
                        torn += 1
                    case .header, .gap, .note, .unknown, .unreadable: break
                    }
                }
            }
            let due = cut.arrivals.count { $0 <= cut.now - 1_000 * Self.millisecond }
            let missing = (1...UInt64(max(due, 1))).first { $0 <= due && !kept.contains($0) }
            #expect(missing == nil, "cut \(number) of seed \(seed), \(due) frames are due")
        }
        // Cuts that tear no line would prove little.
        #expect(torn > 20 && files > 200)
    }
}
