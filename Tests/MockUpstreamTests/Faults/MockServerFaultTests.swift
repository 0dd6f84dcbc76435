import TLS
import Feeds
import Logging
import Market
import MockUpstream
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing
import TickertapeTesting

/// The mock server of `tickertape serve`, with faults, with too many clients, and with hostile ones.
@Suite("A mock server with faults and hostile clients", .timeLimit(.minutes(2 * Patience.factor)))
struct MockServerFaultTests {
    private static let quiet = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    private static let loop = MultiThreadedEventLoopGroup.singleton.next()

    private static func recording(frames: Int) -> String {
        (0..<frames).map {
            #"{"at":\#($0),"frame":"{\"data\":[{\"c\":null,\"p\":\#(1_000 + $0),\"s\":\"A\",\"t\":\#(1_723_161_255_000 + $0),\"v\":1}],\"type\":\"trade\"}"}"#
                + "\n"
        }.joined()
    }

    private func serve(
        frames: Int = 3,
        change: (inout MockServerSettings) throws -> Void = { _ in }
    ) async throws -> (MockServer, TemporaryFolder) {
        let folder = try TemporaryFolder()
        let path = try folder.write(Self.recording(frames: frames), to: "a.jsonl")
        var settings = MockServerSettings()
        settings.speed = nil
        try change(&settings)
        let mockServer = try await MockServer.start(
            recording: try RecordingFile(path: path),
            settings: settings,
            on: Self.loop,
            logger: Self.quiet,
            wallClock: { 1 }
        )
        return (mockServer, folder)
    }

