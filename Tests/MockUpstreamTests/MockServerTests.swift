import WebSocket
import Feeds
import Glibc
import Logging
import Market
import MockUpstream
import NIOCore
import NIOPosix
import Recordings
import TLS
import Testing
import TickertapeTesting
import Wire

/// A recording served by the mock server and read by the feed: a whole replay except the sinks.
@Suite("A replay through the mock server", .timeLimit(.minutes(2 * Patience.factor)))
struct MockServerTests {
    private static let quiet = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    /// Frames of ten trades, alternating between two symbols, a millisecond apart.
    private static func recording(frames: Int, symbols: [String] = ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT"]) -> String {
        var text = ""
        var number = 0
        for frame in 0..<frames {
            let trades = (0..<10).map { _ -> String in
                defer { number += 1 }
                let symbol = symbols[number % symbols.count]
                return
                    #"{\"c\":null,\"p\":\#(60_000 + number).5,\"s\":\"\#(symbol)\",\"t\":\#(1_723_161_255_000 + number),\"v\":0.0\#(number % 9 + 1)}"#
            }
            text +=
                #"{"at":\#(frame * 1_000_000),"frame":"{\"data\":[\#(trades.joined(separator: ","))],\"type\":\"trade\"}"}"#
                + "\n"
        }
        return text
    }

    private struct Replay {
        var mockServer: MockServer
        var feed: FeedService
        var log = TapeLog()
        var outcome: Task<Void, any Error>
    }

    private func replay(
        _ path: String,
        symbols: [String]? = nil,
        marks: FrameMarks? = nil,
        change: (inout MockServerSettings) -> Void = { $0.speed = nil }
    ) async throws -> Replay {
        let recording = try RecordingFile(path: path)
        let authority = try CertificateAuthority(name: "replay")
        var settings = MockServerSettings()
        settings.credentials = try authority.issue(names: ["localhost"], addresses: ["127.0.0.1"])
        if let marks { settings.marks[.finnhub] = marks }
        change(&settings)
        let mockServer = try await MockServer.start(
            recording: recording,
            settings: settings,
            on: MultiThreadedEventLoopGroup.singleton.next(),
            logger: Self.quiet,
            wallClock: { 2_000_000_000_000_000_000 }
        )
        var feedSettings = FinnhubSettings(key: Secret("replay"))
        feedSettings.upstream = UpstreamAddress(
            isEncrypted: true,
            host: "127.0.0.1",
            port: mockServer.address?.port ?? 0
        )
        feedSettings.dial.tls.trust = .certificates(pem: authority.certificatePEM)
        feedSettings.source = .replay(file: "test", speed: nil)
        feedSettings.marks = marks
        feedSettings.symbols = symbols ?? recording.symbols
        feedSettings.webSocket.pingInterval = nil
        let log = TapeLog()
        let feed = try await FinnhubFeed.make(
            settings: feedSettings,
            loop: MultiThreadedEventLoopGroup.singleton.next(),
            epoch: 1,
            readers: [log],
            logger: Self.quiet,
            wallClock: { 5 }
        )
        return Replay(mockServer: mockServer, feed: feed, log: log, outcome: Task { try await feed.run() })
    }

