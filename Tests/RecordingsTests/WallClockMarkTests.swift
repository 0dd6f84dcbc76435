import Foundation
import Market
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

@Suite("The search by wall clock in uncompressed recordings")
struct WallClockMarkTests {
    private static let start = RecordingWriterPen.start / 1_000
    private static let interval = Int64(GapMarkers.interval)

    /// The seconds of the wall clock at each line, for lines of about 4 KiB.
    private static let clocks: [(name: String, seconds: [Int])] = [
        ("straight", Array(0..<900)),
        ("set back once", Array(0..<400) + Array(100..<600)),
        ("ahead for a while", Array(0..<300) + Array(5_000..<5_300) + Array(300..<600)),
        ("set back twice, and ahead", Array(0..<200) + Array(50..<300) + Array(1_000..<1_300) + Array(20..<170)),
        ("back before the start", Array(500..<600) + Array(0..<800)),
        ("standing still", [Int](repeating: 7, count: 900)),
    ]

    /// Writes a file with such lines; its marks are correct except for those that `lie` changes.
    private func text(
        _ seconds: [Int],
        hasMarks: Bool = true,
        lie: @escaping (Int, inout WallClockMarks) -> Void = { _, _ in }
    ) -> RecordingWriterPen {
        var pen = RecordingWriterPen(wall: Int64(seconds[0]), hasMarks: hasMarks, lie: lie)
        for (place, second) in seconds.enumerated() {
            // As in real recordings, some lines have a slightly earlier wall clock than the line before.
            pen.trade(Double(second) + (place % 5 == 0 ? 1.2 : 0.1), padding: 3_500)
        }
        return pen
    }

    private func lines(_ path: String) throws -> [RecordedLine] {
        let stream = try RecordingStream(path: path, followsSegments: false)
        var lines: [RecordedLine] = []
        while let line = try stream.next() { lines.append(line) }
        return lines
    }

