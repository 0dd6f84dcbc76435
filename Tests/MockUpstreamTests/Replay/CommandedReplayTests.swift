import Ingest
import Logging
import Market
import NIOCore
import NIOPosix
import TLS
import Testing
import TickertapeTesting
import WebSocket
import Wire
@testable import Feeds
@testable import MockUpstream

/// The whole path over real sockets: the mock server, TLS, a WebSocket, the feed and its tape.
@Suite("A commanded replay", .timeLimit(.minutes(2 * Patience.factor)))
struct CommandedReplayTests {
    private static let quiet = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    private struct Replay {
        var mockServer: MockServer
        var feed: FeedService
        var log = TapeLog()
        var outcome: Task<Void, any Error>

        func remote() throws -> ReplayRemote { try #require(self.mockServer.remote) }

        func ask(_ request: ReplayRequest) async throws -> ReplayPosition {
            let remote = try self.remote()
            return try await withCheckedContinuation { continuation in
                remote.request(request) { continuation.resume(returning: $0) }
            }.get()
        }

        func end() async {
            self.feed.stop()
            try? await self.outcome.value
            await self.mockServer.stop()
        }
    }

    private func replay(
        _ material: ReplayMaterial,
        symbols: [String],
        change: (inout MockServerSettings) -> Void
    ) async throws -> Replay {
        let authority = try CertificateAuthority(name: "replay")
        var settings = MockServerSettings()
        settings.credentials = try authority.issue(names: ["localhost"], addresses: ["127.0.0.1"])
        settings.sharesClock = true
        let marks = FrameMarks()
        settings.marks = [.finnhub: marks]
        change(&settings)
        let mockServer = try await MockServer.start(
            material,
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
        feedSettings.source = .replay(file: "test", speed: settings.speed)
        feedSettings.marks = marks
        feedSettings.symbols = symbols
        feedSettings.webSocket.pingInterval = nil
        feedSettings.backoff.first = 1_000_000
        feedSettings.watch.freshness.lateAfter = 1_000_000_000
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

    private static func numbers(_ contents: TapeLog.Contents) -> [Int] {
        contents.trades.compactMap(ReplayRecording.number)
    }

    @Test("steps, seeks and continues; numbers have no hole, and each move is a gap with its cause")
    func commands() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let text = ReplayRecording.text((0..<100).map { .trade(at: $0 * 100, number: $0) })
        let recording = try RecordingFile(path: try folder.write(text, to: "a.jsonl"))
        let replay = try await self.replay(.recording(recording), symbols: ["A"]) { $0.replay.machine.isPaused = true }
        #expect(await replay.log.waits { $0.words.filter { $0 != "late" } == ["connecting", "waiting"] })
        _ = try await replay.ask(.stepMessages(3))
        #expect(await replay.log.waits { $0.trades.count == 3 })
        let moved = try await replay.ask(.seek(.offset(5_000_000_000)))
        #expect(moved.percent > 50 && moved.isPaused)
        #expect(await replay.log.waits { $0.trades.count == 4 })
        _ = try await replay.ask(.seek(.offset(200_000_000)))
        #expect(await replay.log.waits { $0.trades.count == 5 })
        // The same frame again is the result of the request, and not a repeat by the service.
        _ = try await replay.ask(.seek(.offset(200_000_000)))
        #expect(await replay.log.waits { $0.trades.count == 6 })
        _ = try await replay.ask(.speed(nil))
        _ = try await replay.ask(.resume)
        #expect(await replay.log.waits { $0.trades.count == 6 + 97 })
        try await replay.outcome.value
        let contents = replay.log.contents
        #expect(Self.numbers(contents) == [0, 1, 2, 50, 2, 2] + Array(3..<100))
        #expect(contents.sequences == Array(1...103))
        #expect(contents.gaps.map(\.nextSequence) == [4, 5, 6])
        #expect(contents.gaps.allSatisfy { $0.cause == .seek && $0.overlap == nil })
        #expect(contents.gaps.first?.reason == "the replay was moved forward by 4.800 s")
        #expect(contents.order.filter { $0 == "gap" }.count == 3)
        // Only the market's frames came.
        #expect(contents.frames.count == 103)
        #expect(contents.statuses.contains { $0.source == .replay(file: "test", speed: nil) })
        await replay.mockServer.stop()
    }

    @Test("a paused replay is neither late nor stale, however long the pause")
    func pausedIsNotStale() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let text = ReplayRecording.text((0..<3).map { .trade(at: $0 * 3_600_000, number: $0) })
        let recording = try RecordingFile(path: try folder.write(text, to: "a.jsonl"))
        let paused = try await self.replay(.recording(recording), symbols: ["A"]) { $0.replay.machine.isPaused = true }
        #expect(await paused.log.waits { $0.words.last == "waiting" })
        _ = try await paused.ask(.stepMessages(1))
        #expect(await paused.log.waits { $0.words.last == "live" })
        // A replay that goes on is silent for as long, and reports it.
        let playing = try await self.replay(.recording(recording), symbols: ["A"]) { _ in }
        #expect(await playing.log.waits { $0.words.suffix(2) == ["live", "late"] })
        // On a machine that stalls for a second before the feed learns of the pause, the feed is late once before it is
        // live.
        let words = paused.log.contents.words
        #expect(words.filter { $0 != "late" } == ["connecting", "waiting", "live"] && words.last == "live", "\(words)")
        _ = try await paused.ask(.resume)
        #expect(await paused.log.waits { $0.words.last == "late" })
        await playing.end()
        await paused.end()
    }

    @Test("where the simulated market has gaps the connection breaks, is made again, and the gap is on the tape")
    func breaks() async throws {
        var run = SimulatedRun.Settings(market: SimulatedMarket.Settings(seed: 1))
        run.gapInterval = 20_000_000_000
        run.gapLength = 1_000_000_000
        let replay = try await self.replay(.market(run), symbols: ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT"]) {
            $0.speed = 10
            $0.replay.hasBreaks = true
        }
        #expect(await replay.log.waits { $0.words.contains("reconnecting") })
        #expect(await replay.log.waits { !$0.gaps.isEmpty })
        let refused = await #expect(throws: ReplayRefusal.self) { try await replay.ask(.seek(.percent(0))) }
        #expect(refused?.description.hasPrefix("a simulated market") == true)
        await replay.end()
        let contents = replay.log.contents
        #expect(contents.sequences == Array(1...UInt64(contents.trades.count)))
    }
}
