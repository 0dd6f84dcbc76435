import Market
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

@Suite("The hours of a recording")
struct RecordedHoursTests {
    private static let hour: Int64 = 1_787_626_800_000_000_000

    /// A writer of Binance's trades, one a frame, and the folder of its files.
    private struct Recorder {
        let folder: TemporaryFolder
        var writer: RecordingWriter
        var sequence: UInt64 = 1
        var now: Int64 = 1
        var wall: Int64 { RecordedHoursTests.hour + self.now }

        init() throws {
            self.folder = try TemporaryFolder()
            self.writer = try RecordingWriter(
                names: SegmentNames(first: "\(self.folder.path)/a.jsonl"),
                header: RecordingHeader(
                    version: RecordingHeader.dialectVersion,
                    program: "test",
                    symbols: ["BINANCE:BTCUSDT"],
                    start: RecordedHoursTests.hour,
                    epoch: 1,
                    source: "live"
                ),
                monotonic: 0,
                settings: RecorderSettings(),
                disk: SystemDisk()
            )
        }

        /// Appends the frame of one trade.
        ///
        /// - Parameter isSameRead: whether the frame came with the one before it.
        mutating func trade(
            _ id: UInt64,
            minute: Int64,
            isFilled: Bool = false,
            isRepeat: Bool = false,
            isSameRead: Bool = false
        ) {
            if !isSameRead { self.now += 1_000_000 }
            let time = RecordedHoursTests.hour / 1_000_000 + minute * 60_000
            let frame = RecordedHoursTests.frame(id, time: time)
            self.writer.append(
                frame: ByteBuffer(string: frame),
                of: .binance,
                received: self.wall,
                monotonic: self.now,
                numbers: RecordedNumbers(
                    first: self.sequence,
                    count: isRepeat ? 0 : 1,
                    leftOut: isRepeat ? [0] : [],
                    filled: isFilled ? [0] : []
                ),
                epoch: 1
            )
            if !isRepeat { self.sequence += 1 }
        }

        /// - Parameter delay: how much later than the newest frame it is written, ns.
        mutating func gap(_ ids: ClosedRange<UInt64>, delay: Int64 = 0) {
            let gap = Gap(
                from: self.wall,
                to: self.wall,
                reason: "missing",
                nextSequence: self.sequence,
                symbol: "BINANCE:BTCUSDT",
                missing: ids
            )
            self.writer.append(gap: gap, wall: self.wall + delay, monotonic: self.now + delay)
        }

        /// Begins the next file, as at midnight.
        mutating func rotate() {
            self.now += 86_400_000_000_000
            self.writer.append(note: RecordedNote(.ping), wall: self.wall, monotonic: self.now)
        }

        mutating func close() { self.writer.close(wall: self.wall, monotonic: self.now) }
    }

    private static func frame(_ id: UInt64, time: Int64) -> String {
        #"{"stream":"btcusdt@trade","data":{"e":"trade","E":\#(time),"s":"BTCUSDT","t":\#(id),"p":"61837.5\#(id % 10)00000","q":"0.00\#(1 + id % 9)00000","T":\#(time),"m":true,"M":true}}"#
    }

    private func check(_ paths: [String]) throws -> [CompletenessCheck.Findings] {
        var check = CompletenessCheck()
        return try paths.map { try RecordingCheck.check($0, &check).1 }
    }

    private func hours(of path: String) throws -> [CompletenessHour] {
        var hours: [CompletenessHour] = []
        _ = try RecordingCheck.check(path) { line in
            if case .note(let note) = line.content, let hour = note.hour { hours.append(hour) }
        }
        return hours
    }

    @Test("stand before the end, and are those of the frames")
    func footer() throws {
        var recorder = try Recorder()
        defer { recorder.folder.remove() }
        for id in 1...10 as ClosedRange<UInt64> { recorder.trade(id, minute: Int64(id) * 10) }
        recorder.gap(11...14)
        recorder.trade(15, minute: 130)
        recorder.trade(12, minute: 118, isFilled: true)
        recorder.trade(3, minute: 30, isRepeat: true)
        recorder.close()
        let path = recorder.writer.path
        let hours = try self.hours(of: path)
        #expect(hours.map(\.count) == [5, 6, 1] && hours.map(\.missing) == [0, 0, 3])
        #expect(hours.map(\.filled) == [0, 1, 0] && hours.allSatisfy { $0.sha256 != nil })
        let found = try self.check([path])[0]
        #expect(found.hours == hours && found.differences.isEmpty && found.reported == 3 && found.uncompared == 0)
        // The last line is still the end.
        let whole = try RecordingCheck.check(path)
        #expect(whole.isEnded && whole.isIntact && whole.events["hour"] == 3 && whole.unknownLines == 0)
    }

    @Test("do not count an id as missing that comes within its own read, also where a gap divides the read")
    func dividedRead() throws {
        var recorder = try Recorder()
        defer { recorder.folder.remove() }
        recorder.trade(1, minute: 0)
        recorder.trade(3, minute: 0)
        recorder.gap(4...4, delay: 5_000)
        recorder.trade(5, minute: 0, isSameRead: true)
        recorder.trade(2, minute: 0, isFilled: true, isSameRead: true)
        recorder.trade(6, minute: 0)
        recorder.close()
        let found = try self.check([recorder.writer.path])[0]
        #expect(found.hours.map(\.missing) == [1] && found.hours.map(\.count) == [5] && found.differences.isEmpty)
        #expect(try self.hours(of: recorder.writer.path) == found.hours)
        let merged = "\(recorder.folder.path)/merged.jsonl"
        _ = try RecordingEdits.merge([recorder.writer.path], to: merged, form: .current)
        #expect(try self.check([merged])[0].hours == found.hours)
    }

