import Market
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

@Suite("The recorder")
struct RecorderTests {
    private static let frames = [
        #"{"data":[{"c":null,"p":61837.63,"s":"BINANCE:BTCUSDT","t":1723161255342,"v":0.02}],"type":"trade"}"#,
        #"{"type":"ping"}"#,
        "{\"msg\":\"odd \\\"text\\\" with \\\\ and ümläuts\",\"type\":\"error\"}",
    ]

    private func recorder(
        _ path: String,
        epoch: UInt64? = nil,
        dialect: FrameDialect = .finnhub,
        settings: RecorderSettings = RecorderSettings()
    ) throws -> Recorder {
        try Recorder(
            path: path,
            symbols: ["BINANCE:BTCUSDT"],
            started: 1_000,
            program: "test",
            epoch: epoch,
            dialect: dialect,
            settings: settings,
            clock: RecorderClock(wall: { 1_900_000 }, monotonic: { 1_000 }),
            printError: { Issue.record("\($0)") }
        )
    }

    private func batch(_ frames: [String], received: Int64) -> TapeBatch {
        TapeBatch(
            epoch: 1,
            firstSequence: 1,
            received: received,
            receivedMonotonic: received,
            trades: [],
            frames: frames.map { TapeBatch.Frame(bytes: ByteBuffer(string: $0), trades: 0..<0, isWhole: true) },
            symbols: SymbolTable()
        )
    }

    private func events(of text: String) -> [RecordingEvent] {
        var reader = RecordingParser()
        reader.feed(ByteBuffer(string: text))
        reader.finish()
        var events: [RecordingEvent] = []
        while let event = reader.nextEvent() { events.append(event) }
        return events
    }

