import Glibc
import Market
import NIOCore
import Platform
import Recordings
import Testing
import TickertapeTesting
import Wire

@Suite("Recordings of earlier runs")
struct EarlierRecordingsTests {
    private static let now = SystemClock.now().wall / 1_000_000_000 * 1_000_000_000

    private func recorder(
        _ path: String,
        epoch: UInt64?,
        run: UInt64? = nil,
        source: String? = "live",
        segmentBytes: UInt64 = 1 << 30
    ) throws -> Recorder {
        var settings = RecorderSettings()
        settings.segmentBytes = segmentBytes
        return try Recorder(
            path: path,
            symbols: ["BINANCE:BTCUSDT"],
            started: Self.now,
            program: "test",
            epoch: epoch,
            run: run,
            dialect: .finnhub,
            source: source,
            settings: settings,
            clock: RecorderClock(wall: { Self.now }, monotonic: { Self.now }),
            printError: { Issue.record("\($0)") }
        )
    }

    /// Records `count` trades, in batches of two frames, one of which holds a trade.
    private func record(_ path: String, epoch: UInt64, count: Int, source: String? = "live") async throws {
        let recorder = try self.recorder(path, epoch: epoch, source: source)
        self.feed(recorder, epoch: epoch, count: count)
        let report = await recorder.finishPatiently()
        #expect(report.isWhole)
    }

    private func feed(_ recorder: Recorder, epoch: UInt64, first: UInt64 = 1, count: Int) {
        var tape = Tape(epoch: epoch, next: first)
        var symbols = SymbolTable()
        var parser = FinnhubParser()
        for number in 1...count {
            var trades: [Trade] = []
            let frame = ByteBuffer(
                string:
                    #"{"data":[{"c":null,"p":\#(number),"s":"BINANCE:BTCUSDT","t":1723161255342,"v":1}],"type":"trade"}"#
            )
            _ = parser.parse(frame, symbols: &symbols, into: &trades)
            recorder.read(
                TapeBatch(
                    epoch: epoch,
                    firstSequence: tape.append(count: trades.count),
                    received: Self.now + Int64(number) * 1_000,
                    receivedMonotonic: Self.now + Int64(number) * 1_000,
                    trades: trades,
                    frames: [
                        TapeBatch.Frame(bytes: ByteBuffer(string: #"{"type":"ping"}"#), trades: 0..<0, isWhole: true),
                        TapeBatch.Frame(bytes: frame, trades: 0..<1, isWhole: true),
                    ],
                    symbols: symbols
                )
            )
        }
    }

    private func found(
        in folder: TemporaryFolder,
        _ change: (inout EarlierRecordings.Limits) -> Void = { _ in }
    ) -> [RecordedTrades] {
        var limits = EarlierRecordings.Limits()
        limits.time = 60_000_000_000 * Int64(Patience.factor)
        change(&limits)
        return EarlierRecordings(folder: folder.path, limits: limits).trades(now: Self.now)
    }

    @Test("return their trades with their numbers, the oldest run first, however long the files are")
    func finds() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        // More than one block.
        try await self.record("\(folder.path)/a.jsonl", epoch: 11, count: 9_000)
        try await self.record("\(folder.path)/b.jsonl", epoch: 12, count: 3)
        let runs = self.found(in: folder)
        try #require(runs.map(\.epoch) == [11, 12])
        #expect(runs.map(\.sequences) == [1..<9_001, 1..<4])
        #expect(runs[0].trades.map { "\($0.price)" } == (1...9_000).map { "\($0)" })
        #expect(runs[1].received == [Self.now + 1_000, Self.now + 2_000, Self.now + 3_000])
        #expect(self.found(in: folder) { $0.trades = 5 }.map(\.sequences) == [8_999..<9_001, 1..<4])
    }

    @Test("have the epochs and numbers of the tape, if those are another program's; each epoch has a file of its own")
    func epochs() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/edge.jsonl"
        let status = FeedStatus(source: .live, phase: .connecting, since: 0)
        for run: UInt64 in [5, 6] {
            let recorder = try self.recorder(path, epoch: nil, run: run)
            recorder.statusChanged(status)
            self.feed(recorder, epoch: 11, first: run == 5 ? 18 : 30, count: 4)
            if run == 6 {
                self.feed(recorder, epoch: 12, count: 3)
                recorder.statusChanged(status)
                self.feed(recorder, epoch: 12, first: 4, count: 2)
            }
            let report = await recorder.finishPatiently()
            #expect(report.isWhole && report.segments == (run == 5 ? 1 : 2))
        }
        // The second run goes on in the epoch of the first one, with trades missing in between.
        let runs = self.found(in: folder)
        try #require(runs.map(\.epoch) == [11, 12])
        #expect(runs.map(\.sequences) == [30..<34, 1..<6])

        func stream(_ name: String) throws -> [RecordingHeader] {
            try RecordingStream(path: "\(folder.path)/\(name)").segments.map(\.header)
        }
        let first = try stream("edge.jsonl")
        #expect(first.map(\.epoch) == [11] && first.map(\.run) == [5] && first[0].first == 1)
        let second = try stream("edge-0002.jsonl")
        #expect(second.map(\.epoch) == [11, 12] && second.map(\.run) == [6, 6] && second.map(\.segment) == [1, 2])
        #expect(try folder.read("edge.jsonl").contains(#","epoch":11,"run":5,"#))

        // A piece of both files has no loss between them.
        let cut = try RecordingEdits.cut(
            "\(folder.path)/edge-0002.jsonl",
            RecordingEdits.Cut(),
            to: "\(folder.path)/piece.jsonl",
            form: .current
        )
        #expect(cut.losses == 0 && cut.frames == 18, "\(cut)")
    }

