import Market
import NIOConcurrencyHelpers
import NIOCore
import Recordings
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
        let header = RecordingHeader(program: "test", symbols: ["A"], start: 0, epoch: 1, source: "live")
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
            case 0: at += GapMarkers.silence
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
            writer.append(frame: frame, of: .finnhub, received: at, monotonic: at, numbers: numbers, epoch: 1)
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
            case .frame(_, let numbers?, _) where numbers.count > 0:
                if isOpen || last.map({ at - $0 >= GapMarkers.silence }) ?? false { stops[stream.segment] += 1 }
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

    @Test("state the wall clocks of the lines before them, also where the clock is set and the disk fails")
    func wallClocks() throws {
        let disk = FaultyDisk()
        var settings = RecorderSettings()
        settings.segmentBytes = 3 << 20
        let hour: Int64 = 3_600_000_000_000
        var wall: Int64 = 1_767_225_600_000_000_000 + 2 * hour
        let header = RecordingHeader(program: "test", symbols: ["A"], start: wall, epoch: 1, source: "live")
        var writer = try RecordingWriter(
            names: SegmentNames(first: "a.jsonl"),
            header: header,
            monotonic: 7,
            settings: settings,
            disk: disk
        )
        let frame = ByteBuffer(string: #"{"data":["# + String(repeating: " ", count: 4_000) + #"],"type":"trade"}"#)
        var chance = SeededGenerator(seed: 5)
        for number in 0..<3_000 {
            wall += Int64(chance.next() % 1_000_000)
            let at = 7 + Int64(number) * 1_000_000
            switch number {
            // The clock is ahead while the disk is full: lines that are not written are in no mark.
            case 300:
                disk.state.withLockedValue { $0.capacity = $0.used + 10_000 }
                wall += hour
            case 400:
                disk.state.withLockedValue { $0.capacity = .max }
                wall -= hour
            case 1_000: wall += hour
            case 1_100, 2_100: wall -= hour + hour / 2
            case 1_900: wall += hour
            default: break
            }
            // An event during a read is written before the frames of that read.
            if number % 50 == 0 { writer.append(note: RecordedNote(.ping), wall: wall + 30_000, monotonic: at) }
            let numbers = RecordedNumbers(first: UInt64(number), count: 1)
            writer.append(frame: frame, of: .finnhub, received: wall, monotonic: at, numbers: numbers, epoch: 1)
            if number % 40 == 0 { writer.flush(now: at) }
        }
        writer.close(wall: wall, monotonic: 7 + 3_000_000_000)
        #expect(writer.failed > 50 && writer.segments >= 3)
        var marks = 0
        for segment in 1...writer.segments {
            var reader = RecordingParser()
            var check = RecordingCheck()
            reader.feed(ByteBuffer(bytes: disk.content(SegmentNames(first: "a.jsonl").name(segment))))
            reader.finish()
            var wallClocks: [Int64] = []
            var back: Int64 = 0
            while let line = reader.nextLine() {
                check.take(line)
                if case .header(let header) = line.content { wallClocks.append((header.start ?? 0) / 1_000) }
                if case .note(let note) = line.content, note.kind == .mark {
                    marks += 1
                    let found = try #require(note.wallClocks)
                    #expect(note.offset == line.offset && found.latest == wallClocks.max() && found.back == back)
                }
                guard let wall = line.wall else { continue }
                back = max(back, (wallClocks.max() ?? wall) - wall)
                wallClocks.append(wall)
            }
            #expect(check.findings.isIntact && back >= 30)
        }
        #expect(marks >= 30, "\(marks)")
    }
}