    @Test("brings every trade once, in order, with its frame as it was, and ends by itself")
    func everyTrade() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let replay = try await self.replay(try folder.write(Self.recording(frames: 3_000), to: "a.jsonl"))
        try await replay.outcome.value
        let contents = replay.log.contents
        #expect(contents.trades.count == 30_000)
        #expect(contents.sequences == Array(1...30_000))
        #expect(contents.trades.map(\.exchangeTime) == (0..<30_000).map { (1_723_161_255_000 + Int64($0)) * 1_000_000 })
        #expect(contents.frames.count == 3_000)
        #expect(
            contents.frames.first?.hasPrefix(
                #"{"data":[{"c":null,"p":60000.5,"s":"BINANCE:BTCUSDT","t":1723161255000,"v":0.01}"#
            )
                == true
        )
        #expect(contents.words == ["connecting", "waiting", "live", "ended"])
        #expect(contents.gaps.isEmpty)
        await replay.mockServer.stop()
    }

    @Test("gives a client only its subscribed symbols, re-encoded exactly")
    func oneSymbol() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(Self.recording(frames: 20), to: "a.jsonl")
        let replay = try await self.replay(path, symbols: ["BINANCE:ETHUSDT"])
        try await replay.outcome.value
        let contents = replay.log.contents
        #expect(contents.lines == (0..<100).map { "BINANCE:ETHUSDT \(60_001 + 2 * $0).5 0.0\((2 * $0 + 1) % 9 + 1)" })
        await replay.mockServer.stop()
    }

    @Test(
        "plays another Tickertape's trades as they were recorded, and in Finnhub's format to a client of another program"
    )
    func otherTickertape() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let arrival: Int64 = 1_723_161_256_000_000_000
        func trade(_ number: Int64, at time: Int64, _ more: String) -> String {
            "{\"type\":\"trade\",\"symbol\":\"BINANCE:BTCUSDT\",\"seq\":\(number),\"price\":\"6000\(number).10\","
                + "\"size\":\"0.0\(number)\",\"time\":\(time),\"received\":\(arrival / 1_000)\(more)}"
        }
        let frames = [
            trade(1, at: 1_723_161_255_000, ",\"id\":\"70\""),
            trade(2, at: 1_723_161_255_001, ",\"possibleRepeat\":true"),
            trade(3, at: 1_723_161_250_000, ",\"id\":\"65\",\"filled\":true"),
            trade(4, at: 1_723_171_255_000, ",\"ahead\":true"),
            #"{"data":[{"c":null,"p":60005.1,"s":"BINANCE:BTCUSDT","t":1723161255004,"v":0.05}],"type":"trade"}"#,
        ]
        var text = ByteBuffer()
        RecordingSyntax.header(
            RecordingHeader(version: 3, symbols: [], start: arrival, epoch: 1, source: "live"),
            into: &text
        )
        for (index, frame) in frames.enumerated() {
            let stamp = RecordingSyntax.Stamp(number: UInt64(index) + 1, wall: arrival, at: Int64(index) * 1_000)
            let isOther = frame.hasPrefix("{\"type")
            RecordingSyntax.frame(ByteBuffer(string: frame), of: isOther ? .tickertape : .finnhub, stamp, into: &text)
        }
        let path = try folder.write(String(buffer: text), to: "a.jsonl")
        for marks in [FrameMarks(), nil] {
            let replay = try await self.replay(path, marks: marks)
            try await replay.outcome.value
            let contents = replay.log.contents
            #expect(
                contents.lines == (1...5).map { "BINANCE:BTCUSDT 6000\($0).1 0.0\($0)" }
                    && contents.malformedFrames == 0
            )
            await replay.mockServer.stop()
            guard marks != nil else {
                #expect(contents.frames.allSatisfy { $0.hasPrefix("{\"data\":[{") }, "\(contents.frames)")
                continue
            }
            #expect(contents.frames == frames && contents.gaps.isEmpty)
            #expect(contents.trades.map(\.id) == [70, nil, 65, nil, nil])
            #expect(contents.trades.map(\.marks) == [[], .possibleRepeat, .filled, .ahead, []])
        }
    }

    @Test("refuses a symbol that the recording does not have, as the service does")
    func unknownSymbol() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(Self.recording(frames: 2), to: "a.jsonl")
        let replay = try await self.replay(path, symbols: ["NO:SUCH", "BINANCE:BTCUSDT"])
        try await replay.outcome.value
        #expect(replay.log.contents.frames.first == #"{"msg":"Invalid symbol NO:SUCH","type":"error"}"#)
        #expect(replay.log.contents.trades.count == 10)
        await replay.mockServer.stop()
    }

    @Test("holds still while its reader holds it back, and loses nothing")
    func heldBack() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(Self.recording(frames: 8_000), to: "a.jsonl")
        let replay = try await self.replay(path) { settings in
            settings.speed = nil
            settings.waitsForGo = true
        }
        #expect(await replay.log.waits { $0.words.last == "waiting" })
        replay.feed.pause()
        replay.mockServer.go()
        // The bytes that fit into the sockets' buffers may come; the 6 MB of the recording must not.
        #expect(await replay.log.waits(atMost: .milliseconds(300)) { $0.trades.count == 80_000 } == false)
        replay.feed.resume()
        try await replay.outcome.value
        #expect(replay.log.contents.sequences == Array(1...80_000))
        await replay.mockServer.stop()
    }

    @Test("a server whose address is in use reports it, even if it was to wait for the start")
    func taken() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let recording = try RecordingFile(path: try folder.write(Self.recording(frames: 1), to: "r.jsonl"))
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        var settings = MockServerSettings()
        settings.waitsForGo = true
        func start(port: Int) async throws -> MockServer {
            try await MockServer.start(
                recording: recording,
                settings: settings,
                on: loop,
                port: port,
                logger: Self.quiet,
                wallClock: { 0 }
            )
        }
        let first = try await start(port: 0)
        let port = try #require(first.address?.port)
        let error = await #expect(throws: IOError.self) { try await start(port: port) }
        #expect(error?.errnoCode == EADDRINUSE)
        await first.stop()
    }

    @Test("waits for the go")
    func waitsForGo() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(Self.recording(frames: 5), to: "a.jsonl")
        let replay = try await self.replay(path) { settings in
            settings.speed = nil
            settings.waitsForGo = true
        }
        #expect(await replay.log.waits { $0.words.last == "waiting" })
        #expect(replay.log.contents.trades.isEmpty)
        replay.mockServer.go()
        try await replay.outcome.value
        #expect(replay.log.contents.trades.count == 50)
        await replay.mockServer.stop()
    }

    @Test("restarts for a demo, with current times")
    func demo() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(Self.recording(frames: 2), to: "a.jsonl")
        let replay = try await self.replay(path) { settings in
            settings.speed = 1
            settings.repeats = true
            settings.rebasesTimes = true
        }
        #expect(await replay.log.waits { $0.trades.count >= 100 })
        let times = replay.log.contents.trades.prefix(20).map { $0.exchangeTime - 2_000_000_000_000_000_000 }
        // The clock stands still: the first frame ends now, and no later trade is in the future or before it.
        #expect(times == (0..<20).map { Int64(min($0 - 9, 0)) * 1_000_000 })
        replay.feed.stop()
        try await replay.outcome.value
        await replay.mockServer.stop()
    }

    @Test(
        "reports the fault of a file that cannot be replayed",
        arguments: [
            ("", "no recorded frame"), ("hello\nworld\n", "no recorded frame"), ("{\"at\":1}\n", "no recorded frame"),
        ]
    )
    func uselessFiles(text: String, words: String) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = try folder.write(text, to: "a.jsonl")
        let error = #expect(throws: RecordingFailure.self) { try RecordingFile(path: path) }
        #expect(error?.description.contains(words) == true)
        #expect(error?.description.contains(path) == true)
        let missing = #expect(throws: RecordingFailure.self) { try RecordingFile(path: path + ".missing") }
        #expect(missing?.description.contains("No such file") == true)
        let directory = #expect(throws: RecordingFailure.self) { try RecordingFile(path: folder.path) }
        #expect(directory?.description.contains("not a file") == true)
    }

    @Test("leaves out damaged lines and a torn end, and counts the damage")
    func damage() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let whole = Self.recording(frames: 3)
        let path = try folder.write("garbage\n" + whole + String(whole.prefix(200)), to: "a.jsonl")
        #expect(try RecordingFile(path: path).damagedLines == 1)
        let replay = try await self.replay(path)
        try await replay.outcome.value
        #expect(replay.log.contents.trades.count == 30)
        await replay.mockServer.stop()
    }
}