    @Test("of two runs in one hour are both there, and a header's numbers may be of any size")
    func runs() throws {
        var check = CompletenessCheck()
        for segment in [Int.max, .min, 1] {
            var header = RecordingHeader(program: "test", start: Self.hour)
            header.segment = segment
            check.fileBegan(header)
            #expect(!check.fileEnded().isContinuation)
        }
        var (first, second) = (try Recorder(), try Recorder())
        defer { for recorder in [first, second] { recorder.folder.remove() } }
        first.trade(1, minute: 1)
        first.rotate()
        first.trade(2, minute: 2)
        first.close()
        second.trade(7, minute: 7)
        second.close()
        let found = try self.check(["\(first.folder.path)/a.jsonl", first.writer.path, second.writer.path])
        #expect(found.map(\.isContinuation) == [false, true, false])
    }

    @Test("are those of all files of a run, and compared as far as the files are given")
    func files() throws {
        var recorder = try Recorder()
        defer { recorder.folder.remove() }
        recorder.trade(1, minute: 10)
        recorder.trade(2, minute: 70)
        recorder.gap(3...3)
        recorder.trade(4, minute: 71)
        recorder.rotate()
        recorder.trade(3, minute: 70, isFilled: true)
        recorder.trade(5, minute: 130)
        recorder.trade(6, minute: 190)
        recorder.close()
        let first = "\(recorder.folder.path)/a.jsonl"
        let second = recorder.writer.path
        let found = try self.check([first, second])
        #expect(found.allSatisfy { $0.differences.isEmpty && $0.uncompared == 0 }, "\(found)")
        #expect(found[0].hours.map(\.sha256).last == .some(nil) && found[0].reported == 2)
        // The hour before the last of the first file has not changed.
        #expect(found[1].reported == 3 && found[1].hours.map(\.count) == [1, 3, 1, 1])
        #expect(found[1].hours.allSatisfy { $0.sha256 != nil && $0.missing == 0 })
        let alone = try self.check([second])[0]
        #expect(alone.differences.isEmpty && alone.uncompared > 0)
    }

    @Test("that differ from the frames are found, with words")
    func differences() throws {
        var recorder = try Recorder()
        defer { recorder.folder.remove() }
        for id in 1...4 as ClosedRange<UInt64> { recorder.trade(id, minute: Int64(id)) }
        recorder.close()
        let text = try TemporaryFolder.text(of: recorder.writer.path)
        func check(_ change: (String) -> String) throws -> [String] {
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
                let changed = change(String(line))
                // With its own checksum, so that nothing else is wrong with it.
                return changed == line ? changed : String(changed.dropLast(18) + "}").sealed
            }
            let path = try recorder.folder.write(lines.joined(separator: "\n"), to: "changed.jsonl")
            return try self.check([path])[0].differences
        }
        let name = "BINANCE:BTCUSDT, hour of 2026-08-25T03:00:00Z"
        #expect(try check { $0 }.isEmpty)
        let size = try check { $0.replacing(#"q\":\"0.00300000"#, with: #"q\":\"0.00400000"#) }
        #expect(size.count == 1 && size[0].hasPrefix("\(name): SHA-256 "))
        #expect(
            try check { $0.replacing(#""count":4"#, with: #""count":5"#) }
                == ["\(name): trades 5 by the file's line, 4 by its frames"]
        )
        #expect(
            try check { $0.replacing(#""hour":1787626800000000"#, with: #""hour":1787630400000000"#) }.count == 2
        )
        var damage = 0
        _ = try RecordingCheck.check(
            try recorder.folder.write(
                text.replacing(#""missing":0"#, with: #""missing":-1"#).split(separator: "\n").map {
                    $0.contains("-1") ? String($0.dropLast(18) + "}").sealed : String($0)
                }.joined(separator: "\n") + "\n",
                to: "damaged.jsonl"
            )
        ) { if case .damaged(let reason) = $0.content, reason == "an hour without its members" { damage += 1 } }
        #expect(damage == 1)
    }

    @Test("of the plain form are judged by the ids alone")
    func plain() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let ids: [UInt64] = [1, 2, 6, 4, 2, 3, 7]
        let lines = ids.enumerated().map { place, id in
            var frame = ByteBuffer(string: Self.frame(id, time: Self.hour / 1_000_000))
            var line = ByteBuffer()
            RecordingSyntax.plainFrame(frame, at: Int64(place), into: &line)
            frame.clear()
            return String(buffer: line)
        }
        let found = try self.check([try folder.write(lines.joined(), to: "a.jsonl")])[0]
        let hour = try #require(found.hours.first)
        #expect((hour.count, hour.missing, hour.repeated, found.reported) == (6, 1, 1, 0) && hour.sha256 != nil)
    }

    @Test("are left out of files that are made from others")
    func edited() throws {
        var recorder = try Recorder()
        defer { recorder.folder.remove() }
        recorder.trade(1, minute: 1)
        recorder.close()
        let (path, folder) = (recorder.writer.path, recorder.folder.path)
        _ = try RecordingEdits.repair(path, to: "\(folder)/repaired.jsonl", form: .current)
        _ = try RecordingEdits.merge([path], to: "\(folder)/merged.jsonl", form: .current)
        for name in ["repaired", "merged"] {
            #expect(try self.hours(of: "\(folder)/\(name).jsonl").isEmpty)
            #expect(try self.check(["\(folder)/\(name).jsonl"])[0].hours.map(\.count) == [1])
        }
    }
}
