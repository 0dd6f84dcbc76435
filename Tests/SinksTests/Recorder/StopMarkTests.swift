import Market
import NIOCore
import Recordings
import Sinks
import Testing
import TickertapeTesting
import Wire

@Suite("Marks in a recording")
struct StopMarkTests {
    @Test("count the stops of their own file, also those behind a silence between two files")
    func files() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var settings = RecorderSettings()
        settings.segmentBytes = 1 << 20
        let names = SegmentNames(first: "\(folder.path)/a.jsonl")
        let header = RecordingHeader(version: 2, program: "test", symbols: ["A"], start: 0, epoch: 1, source: "live")
        var writer = try RecordingWriter(
            names: names,
            header: header,
            monotonic: 7,
            settings: settings,
            disk: SystemDisk()
        )
        let frame = ByteBuffer(string: #"{"data":["# + String(repeating: " ", count: 1_000) + #"],"type":"trade"}"#)
        var at: Int64 = 7
        var chance = SeededGenerator(seed: 2)
        for number in 0..<4_000 {
            at += 1_000_000
            switch chance.next() % 300 {
            case 0: at += RecordedStops.silence
            case 1, 2:
                let symbol = chance.next() % 2 == 0 ? "A" : nil
                writer.append(
                    gap: Gap(from: 0, to: 1, reason: "lost", nextSequence: 0, symbol: symbol),
                    wall: at,
                    monotonic: at
                )
            case 3: writer.leftOut(2, from: at, to: at, now: at)
            default: break
            }
            let numbers = RecordedNumbers(first: UInt64(number), count: chance.next() % 5 == 0 ? 0 : 1)
            writer.append(frame: frame, received: at, monotonic: at, numbers: numbers, epoch: 1)
        }
        writer.close(wall: at, monotonic: at)
        #expect(names.all().count == 5)
        var marks = 0
        var isOpen = false
        var last: Int64?
        let stream = try RecordingStream(path: names.path(1))
        var stops = [UInt64](repeating: 0, count: stream.segments.count)
        while let line = try stream.next() {
            let at = line.at ?? 0
            switch line.content {
            case .gap(let gap, _): if gap.symbol == nil { isOpen = true }
            case .frame(_, let numbers?) where numbers.count > 0:
                if isOpen || last.map({ at - $0 >= RecordedStops.silence }) ?? false { stops[stream.segment] += 1 }
                isOpen = false
                last = at
            case .note(let note):
                guard let mark = note.stops else { continue }
                marks += 1
                #expect(mark.count == stops[stream.segment] && note.offset == line.offset)
                #expect(mark.lastTrade.map { $0 + stream.segments[stream.segment].shift } == last)
            default: break
            }
        }
        #expect(marks >= 12 && stops.allSatisfy { $0 > 0 }, "\(marks), \(stops)")
    }
}