    @Test("skips only lines outside the range at both ends, and nearly all of them, however the clock was set back")
    func search() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        for (name, seconds) in Self.clocks {
            let pen = self.text(seconds)
            #expect(pen.marks > 8)
            let path = try folder.write(String(buffer: pen.text), to: "\(name).jsonl")
            let lines = try self.lines(path)
            #expect(try RecordingCheck.check(path).isIntact)
            for second in [-10, 0, 3, 60, 99, 150, 250, 299, 301, 450, 590, 700, 899, 1_100, 4_000, 5_100, 6_000] {
                let moment = Self.start + Int64(second) * 1_000_000
                let map = try RecordingMap(path: path)
                let earlier = try map.earlier(than: moment)
                let passed = lines.filter { $0.offset < earlier.offset }
                let wallClocks = passed.compactMap(\.wall)
                #expect(wallClocks.allSatisfy { $0 < moment }, "\(name) \(second)")
                let first = lines.first { $0.wall ?? .min >= moment }
                #expect(earlier.isAll == (first == nil), "\(name) \(second)")
                if let first {
                    #expect(first.offset - earlier.offset < 2 * Self.interval, "\(name) \(second)")
                } else {
                    #expect(passed.count == lines.count)
                }
                if !wallClocks.isEmpty {
                    // The header has no number.
                    #expect(
                        earlier.number == UInt64(passed.count)
                            && earlier.latest == max(wallClocks.max() ?? 0, Self.start)
                    )
                }
                let end = try map.end(before: moment)
                #expect(!lines.contains { $0.offset >= end && ($0.wall ?? .max) <= moment }, "\(name) \(second)")
                if name == "straight" {
                    let last = lines.last { ($0.wall ?? .max) <= moment }
                    #expect(end - (last?.offset ?? 0) < 2 * Self.interval, "\(second): \(end)")
                }
            }
        }
    }

    @Test("reads little of a large file to find a time")
    func reads() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var pen = RecordingWriterPen(wall: 0, hasMarks: true)
        for second in Array(0..<300) + Array(100..<500) { pen.trade(Double(second), padding: 60_000) }
        let path = try folder.write(String(buffer: pen.text), to: "a.jsonl")
        for second in [3, 150, 299, 450] {
            let map = try RecordingMap(path: path)
            let moment = Self.start + Int64(second) * 1_000_000
            #expect(try map.earlier(than: moment).offset > 0 || second == 3)
            #expect(map.length ?? 0 > 40 << 20 && map.bytesRead < 6 << 20, "\(second): \(map.bytesRead)")
            #expect(try map.end(before: moment) < .max && map.bytesRead < 12 << 20, "\(second): \(map.bytesRead)")
        }
    }

    private static let ranges: [(from: Int?, to: Int?)] = [
        (nil, 40), (50, nil), (120, 130), (150, 160), (290, 310), (450, nil), (610, 620), (5_100, 5_105), (899, nil),
    ]

    /// Returns the part that `cut` makes of each range; a text where the range has no line.
    private func pieces(_ path: String, _ folder: TemporaryFolder, _ name: String) throws -> [String] {
        try Self.ranges.enumerated().map { place, range in
            var cut = RecordingEdits.Cut()
            cut.from = range.from.map { (Self.start + Int64($0) * 1_000_000) * 1_000 }
            cut.to = range.to.map { (Self.start + Int64($0) * 1_000_000) * 1_000 }
            let target = "\(name)-\(place).jsonl"
            do {
                let result = try RecordingEdits.cut(path, cut, to: "\(folder.path)/\(target)", form: .current)
                return try "\(result.frames) \(result.losses) \(result.damagedLines)\n" + folder.read(target)
            } catch is RecordingFailure {
                return "nothing"
            }
        }
    }

    @Test("gives the same parts as for a file without marks, which is read from start to end")
    func pieces() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        for (name, seconds) in Self.clocks {
            let with = try folder.write(String(buffer: self.text(seconds).text), to: "\(name)-a.jsonl")
            let without = try folder.write(
                String(buffer: self.text(seconds, hasMarks: false).text),
                to: "\(name)-b.jsonl"
            )
            let truth = try self.pieces(without, folder, "\(name)-b")
            #expect(try self.pieces(with, folder, "\(name)-a") == truth, "\(name)")
            #expect(truth.count { $0 != "nothing" } >= 1)
        }
    }

    @Test("gives the same parts of several files, between which the clock is set back, too")
    func files() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        func write(_ name: String, hasMarks: Bool) throws -> String {
            var first: UInt64 = 1
            for (place, begin) in [0, 300, 100, 450].enumerated() {
                var pen = RecordingWriterPen(
                    wall: Int64(begin),
                    monotonic: Int64(place * 300),
                    segment: place + 1,
                    first: first,
                    hasMarks: hasMarks
                )
                for second in begin..<begin + 300 { pen.trade(Double(second), padding: 6_000) }
                first += UInt64(300 + pen.marks)
                #expect((pen.marks > 4) == hasMarks)
                _ = try folder.write(
                    String(buffer: pen.text),
                    to: place == 0 ? "\(name).jsonl" : "\(name)-000\(place + 1).jsonl"
                )
            }
            return "\(folder.path)/\(name).jsonl"
        }
        let truth = try self.pieces(write("b", hasMarks: false), folder, "pb").map(self.unnumbered)
        let path = try write("a", hasMarks: true)
        #expect(try self.pieces(path, folder, "pa").map(self.unnumbered) == truth)
        // Files without a line in the range are passed over.
        for (from, to, files) in [(0, 50, 1), (720, 730, 1), (601, 700, 1)] {
            var cut = RecordingEdits.Cut()
            cut.from = (Self.start + Int64(from) * 1_000_000) * 1_000
            cut.to = (Self.start + Int64(to) * 1_000_000) * 1_000
            let result = try RecordingEdits.cut(path, cut, to: "\(path)-\(from)", form: .current)
            #expect(result.files == files && result.losses == 0, "\(from): \(result)")
        }
    }

    /// Keeps only the times: the pen numbers trades by lines, of which files with marks have more.
    private func unnumbered(_ piece: String) -> [String] {
        piece.split(separator: "\n").map { line in
            let times = line.split(separator: ",").filter { $0.hasPrefix("\"wall\"") || $0.hasPrefix("\"mono\"") }
            return times.isEmpty ? String(line) : times.joined(separator: ",")
        }
    }

    @Test("a false mark costs no line of a part where the lines before it contradict it, and verify finds it")
    func lies() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let lies: [(name: String, lie: (Int, inout WallClockMarks) -> Void)] = [
            ("low", { if $0 == 5 { $1 = WallClockMarks(latest: Self.start, back: $1.back) } }),
            ("least", { if $0 == 5 { $1 = WallClockMarks(latest: .min, back: $1.back) } }),
            ("high", { if $0 == 5 { $1 = WallClockMarks(latest: $1.latest + 4_000_000_000, back: $1.back) } }),
            ("most", { if $0 == 5 { $1 = WallClockMarks(latest: .max, back: .max) } }),
            ("never back", { if $0 == 7 { $1 = WallClockMarks(latest: $1.latest, back: 0) } }),
            ("all most", { $1 = WallClockMarks(latest: .max - Int64($0), back: .max) }),
            ("falling", { $1 = WallClockMarks(latest: $1.latest - Int64($0) * 100_000_000, back: $1.back) }),
            ("all least", { $1 = WallClockMarks(latest: .min, back: 0) }),
        ]
        for (name, seconds) in Self.clocks.dropFirst().prefix(2) {
            let truth = try self.pieces(
                folder.write(String(buffer: self.text(seconds, hasMarks: false).text), to: "\(name).jsonl"),
                folder,
                name
            )
            for (which, lie) in lies {
                let file = "\(name)-\(which)"
                let path = try folder.write(String(buffer: self.text(seconds, lie: lie).text), to: "\(file).jsonl")
                let pieces = try self.pieces(path, folder, file)
                #expect(pieces == truth, "\(file)")
                let found = try RecordingCheck.check(path)
                #expect(found.wrongMarks > 0 && !found.isIntact, "\(file)")
                // A repaired file has correct marks.
                _ = try RecordingEdits.repair(path, to: "\(path)-whole", form: .current)
                #expect(try RecordingCheck.check("\(path)-whole").isIntact)
            }
        }
    }

    @Test("damaged, displaced and old marks cost no line")
    func damaged() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        for (name, seconds) in Self.clocks.dropFirst(2).prefix(2) {
            let text = String(buffer: self.text(seconds).text)
            let lines = text.split(separator: "\n")
            let marks = lines.indices.filter { lines[$0].contains("\"event\":\"mark\"") }
            func flipped(_ places: some Sequence<Int>) -> [Substring] {
                var lines = lines
                for place in places {
                    lines[place] = Substring(lines[place].replacingOccurrences(of: "mark", with: "park"))
                }
                return lines
            }
            var without = lines
            without.remove(at: 5)
            let files: [(String, [Substring])] = [
                ("one", flipped([marks[4]])), ("half", flipped(marks.enumerated().filter { $0.0 % 2 == 0 }.map(\.1))),
                ("all", flipped(marks)), ("first", flipped(marks.prefix(6))), ("last", flipped(marks.suffix(6))),
                ("moved", without), ("twice", lines + lines),
            ]
            for (which, damaged) in files {
                let path = try folder.write(damaged.joined(separator: "\n") + "\n", to: "\(name)-\(which).jsonl")
                let all = try self.lines(path)
                for (place, range) in Self.ranges.enumerated() {
                    var cut = RecordingEdits.Cut()
                    let from = range.from.map { Self.start + Int64($0) * 1_000_000 }
                    let to = range.to.map { Self.start + Int64($0) * 1_000_000 }
                    (cut.from, cut.to) = (from.map { $0 * 1_000 }, to.map { $0 * 1_000 })
                    let wanted = all.filter { line in
                        guard case .frame = line.content, let wall = line.wall else { return false }
                        return wall >= from ?? .min && wall < to ?? .max
                    }
                    let target = "\(path)-\(place)"
                    let result = try? RecordingEdits.cut(path, cut, to: target, form: .current)
                    #expect(result?.frames ?? 0 == wanted.count, "\(name) \(which) \(range)")
                }
            }
        }
        // Marks of an earlier version lack the wall clocks, so that the file is read from its start.
        let lines = String(buffer: self.text(Self.clocks[0].seconds).text).split(separator: "\n").map { line in
            guard line.contains("\"event\":\"mark\"") else { return String(line) }
            let keys = line.dropLast(18).replacingOccurrences(of: "\"latest\"", with: "\"lapsed\"")
            var sealed = ByteBuffer(string: keys.replacingOccurrences(of: "\"back\"", with: "\"bock\""))
            LineSeal.write(into: &sealed, from: 0)
            return String(buffer: sealed).trimmingCharacters(in: .newlines)
        }
        var earlier = lines.joined(separator: "\n")
        #expect(!earlier.contains("latest") && earlier.contains("\"stops\""))
        earlier += "\n"
        let path = try folder.write(earlier, to: "earlier.jsonl")
        #expect(try RecordingMap(path: path).earlier(than: Self.start + 500_000_000).offset == 0)
        #expect(try RecordingMap(path: path).end(before: Self.start + 500_000_000) == .max)
        let found = try RecordingCheck.check(path)
        #expect(found.isIntact && found.events["mark"] ?? 0 > 8)
        let without = try folder.write(
            String(buffer: self.text(Self.clocks[0].seconds, hasMarks: false).text),
            to: "without.jsonl"
        )
        #expect(try self.pieces(path, folder, "e") == self.pieces(without, folder, "w"))
    }
}