    @Test("a program without a cluster that begins a new epoch names its own run beside it")
    func renewed() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let recorder = try self.recorder("\(folder.path)/a.jsonl", epoch: 11)
        self.feed(recorder, epoch: 11, count: 2)
        self.feed(recorder, epoch: 12, count: 3)
        _ = await recorder.finishPatiently()
        let headers = try RecordingStream(path: "\(folder.path)/a.jsonl").segments.map(\.header)
        #expect(headers.map(\.epoch) == [11, 12] && headers.map(\.writerRun) == [nil, 11])
        #expect(self.found(in: folder).map(\.sequences) == [1..<3, 1..<4])
    }

    @Test("a file that gets no trade for long begins without an epoch, and another one follows with it")
    func noTrade() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let header = RecordingHeader(version: 2, program: "test", start: Self.now, source: "live")
        var edge = header
        edge.writerRun = 5
        var writer = try RecordingWriter(
            names: SegmentNames(first: "\(folder.path)/a.jsonl"),
            header: edge,
            monotonic: 0,
            settings: RecorderSettings(),
            disk: SystemDisk()
        )
        func note(_ second: Int64) {
            let at = second * 1_000_000_000
            writer.append(note: RecordedNote(.state, word: "connecting"), wall: Self.now + at, monotonic: at)
            writer.flush(now: at)
        }
        note(1)
        #expect(try folder.read("a.jsonl").isEmpty)
        note(6)
        #expect(try folder.read("a.jsonl").split(separator: "\n").count == 3)
        writer.append(
            frame: ByteBuffer(string: #"{"data":[{"c":null,"p":1,"s":"A","t":1723161255342,"v":1}],"type":"trade"}"#),
            of: .finnhub,
            received: Self.now + 7_000_000_000,
            monotonic: 7_000_000_000,
            numbers: RecordedNumbers(first: 18, count: 1),
            epoch: 11
        )
        writer.close(wall: Self.now + 8_000_000_000, monotonic: 8_000_000_000)
        let headers = try RecordingStream(path: "\(folder.path)/a.jsonl").segments.map(\.header)
        #expect(headers.map(\.epoch) == [nil, 11] && headers.map(\.run) == [5, 5])
    }

    @Test("are read over all files of a run, compressed or not, as one")
    func segments() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let recorder = try self.recorder("\(folder.path)/a.jsonl", epoch: 11, segmentBytes: 300_000)
        self.feed(recorder, epoch: 11, count: 9_000)
        let report = await recorder.finishPatiently()
        #expect(report.segments > 3 && report.frames == 18_000)
        #expect(self.found(in: folder).map(\.sequences) == [1..<9_001])
        #expect(SegmentUpkeep(SegmentNames(first: "\(folder.path)/a.jsonl")).pack() == [])
        let packed = SegmentNames(first: "\(folder.path)/a.jsonl").all()
        #expect(packed.count == report.segments && packed.allSatisfy(\.isPacked))
        let runs = self.found(in: folder)
        #expect(runs.map(\.sequences) == [1..<9_001])
        #expect(runs.first?.trades.map { "\($0.price)" } == (1...9_000).map { "\($0)" })
    }

    @Test("are read in the order of their numbers where the file times are equal, as with copies")
    func equalTimes() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let recorder = try self.recorder("\(folder.path)/a.jsonl", epoch: 11, segmentBytes: 300_000)
        self.feed(recorder, epoch: 11, count: 9_000)
        let report = await recorder.finishPatiently()
        #expect(report.segments > 3)
        let paths = SegmentNames(first: "\(folder.path)/a.jsonl").all().map(\.path)
        let touch = try RunningProgram("/usr/bin/touch", ["-d", "@\(Self.now / 1_000_000_000)"] + paths)
        #expect(await touch.ending() == .exit(0), "\(touch.errors)")
        #expect(self.found(in: folder).map(\.sequences) == [1..<9_001])
    }

    @Test("are read to their end even if a part cut out of them has a newer file time")
    func cutOut() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try await self.record("\(folder.path)/a.jsonl", epoch: 11, count: 3_000)
        var cut = RecordingEdits.Cut()
        cut.from = Self.now + 500_000
        cut.to = Self.now + 2_000_000
        let target = "\(folder.path)/part.jsonl"
        _ = try RecordingEdits.cut("\(folder.path)/a.jsonl", cut, to: target, form: .current)
        let old = try RunningProgram(
            "/usr/bin/touch",
            ["-d", "@\(Self.now / 1_000_000_000 - 60)", "\(folder.path)/a.jsonl"]
        )
        #expect(await old.ending() == .exit(0), "\(old.errors)")
        let runs = self.found(in: folder)
        #expect(runs.map(\.sequences) == [1..<3_001])
        #expect(runs.first?.trades.map { "\($0.price)" } == (1...3_000).map { "\($0)" })
        // Also where the part alone has as many trades as the limit.
        #expect(self.found(in: folder) { $0.trades = 100 }.map(\.sequences) == [2_901..<3_001])
    }

    @Test("are left alone while they are being written, when they are not of the market, and when they are copies")
    func leavesAlone() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try await self.record("\(folder.path)/replay.jsonl", epoch: 1, count: 3, source: "replay")
        try await self.record("\(folder.path)/other.txt", epoch: 2, count: 3)
        let running = try self.recorder("\(folder.path)/running.jsonl", epoch: 3)
        self.feed(running, epoch: 3, count: 3)
        try await self.record("\(folder.path)/a.jsonl", epoch: 4, count: 3)
        _ = try folder.write(try folder.read("a.jsonl"), to: "copy.jsonl")
        _ = try folder.write("", to: "empty.jsonl")
        _ = try folder.write("no recording", to: "nonsense.jsonl")
        #expect(mkfifo("\(folder.path)/pipe.jsonl", 0o600) == 0)
        #expect(self.found(in: folder).map(\.epoch) == [4])
        _ = await running.finishPatiently()
        #expect(self.found(in: folder).map(\.epoch) == [3, 4])
    }

    @Test("are read only as far as the limits allow, and the trades found have no hole")
    func obeysLimits() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try await self.record("\(folder.path)/a.jsonl", epoch: 4, count: 2_000)
        let some = try #require(self.found(in: folder) { $0.bytes = 10_000 }.first)
        #expect(some.sequences.upperBound == 2_001 && some.sequences.count > 10 && some.sequences.count < 100)
        #expect(self.found(in: folder) { $0.time = -1 }.isEmpty)
        #expect(self.found(in: folder) { $0.files = 0 }.isEmpty)
        #expect(EarlierRecordings(folder: "\(folder.path)/none").trades(now: Self.now).isEmpty)
        // More than ten minutes later every trade is too old.
        #expect(EarlierRecordings(folder: folder.path).trades(now: Self.now + 700_000_000_000).isEmpty)
    }
}
