import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Recordings
import Testing
import TickertapeTesting
import Wire
@testable import MockUpstream

/// Trades over REST from mock servers, over sockets.
@Suite("A mock server's REST service", .timeLimit(.minutes(2 * Patience.factor)))
struct RestServerTests {
    private static func serve(
        _ frames: [(FrameDialect, ByteBuffer)],
        in folder: TemporaryFolder,
        faults: String...,
        happened: @escaping @Sendable (Int, String) -> Void = { _, _ in }
    ) async throws -> MockServer {
        var recording = RecordingBuffer(RecordingHeader(version: RecordingHeader.dialectVersion, start: 1))
        for (index, frame) in frames.enumerated() {
            recording.frame(frame.1, of: frame.0, at: Int64(index) * 1_000)
        }
        recording.end()
        let path = try folder.write(String(buffer: recording.bytes), to: "a.jsonl")
        var settings = MockServerSettings()
        settings.speed = nil
        settings.faults = try FaultPlan(parsing: faults)
        settings.faultHappened = happened
        return try await MockServer.start(
            recording: try RecordingFile(path: path),
            settings: settings,
            on: MultiThreadedEventLoopGroup.singleton.next(),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
            wallClock: { 1_787_628_957_000_000_000 }
        )
    }

    private static func frame(_ id: Int) -> (FrameDialect, ByteBuffer) {
        (.binance, ByteBuffer(string: VenueServerTests.binance("BTCUSDT", id)))
    }

    /// Plays the recording to a client until a trade has come.
    private static func play(_ server: MockServer, until id: Int) async throws -> RawClient {
        let client = try await RawClient(server)
        client.upgrade("/stream")
        client.send(#"{"method":"SUBSCRIBE","params":["btcusdt@trade"],"id":1}"#)
        let hasCome = await client.waits { $0.contains(#""t":\#(id),"#) }
        #expect(hasCome)
        return client
    }

    @Test("has the trades that were played, withheld ones and those of recorded exchanges, too")
    func played() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let exchange = VenueExchange(
            target: "/api/v3/historicalTrades?symbol=BTCUSDT&fromId=3&limit=2",
            body: BinanceTradeList.encode(PlayedSamples.trades([3, 4]))
        )
        let server = try await Self.serve(
            [Self.frame(1), Self.frame(2), Self.frame(5), (.binanceREST, exchange.frame), Self.frame(6)],
            in: folder,
            faults: "withhold=1@1"
        )
        let client = try await RawClient(server)
        client.upgrade("/stream")
        client.send(#"{"method":"SUBSCRIBE","params":["btcusdt@trade"],"id":1}"#)
        let hasEnded = await client.waits { $0.contains(ReplayEnd.closeReason) }
        #expect(hasEnded && !client.text.contains("@trade") && !client.text.contains("fromId"))
        let rest = try await RawClient(server)
        rest.request("/api/v3/historicalTrades?symbol=BTCUSDT&fromId=2&limit=1000")
        let hasCome = await rest.waits { text in
            [2, 3, 4, 5, 6].allSatisfy { text.contains(#"{"id":\#($0),"price":"#) } && !text.contains(#"{"id":1,"#)
        }
        #expect(hasCome, "\(rest.text)")
        #expect(rest.text.lowercased().contains("x-mbx-used-weight-1m: 25"))
        await client.close()
        await rest.close()
        await server.stop()
    }

    @Test("ends a connection after half of an answer, answers late, and reports both")
    func cut() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let reports = NIOLockedValueBox<[String]>([])
        let server = try await Self.serve(
            [Self.frame(1), Self.frame(2)],
            in: folder,
            faults: "rest-cut@1",
            "rest-slow=20ms@2",
            happened: { _, fault in reports.withLockedValue { $0.append(fault) } }
        )
        let client = try await Self.play(server, until: 2)
        let target = "/api/v3/trades?symbol=BTCUSDT"
        let half = try await RawClient(server)
        half.request(target)
        try await half.waitForEnd()
        #expect(half.text.contains(#"[{"id":1,"#) && !half.text.contains("]"))
        let late = try await RawClient(server)
        let start = ContinuousClock.now
        late.request(target)
        let hasCome = await late.waits { $0.contains("]") }
        #expect(hasCome && ContinuousClock.now - start >= .milliseconds(20))
        #expect(reports.withLockedValue { $0 } == ["rest-cut", "rest-slow=20ms"])
        await client.close()
        await late.close()
        await server.stop()
    }

    @Test("counts the lists of symbols against the same limit")
    func lists() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try await Self.serve([Self.frame(1)], in: folder)
        let client = try await RawClient(server)
        client.request("/api/v3/exchangeInfo")
        let hasCome = await client.waits { $0.lowercased().contains("x-mbx-used-weight-1m: 20") }
        #expect(hasCome, "\(client.text)")
        await client.close()
        await server.stop()
    }
}