    @Test("writes a gap between the frames around it and does not count it as a frame")
    func gaps() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let recorder = try self.recorder("\(folder.path)/a.jsonl")
        let gap = Gap(from: 1_500_000, to: 1_900_000, reason: "lost \"it\"\n", nextSequence: 4, epoch: 7, overlap: 2)
        let open = Gap(from: 1_600_000, to: 1_700_000, reason: "", nextSequence: 5)
        recorder.read(self.batch([Self.frames[0]], received: 1_500))
        recorder.gapFound(gap)
        recorder.gapFound(open)
        recorder.read(self.batch([Self.frames[0]], received: 1_900))
        let report = await recorder.finishPatiently()
        #expect(report.frames == 2)
        let found = self.events(of: try folder.read("a.jsonl")).compactMap { event -> (Int64, Gap)? in
            guard case .gap(let recorded) = event else { return nil }
            return (recorded.at, recorded.gap)
        }
        #expect(found.map(\.0) == [500, 500] && found.map(\.1) == [gap, open])
    }

    @Test("writes which trades of a frame may be repeats, and which were ahead, by their indices in its text")
    func possibleRepeats() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let recorder = try self.recorder("\(folder.path)/a.jsonl", epoch: 1)
        var batch = self.batch(["one", "two"], received: 1_500)
        batch.trades = (0..<5).map {
            Trade(
                price: .zero,
                size: .zero,
                exchangeTime: 0,
                symbol: SymbolID(index: 0),
                marks: [[], .ahead, [], .possibleRepeat, [.possibleRepeat, .ahead]][$0]
            )
        }
        batch.losses.possibleRepeats = 2
        batch.aheadArrival = 1
        batch.frames[0].trades = 0..<2
        batch.frames[1].trades = 2..<5
        batch.frames[1].leftOut = [0, 2]
        recorder.read(batch)
        _ = await recorder.finishPatiently()
        let text = try folder.read("a.jsonl")
        let numbers = self.events(of: text).compactMap { event -> RecordedNumbers? in
            if case .frame(let frame) = event { frame.numbers } else { nil }
        }
        #expect(
            numbers == [
                RecordedNumbers(first: 1, count: 2, ahead: [1]),
                RecordedNumbers(first: 3, count: 3, leftOut: [0, 2], possibleRepeats: [3, 4], ahead: [4]),
            ],
            "\(text)"
        )
    }

    @Test("writes the text of a close frame, and of a ping where it is valid")
    func connection() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let recorder = try self.recorder("\(folder.path)/a.jsonl")
        let events: [ConnectionEvent] = [
            .ping(.incoming, payload: ByteBuffer(string: "h\"i")),
            .pong(.outgoing, payload: ByteBuffer(bytes: [0xFF, 1])),
            .ping(.outgoing), .disconnected(code: 1008, reason: "ours", cause: .closed, goodbye: "API limit"),
            .disconnected(code: nil, reason: "ours", cause: .lost),
            .disconnected(code: nil, reason: "", cause: .closed, goodbye: ""),
        ]
        for event in events { recorder.connectionChanged(event, monotonic: 2_000) }
        _ = await recorder.finishPatiently()
        var reader = RecordingParser()
        reader.feed(ByteBuffer(string: try folder.read("a.jsonl")))
        var notes: [RecordedNote] = []
        while let line = reader.nextLine() { if case .note(let note) = line.content { notes.append(note) } }
        #expect(notes.map(\.kind) == [.ping, .pong, .ping, .disconnect, .disconnect, .disconnect, .end])
        #expect(notes.map(\.direction) == [.incoming, .outgoing, .outgoing, .incoming, nil, .incoming, nil])
        #expect(notes.map { $0.frame.map { String(buffer: $0) } } == ["h\"i", nil, nil, "API limit", nil, nil, nil])
        #expect(notes[3].code == 1008 && notes[3].reason == "ours" && notes[3].cause == "closed")
    }

    @Test("writes every frame verbatim, with its arrival, after a header")
    func frames() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let recorder = try self.recorder("\(folder.path)/a.jsonl")
        recorder.read(self.batch(Array(Self.frames[0...1]), received: 1_500))
        recorder.read(self.batch([Self.frames[2]], received: 2_000_001_000))
        let report = await recorder.finishPatiently()
        let text = try folder.read("a.jsonl")
        #expect(report.frames == 3)
        #expect(report.bytes == UInt64(text.utf8.count))
        #expect(report.dropped == 0)
        let events = self.events(of: text)
        var header = RecordingHeader(program: "test", symbols: ["BINANCE:BTCUSDT"], start: 1_000)
        (header.monotonic, header.segment, header.first) = (1_000, 1, 1)
        #expect(events.first == .header(header))
        let frames = events.compactMap { event in
            if case .frame(let frame) = event { (frame.at, String(buffer: frame.frame)) } else { nil }
        }
        #expect(frames.map(\.0) == [500, 500, 2_000_000_000])
        #expect(frames.map(\.1) == Self.frames)
    }

    @Test("never lets the times go back, though the wall clock may: a frame from before the start could not be read")
    func clockBack() async throws {
        let folder = try TemporaryFolder()
        let recorder = try self.recorder("\(folder.path)/a.jsonl")
        for received: Int64 in [1_500, 400, 1_600] {
            recorder.read(self.batch([Self.frames[1]], received: received))
        }
        _ = await recorder.finishPatiently()
        let times = self.events(of: try folder.read("a.jsonl")).compactMap { event in
            if case .frame(let frame) = event { frame.at } else { nil }
        }
        #expect(times == [500, 500, 600])
    }

    @Test("completes the file even in a cancelled task")
    func cancelled() async throws {
        let folder = try TemporaryFolder()
        let recorder = try self.recorder("\(folder.path)/a.jsonl")
        recorder.read(self.batch(Self.frames, received: 2_000))
        let finish = Task {
            while !Task.isCancelled { await Task.yield() }
            return await recorder.finishPatiently()
        }
        finish.cancel()
        #expect(await finish.value.frames == 3)
        #expect(self.events(of: try folder.read("a.jsonl")).count == 4)
    }

    @Test("never overwrites a file but takes the next name, and says what to do where it cannot")
    func existing() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write("evidence", to: "a.jsonl")
        // Otherwise the start would compress the complete file.
        var settings = RecorderSettings()
        settings.compresses = false
        let recorder = try self.recorder(path, settings: settings)
        #expect(recorder.path == "\(folder.path)/a-0002.jsonl")
        _ = await recorder.finishPatiently()
        #expect(try folder.read("a.jsonl") == "evidence")
        #expect(self.events(of: try folder.read("a-0002.jsonl")).count == 1)
        let error = #expect(throws: (any Error).self) { try self.recorder("\(folder.path)/none/a.jsonl") }
        #expect("\(error.map { "\($0)" } ?? "")".contains("choose another file"))
    }

    @Test("takes no more frames once it is finished, and the file is whole")
    func finished() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let recorder = try self.recorder("\(folder.path)/a.jsonl")
        for number in 0..<1_000 { recorder.read(self.batch([Self.frames[0]], received: Int64(1_000 + number))) }
        #expect(await recorder.finishPatiently().frames == 1_000)
        recorder.read(self.batch([Self.frames[0]], received: 9_999))
        let text = try folder.read("a.jsonl")
        #expect(text.hasSuffix("}\n"))
        #expect(self.events(of: text).count == 1_001)
    }
}
