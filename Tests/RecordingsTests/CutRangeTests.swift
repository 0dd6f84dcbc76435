import Foundation
import Market
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

@Suite("Losses and times in a part of a recording")
struct CutRangeTests {
    private static let start = RecordingWriterPen.start
    private static let second = RecordingWriterPen.second

    private func lines(_ path: String) throws -> [RecordedLine] {
        let stream = try RecordingStream(path: path, followsSegments: false)
        var lines: [RecordedLine] = []
        while let line = try stream.next() { lines.append(line) }
        return lines
    }

    private func frames(_ path: String) throws -> [RecordedLine] {
        try self.lines(path).filter { if case .frame = $0.content { true } else { false } }
    }

    private func gaps(_ path: String) throws -> [(gap: Gap, dropped: UInt64?)] {
        try self.lines(path).compactMap {
            if case .gap(let gap, let dropped) = $0.content { (gap, dropped) } else { nil }
        }
    }

    private func cut(_ path: String, from: Int64?, to: Int64?, _ target: String) throws -> RecordingEdits.Result {
        var cut = RecordingEdits.Cut()
        cut.from = from
        cut.to = to
        return try RecordingEdits.cut(path, cut, to: target, form: .current)
    }

    /// Returns the start in ms since 1970 and the mark of each one-second bar.
    private func bars(_ path: String, _ symbol: String) throws -> [(start: Int64, isIncomplete: Bool)] {
        var order = RecordingExport.Order(format: .csv, bars: .second)
        order.symbols = [symbol]
        var export = RecordingExport(order)
        let stream = try RecordingStream(path: path, followsSegments: false)
        while let line = try stream.next() { export.take(line) }
        export.finish()
        return try String(buffer: export.takeText()).split(separator: "\n").dropFirst().map { row in
            let start = try #require(
                row.split(separator: ",").compactMap { Int64($0) }.first { $0 > 1_000_000_000_000 }
            )
            return (start, row.hasSuffix(",true,0"))
        }
    }

    @Test(
        "a part that begins where lines are missing reports it and marks its bars; one that begins behind them does not"
    )
    func hole() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let text = String(buffer: MarketText.make(frames: 9_000)).split(separator: "\n")
        let lines = text[..<3_000] + text[3_400...]
        let path = try folder.write(lines.joined(separator: "\n") + "\n", to: "a.jsonl")
        try PackedSegment.pack(path, to: "\(folder.path)/b.jsonl.zst")
        let all = try self.lines(path)
        func wall(_ number: UInt64) throws -> Int64 {
            try #require(all.first { $0.number == number }?.wall) * 1_000
        }
        let (last, next) = (try wall(2_999), try wall(3_400))
        #expect(next - last > Self.second)
        for name in ["a.jsonl", "b.jsonl.zst"] {
            let source = "\(folder.path)/\(name)"
            // The range begins in the hole, ends in it, spans it, or lies on either side of it.
            let ranges: [(from: Int64?, to: Int64?, isReported: Bool)] = [
                ((last + next) / 2, nil, true), (nil, (last + next) / 2, true), (last - Self.second, nil, true),
                (next + 1_000, nil, false), (nil, last, false),
            ]
            for (place, range) in ranges.enumerated() {
                let target = "\(folder.path)/\(place)-\(name)"
                let result = try self.cut(source, from: range.from, to: range.to, target)
                let gaps = try self.gaps(target)
                #expect(gaps.map(\.dropped) == (range.isReported ? [400] : []), "\(name) \(place): \(gaps)")
                #expect(result.losses == gaps.count)
                let found = try RecordingCheck.check(target)
                #expect(found.isIntact && found.holeCount == gaps.count && found.wallsBack == 0)
                guard range.isReported else { continue }
                // The times are those of the whole hole.
                #expect(gaps[0].gap.from == last && gaps[0].gap.to == next, "\(name) \(place): \(gaps)")
                let wallClocks = try self.lines(target).compactMap(\.wall)
                #expect(wallClocks.allSatisfy { $0 * 1_000 >= range.from ?? 0 && $0 * 1_000 < range.to ?? .max })
            }
        }
    }

    @Test("a loss before the block at which reading begins is reported, too")
    func packedHole() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let text = MarketText.make(frames: 9_000)
        let path = try folder.write(String(buffer: text), to: "a.jsonl")
        let packed = path + ".zst"
        try PackedSegment.pack(path, to: packed)
        let map = try RecordingMap(path: packed)
        let blocks = try #require(map.index).blocks
        #expect(blocks.count > 2)
        // A block in the middle cannot be decompressed; the part begins in it.
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: packed)))
        let starts = bytes.indices.dropLast(4).filter { Array(bytes[$0..<$0 + 4]) == [0x28, 0xB5, 0x2F, 0xFD] }
        try #require(starts.count == blocks.count)
        bytes[starts[1]] ^= 1
        try Data(bytes).write(to: URL(fileURLWithPath: packed))
        let wallClocks = try #require(blocks[1].wall)
        let from = (wallClocks.lowerBound + (wallClocks.upperBound - wallClocks.lowerBound) / 2) * 1_000
        let result = try self.cut(packed, from: from, to: nil, "\(folder.path)/c")
        let gaps = try self.gaps("\(folder.path)/c")
        #expect(result.losses == 1 && gaps.map(\.dropped) == [UInt64(blocks[1].lines)], "\(gaps)")
        #expect(gaps.first?.gap.from == (blocks[0].wall?.upperBound ?? 0) * 1_000)
        #expect(try self.frames("\(folder.path)/c").count == blocks[2...].reduce(-1) { $0 + $1.lines })
    }

    @Test("a gap that ended after the part is reported at its end, and once where the halves are merged")
    func recordedGap() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        for (name, dropped) in [("gap", nil), ("dropped", 900)] as [(String, UInt64?)] {
            var pen = RecordingWriterPen(wall: 0)
            for second in 0..<20 { pen.trade(Double(second)) }
            // The connection is back at 900 s; the first trade comes later.
            pen.ping(900, after: 881)
            pen.gap(903, from: 19, to: 903, dropped: dropped)
            pen.trade(903, after: 3)
            // A gap of one symbol, reported after trades of others.
            pen.trade(904, symbol: "B")
            pen.gap(905, from: 10, to: 905, symbol: "A")
            for second in 906..<1_000 { pen.trade(Double(second)) }
            let path = try folder.write(String(buffer: pen.text), to: "\(name).jsonl")
            let middle = Self.start + 400 * Self.second
            let (one, two, both) = ("\(path)-1", "\(path)-2", "\(path)-both")
            _ = try self.cut(path, from: nil, to: middle, one)
            _ = try self.cut(path, from: middle, to: nil, two)
            let whole = try self.gaps(path)
            let first = try self.gaps(one)
            #expect(first.map(\.gap) == whole.map(\.gap) && first.map(\.dropped) == [dropped, nil], "\(first)")
            #expect(try self.gaps(two).map(\.gap) == whole.map(\.gap))
            #expect(try self.lines(one).allSatisfy { ($0.wall ?? 0) * 1_000 < middle })
            #expect(try RecordingCheck.check(one).lastAt ?? 0 < 401 * Self.second)
            _ = try RecordingEdits.merge([two, one], to: both, form: .current)
            #expect(try self.gaps(both).map(\.gap) == whole.map(\.gap))
            #expect(try self.frames(both).map(\.content) == self.frames(path).map(\.content))
            // A gap that began after the part's end is not in it.
            let early = try self.cut(path, from: nil, to: Self.start + 15 * Self.second, "\(path)-3")
            #expect(try early.frames == 15 && self.gaps("\(path)-3").map(\.gap) == [whole[1].gap])
        }
    }

    @Test("a gap of all symbols is reported where it spans trades of others, one that ended before is not")
    func gapOverTrades() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var pen = RecordingWriterPen(wall: 0)
        for second in 0..<20 { pen.trade(Double(second)) }
        for second in 20..<200 { pen.trade(Double(second), symbol: "B") }
        // A had been quiet since 19 s when the connection broke at 200 s.
        pen.gap(202, from: 19, to: 202)
        for second in 203..<300 { pen.trade(Double(second)) }
        let path = try folder.write(String(buffer: pen.text), to: "a.jsonl")
        func cut(_ from: Int64, _ to: Int64) throws -> [Gap] {
            let target = "\(path)-\(from)"
            _ = try self.cut(
                path,
                from: Self.start + from * Self.second,
                to: Self.start + to * Self.second,
                target
            )
            return try self.gaps(target).map(\.gap)
        }
        #expect(try cut(0, 170) == self.gaps(path).map(\.gap))
        #expect(try cut(250, 260).isEmpty)
    }

    @Test(
        "merged halves report each loss once: frames that the recorder left out, and the time between the halves"
    )
    func halves() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var pen = RecordingWriterPen(wall: 0)
        for second in 0..<20 { pen.trade(Double(second)) }
        pen.leaveOut(900)
        pen.gap(40, from: 19, to: 40, dropped: 900)
        for second in 40..<100 { pen.trade(Double(second)) }
        for second in 100..<200 { pen.trade(Double(second), symbol: "B") }
        pen.gap(200, from: 99, to: 200, symbol: "A")
        for second in 200..<300 { pen.trade(Double(second)) }
        let path = try folder.write(String(buffer: pen.text), to: "a.jsonl")
        func piece(_ from: Int64?, _ to: Int64?, _ name: String) throws -> String {
            let target = "\(folder.path)/\(name)"
            let (begin, end) = (from.map { Self.start + $0 * Self.second }, to.map { Self.start + $0 * Self.second })
            _ = try self.cut(path, from: begin, to: end, target)
            return target
        }
        // The halves meet inside the loss that the recorder reported.
        let left = try RecordingEdits.merge(
            [try piece(nil, 30, "1"), try piece(30, nil, "2")],
            to: "\(folder.path)/3",
            form: .current
        )
        #expect(left.losses == 0)
        #expect(try self.gaps("\(folder.path)/3").map(\.dropped) == [900, nil])
        // The first ends with the gap of A, which ends long after the time that neither has.
        let apart = try RecordingEdits.merge(
            [try piece(50, 130, "4"), try piece(170, nil, "5")],
            to: "\(folder.path)/6",
            form: .current
        )
        #expect(apart.losses == 1)
        #expect(try RecordingCheck.check("\(folder.path)/6").holeCount >= 1)
    }

    @Test("a recording with times at the limit of Int64 is cut without a trap")
    func hostile() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let least = try folder.write(
            """
            {"tickertape":2,"program":"x","symbols":[],"wall":-9223372036854775}
            {"mono":0,"frame":"{}"}
            {"mono":1000,"event":"gap","from":-9223372036854775,"to":0,"reason":"x","nextSeq":0}

            """.sealed,
            to: "least.jsonl"
        )
        for to in [Int64.min, .min + 500, .min + 2_000, 0, .max] {
            _ = try? self.cut(least, from: nil, to: to, "\(folder.path)/\(to)")
            _ = try? self.cut(least, from: to, to: nil, "\(folder.path)/from\(to)")
        }
        for start in [Int64.min, .max] {
            #expect(ReplayPlaceText.parse("12:00:00", start: start, at: start) != nil)
        }
    }

    @Test("bars of a part that begins in a gap are incomplete up to the gap's end, also by late trades")
    func barsInGap() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var pen = RecordingWriterPen(wall: 0)
        for second in 0..<10 { pen.trade(Double(second) + 0.5) }
        pen.gap(30, from: 9.5, to: 30)
        // Its exchange time is in the previous second.
        pen.trade(30.01)
        pen.trade(30.5, after: 0.5)
        for second in 31..<40 { pen.trade(Double(second) + 0.5) }
        let path = try folder.write(String(buffer: pen.text), to: "a.jsonl")
        _ = try self.cut(path, from: Self.start + 20 * Self.second, to: nil, "\(folder.path)/b")
        let bars = try self.bars("\(folder.path)/b", "A")
        #expect(bars.map { ($0.start - Self.start / 1_000_000) / 1_000 } == Array(29..<40))
        #expect(bars.map(\.isIncomplete) == [true, true] + [Bool](repeating: false, count: 8) + [true], "\(bars)")
    }

    @Test("a clock that is set back, even twice, costs no line of the part, compressed or not")
    func setBack() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        // 0 to 99 s, an hour later for a while, back to 40 s, and ahead to 200 s.
        var wallClocks = (0..<100).map(Double.init) + (3_600..<3_800).map(Double.init) + (40..<100).map(Double.init)
        wallClocks += (200..<400).map(Double.init) + (90..<95).map(Double.init)
        var pen = RecordingWriterPen(wall: 0)
        // Long lines, so that there are several blocks.
        for wall in wallClocks { pen.trade(wall, padding: 8_000) }
        let path = try folder.write(String(buffer: pen.text), to: "a.jsonl")
        try PackedSegment.pack(path, to: "\(folder.path)/b.jsonl.zst")
        #expect(try #require(RecordingMap(path: "\(folder.path)/b.jsonl.zst").index).blocks.count > 3)
        let ranges: [(Int?, Int?)] = [(50, nil), (nil, 60), (50, 60), (70, 3_650), (3_650, nil), (92, 250), (350, 380)]
        for name in ["a.jsonl", "b.jsonl.zst"] {
            for (place, range) in ranges.enumerated() {
                let target = "\(folder.path)/\(place)-\(name)"
                let from = range.0.map { Self.start + Int64($0) * Self.second }
                let to = range.1.map { Self.start + Int64($0) * Self.second }
                let result = try self.cut("\(folder.path)/\(name)", from: from, to: to, target)
                let wanted = wallClocks.filter { $0 >= Double(range.0 ?? 0) && $0 < Double(range.1 ?? 100_000) }
                let got = try self.frames(target).compactMap {
                    $0.wall.map { Double($0 - Self.start / 1_000) / 1_000_000 }
                }
                #expect(got == wanted, "\(name) \(range)")
                #expect(try result.losses == 0 && RecordingCheck.check(target).isIntact)
            }
        }
    }

    @Test("a clock that is set back between files costs no line, and files of other times are not read")
    func setBackBetween() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        // Four files of 300 s; the third begins 500 s earlier.
        let begins = [0, 300, 100, 700]
        var wallClocks: [Int] = []
        for (place, begin) in begins.enumerated() {
            var pen = RecordingWriterPen(
                wall: Int64(begin),
                monotonic: Int64(place * 300),
                segment: place + 1,
                first: UInt64(place * 300 + 1)
            )
            for second in begin..<begin + 300 {
                pen.trade(Double(second), padding: 8_000)
                wallClocks.append(second)
            }
            let name = place == 0 ? "s.jsonl" : "s-000\(place + 1).jsonl"
            let path = try folder.write(String(buffer: pen.text), to: name)
            if place != 3 {
                try PackedSegment.pack(path, to: path + ".zst")
                #expect(unlink(path) == 0)
            }
        }
        for (place, range) in [(350, 380), (150, 200), (0, 50), (720, 730), (590, 1_000)].enumerated() {
            let target = "\(folder.path)/c\(place)"
            let from = Self.start + Int64(range.0) * Self.second
            let to = Self.start + Int64(range.1) * Self.second
            let result = try self.cut("\(folder.path)/s.jsonl", from: from, to: to, target)
            let got = try self.frames(target).compactMap { $0.wall.map { Int($0 - Self.start / 1_000) / 1_000_000 } }
            #expect(got == wallClocks.filter { $0 >= range.0 && $0 < range.1 }, "\(range)")
            #expect(try result.losses == 0 && RecordingCheck.check(target).isIntact, "\(range)")
            // The last file is not compressed, and is always read.
            #expect(result.files == [3, 3, 2, 1, 3][place], "\(range): \(result.files)")
        }
    }

    @Test("a part from behind the second header of a joined file is of that header's run, with its numbers")
    func joined() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var one = RecordingWriterPen(wall: 0, epoch: 1)
        for second in 0..<300 { one.trade(Double(second), padding: 8_000) }
        var two = RecordingWriterPen(wall: 1_000, monotonic: 50, epoch: 2)
        for second in 1_000..<1_300 { two.trade(Double(second), padding: 8_000) }
        var text = one.text
        text.writeImmutableBuffer(two.text)
        let path = try folder.write(String(buffer: text), to: "a.jsonl")
        try PackedSegment.pack(path, to: "\(folder.path)/b.jsonl.zst")
        for name in ["a.jsonl", "b.jsonl.zst"] {
            let source = "\(folder.path)/\(name)"
            func numbers(_ path: String) throws -> [UInt64?] {
                try self.frames(path).map {
                    if case .frame(_, let numbers, _) = $0.content { numbers?.first } else { nil }
                }
            }
            let behind = "\(folder.path)/behind-\(name)"
            let result = try self.cut(source, from: Self.start + 1_100 * Self.second, to: nil, behind)
            let header = try #require(try RecordingMap(path: behind).header)
            #expect(header.epoch == 2 && header.start == Self.start + 1_100 * Self.second && result.losses == 0)
            #expect(try numbers(behind) == Array(101...300))
            #expect(try self.frames(behind).first?.at == 0)
            // From a time between the runs: the first line is of the second run.
            let between = "\(folder.path)/between-\(name)"
            let reported = try self.cut(source, from: Self.start + 600 * Self.second, to: nil, between)
            let found = try #require(try RecordingMap(path: between).header)
            #expect(found.epoch == 2 && found.start == Self.start + 1_000 * Self.second && reported.losses == 1)
            #expect(try numbers(between) == Array(1...300))
            let gap = try #require(try self.gaps(between).first?.gap)
            #expect(gap.from == Self.start + 299 * Self.second && gap.to == Self.start + 1_000 * Self.second)
            #expect(gap.epoch == 2 || gap.epoch == 0)
            // From a time in the first run: the header is that run's.
            let before = "\(folder.path)/before-\(name)"
            _ = try self.cut(source, from: Self.start + 200 * Self.second, to: nil, before)
            #expect(try RecordingMap(path: before).header?.epoch == 1)
            #expect(try numbers(before) == Array(201...300) + [UInt64?](repeating: nil, count: 300))
        }
    }
}