    private func feed(
        on mockServer: MockServer,
        backoff: Int64 = 1_000_000
    ) async throws -> (FeedService, TapeLog, Task<Void, any Error>) {
        var settings = FinnhubSettings(key: Secret("a secret key"))
        settings.upstream = UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: mockServer.address?.port ?? 0)
        settings.symbols = ["A"]
        settings.source = .replay(file: "test", speed: nil)
        settings.backoff.first = backoff
        // A busy machine must not make the silence of a waiting feed late.
        settings.watch.freshness.lateAfter = 3_600_000_000_000
        let log = TapeLog()
        let feed = try await FinnhubFeed.make(
            settings: settings,
            loop: Self.loop,
            epoch: 1,
            readers: [log],
            logger: Self.quiet,
            wallClock: { 1 },
            chance: { 1 }
        )
        return (feed, log, Task { try await feed.run() })
    }

    /// Connects a socket that sends `bytes` and then waits for its end.
    private func client(_ mockServer: MockServer, says bytes: [UInt8] = []) async throws -> any Channel {
        let address = try #require(mockServer.address)
        let channel = try await ClientBootstrap(group: Self.loop).connect(to: address).get()
        if !bytes.isEmpty { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }
        return channel
    }

    @Test("plays its recording to the end through duplicates, garbage and frames out of order, and loses none")
    func wholeRecording() async throws {
        let reported = NIOLockedValueBox<[String]>([])
        let (mockServer, folder) = try await self.serve(frames: 2_000) { settings in
            settings.faults = try FaultPlan(
                parsing: ["duplicate=0.05", "reorder=0.05", "garbage=0.02", "drop=upgrade@1", "error=hello@2"]
            )
            settings.faultHappened = { connection, fault in
                reported.withLockedValue { $0.append("\(connection) \(fault)") }
            }
        }
        let (_, log, outcome) = try await self.feed(on: mockServer)
        try await outcome.value
        let lines = log.contents.lines
        #expect(lines.count >= 2_000)
        #expect(Set(lines) == Set((0..<2_000).map { "A \(1_000 + $0) 1" }))
        #expect(log.contents.words.last == "ended")
        #expect(reported.withLockedValue { $0 } == ["1 drop=upgrade", #"2 {"msg":"hello","type":"error"}"#])
        await mockServer.stop()
        folder.remove()
    }

    @Test("buffers no more than a slow line takes at any speed, and loses nothing")
    func slowReplay() async throws {
        let (mockServer, folder) = try await self.serve(frames: 2_000) { settings in
            settings.faults = try FaultPlan(parsing: ["slow=500kB/s"])
        }
        let (_, log, outcome) = try await self.feed(on: mockServer)
        try await outcome.value
        #expect(log.contents.lines == (0..<2_000).map { "A \(1_000 + $0) 1" })
        await mockServer.stop()
        folder.remove()
    }

    @Test("disconnects a client beyond the limit, and accepts another when a place is free again")
    func limit() async throws {
        let (mockServer, folder) = try await self.serve { $0.connectionLimit = 2 }
        let first = try await self.client(mockServer)
        let second = try await self.client(mockServer)
        try await self.client(mockServer).closeFuture.get()
        #expect(first.isActive && second.isActive)
        try await first.close().get()
        let (_, log, outcome) = try await self.feed(on: mockServer)
        try await outcome.value
        #expect(log.contents.trades.count == 3)
        try? await second.close().get()
        await mockServer.stop()
        folder.remove()
    }

    @Test("survives clients that send any bytes, with and without faults")
    func hostile() async throws {
        for faults in [[], ["hang=upgrade"], ["slow=1kB/s", "garbage=1", "huge=1MB"], ["half-open"], ["rst=tcp"]] {
            let (mockServer, folder) = try await self.serve(frames: 50) { settings in
                settings.faults = try FaultPlan(parsing: faults.map { $0 + "@1-30" })
            }
            let handshake =
                "GET /?token=x HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
            var generator = SystemRandomNumberGenerator()
            for number in 0..<30 {
                var bytes = number % 2 == 0 ? Array(handshake.utf8) : []
                if number % 3 == 0 { bytes = Array(bytes.dropLast(Int.random(in: 0...20, using: &generator))) }
                bytes += (0..<Int.random(in: 0..<3_000, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                }
                let channel = try await self.client(mockServer, says: bytes)
                if number % 5 != 0 { try? await channel.close().get() }
            }
            let (_, log, outcome) = try await self.feed(on: mockServer)
            try await outcome.value
            #expect(log.contents.trades.count == 50, "\(faults)")
            await mockServer.stop()
            folder.remove()
        }
    }

    @Test("throws out the older of two connections with one key, as the service does")
    func oneConnectionPerKey() async throws {
        let (mockServer, folder) = try await self.serve { settings in
            settings.oneConnectionPerKey = .older
            settings.waitsForGo = true
        }
        let (first, firstLog, firstOutcome) = try await self.feed(on: mockServer, backoff: 60_000_000_000)
        #expect(await firstLog.waits { $0.words.last == "waiting" })
        let (second, secondLog, secondOutcome) = try await self.feed(on: mockServer, backoff: 60_000_000_000)
        #expect(await firstLog.waits { $0.words.last == "reconnecting" })
        #expect(await secondLog.waits { $0.words.last == "waiting" })
        first.stop()
        second.stop()
        try await firstOutcome.value
        try await secondOutcome.value
        await mockServer.stop()
        folder.remove()
    }

    @Test("refuses a second connection with one key by a 429")
    func secondIsRefused() async throws {
        let (mockServer, folder) = try await self.serve { settings in
            settings.oneConnectionPerKey = .refuse
            settings.waitsForGo = true
        }
        let (first, firstLog, firstOutcome) = try await self.feed(on: mockServer)
        #expect(await firstLog.waits { $0.words.last == "waiting" })
        let (second, secondLog, secondOutcome) = try await self.feed(on: mockServer)
        #expect(await secondLog.waits { $0.words.last == "rate-limited" })
        #expect(firstLog.contents.words.last == "waiting")
        first.stop()
        second.stop()
        try await firstOutcome.value
        try await secondOutcome.value
        await mockServer.stop()
        folder.remove()
    }
}
