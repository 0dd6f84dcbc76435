import HTTP
import TLS
import WebSocket
import Feeds
import Ingest
import Logging
import Market
import MockUpstream
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Platform
import Recordings
import Relay
import Testing
import TickertapeTesting
import Wire
@testable import Tickertape

/// Components assembled as in the program, with a disk that hangs until the test ends it. Code that waited for the disk
/// would never continue.
@Suite("While a disk hangs", .serialized, .timeLimit(.minutes(5 * Patience.factor)))
struct HangingDiskTests {
    /// A WebSocket client of a relay that searches the received bytes.
    private final class Client: Sendable {
        private final class Inbox: ChannelInboundHandler, Sendable {
            typealias InboundIn = ByteBuffer
            let bytes = NIOLockedValueBox<[UInt8]>([])

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                let new = self.unwrapInboundIn(data)
                self.bytes.withLockedValue { $0 += Array(new.readableBytesView) }
            }
        }

        private let channel: any Channel
        private let inbox: Inbox

        init(_ path: String, at address: SocketAddress) async throws {
            let inbox = Inbox()
            self.inbox = inbox
            self.channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelInitializer { channel in channel.pipeline.addHandler(inbox) }.connect(to: address).get()
            try await self.write(
                Array(
                    ("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n").utf8
                )
            )
            try #require(await self.gets("101 Switching"))
        }

        private func write(_ bytes: [UInt8]) async throws {
            try await self.channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
        }

        /// Sends a frame, masked with zeros.
        func send(_ text: String, opcode: UInt8 = 1) async throws {
            try await self.write([0x80 | opcode, 0x80 | UInt8(text.utf8.count), 0, 0, 0, 0] + Array(text.utf8))
        }

        /// Sends a ping; returns whether its pong arrives.
        func pings(_ text: String) async throws -> Bool {
            try await self.send(text, opcode: 9)
            return await self.gets(text)
        }

        /// Waits until the relay has sent this text; `false` after the time limit.
        func gets(_ text: String) async -> Bool {
            await HangingDiskTests.waits {
                self.inbox.bytes.withLockedValue { $0.firstRange(of: Array(text.utf8)) != nil }
            }
        }

        func close() async { try? await self.channel.close().get() }
    }

    private static let silent = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    /// Waits until a condition holds; `false` after the time limit.
    private static func waits(until condition: () -> Bool) async -> Bool {
        let end = ContinuousClock.now + .seconds(20) * Patience.factor
        while !condition(), ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(2)) }
        return condition()
    }

    private static func trade(_ price: Int) -> String {
        #"{"data":[{"c":null,"p":\#(price),"s":"A","t":1723161255342,"v":1}],"type":"trade"}"#
    }

    @Test(
        "prices flow, pings are answered, a lost connection is made again and a stop ends, with the relay on the feed's loop"
    )
    func live() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let disk = HangingDisk()
        defer { disk.goOn() }
        let server = try await ScriptedFinnhub.start { connection in .play([.send(Self.trade(70_000 + connection))]) }
        let warnings = NIOLockedValueBox<[String]>([])
        let warn: @Sendable (String) -> Void = { text in warnings.withLockedValue { $0.append(text) } }
        var settings = FinnhubSettings(key: Secret(Canary.key))
        settings.upstream = UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: server.port)
        settings.symbols = ["A"]
        settings.backoff.first = 1_000_000
        let identity = KeyIdentity(key: settings.key, upstream: settings.upstream)
        let lock = KeyLock(folders: [folder.path], identity: identity, warn: warn)
        settings.holding = KeyHolding(
            ownership: HangingLock(lock, on: disk),
            attemptStore: AttemptFile(directory: folder.path, identity: identity, disk: disk, warn: warn),
            lockDisk: WorkQueue("test-lock"),
            attemptsDisk: WorkQueue("test-attempts"),
            warn: warn
        )
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let relay = RelayServer(
            settings: RelaySettings(listen: Endpoint(host: "127.0.0.1", port: 0)),
            subscriptions: Subscriptions(Subscriptions.Settings(linger: .zero), retained: ["A"], loop: loop),
            eventLoop: loop,
            logger: Self.silent,
            status: FeedStatus(source: .live, phase: .connecting, since: 0)
        )
        let client = try await Client("/", at: try await relay.start())
        try await client.send(#"{"type":"subscribe","symbol":"A"}"#)
        let log = TapeLog()
        let feed = try await FinnhubFeed.make(
            settings: settings,
            loop: loop,
            epoch: 7,
            readers: [log, relay],
            logger: Self.silent,
            wallClock: WallClock.now,
            chance: { 1 }
        )
        let running = Task { try await feed.run() }
        #expect(await client.gets("70000"))
        #expect(warnings.withLockedValue { $0 } == [])

        disk.hang()
        // The next check of the lock.
        #expect(await Self.waits { disk.waitingThreads == 1 })
        for number in 0..<20 {
            server.send(Self.trade(80_000 + number), on: 0)
            #expect(await client.gets("\(80_000 + number)"))
            #expect(try await client.pings("ping\(number)!"))
        }
        server.drop(0)
        #expect(await client.gets("70001"))
        #expect(try await client.pings("again"))
        let warned = warnings.withLockedValue { $0 }
        #expect(warned.count { $0.contains("(state.directory)") } == 1, "\(warned)")
        #expect(warned.count { $0.contains("(state.runtime-directory)") } == 1, "\(warned)")
        #expect(disk.waitingThreads == 2)
        feed.stop()
        try await running.value
        #expect(log.contents.words.last == "stopped")
        await client.close()
        await relay.stop()
        disk.goOn()
        try await server.stop()
    }

    @Test("a replay's relay answers pings and requests, and the replay continues from its position")
    func replay() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let disk = HangingDisk()
        defer { disk.goOn() }
        var recording = RecordingBuffer(RecordingHeader(symbols: ["A"], start: 1_767_225_600_000_000_000))
        for number in 0..<4_000 {
            recording.frame(ByteBuffer(string: Self.trade(100_000 + number)), at: Int64(number) * 10_000_000)
        }
        let path = try folder.write(String(buffer: recording.bytes), to: "a.jsonl")
        let material = ReplayMaterial.recording(try RecordingFile(path: path, beforeRead: { disk.wait() }))
        // The loops are those of `ReplayProgram` and `TickerProgram`: the player's, the feed's, and the relay's.
        let groups = (0..<3).map { _ in MultiThreadedEventLoopGroup(numberOfThreads: 1) }
        var mockServerSettings = MockServerSettings()
        mockServerSettings.sharesClock = true
        mockServerSettings.waitsForGo = true
        let mockServer = try await MockServer.start(
            material,
            settings: mockServerSettings,
            on: groups[0].next(),
            logger: Self.silent,
            wallClock: WallClock.now
        )
        var settings = FinnhubSettings(key: Secret("replay"))
        let port = try #require(mockServer.address?.port)
        settings.upstream = UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: port)
        settings.symbols = ["A"]
        settings.webSocket.pingInterval = nil
        settings.connection.silentAfter = nil
        settings.source = .replay(file: path, speed: 1)
        let program = TickerProgram(
            settings: Settings(),
            feed: FeedPlan(settings),
            replay: PlayedMaterial(material, mockServer: mockServer)
        )
        #expect(!program.relaySharesLoop)
        let feedLoop = groups[1].next()
        let relay = RelayServer(
            settings: RelaySettings(listen: Endpoint(host: "127.0.0.1", port: 0)),
            subscriptions: Subscriptions(
                Subscriptions.Settings(limit: 50, linger: .zero),
                retained: ["A"],
                loop: feedLoop
            ),
            eventLoop: groups[2].next(),
            logger: Self.silent,
            status: FeedStatus(source: settings.source, phase: .connecting, since: 0),
            replay: mockServer.remote
        )
        let address = try await relay.start()
        let client = try await Client("/", at: address)
        try await client.send(#"{"type":"subscribe","symbol":"A"}"#)
        let log = TapeLog()
        let feed = try await FinnhubFeed.make(
            settings: settings,
            loop: feedLoop,
            epoch: 7,
            readers: [log, relay],
            logger: Self.silent,
            wallClock: WallClock.now
        )
        let running = Task { try await feed.run() }
        mockServer.go()
        #expect(await client.gets("100020"))
        disk.hang()
        // The player's loop is blocked.
        #expect(await Self.waits { disk.waitingThreads == 1 })
        for number in 0..<20 { #expect(try await client.pings("ping\(number)!")) }
        // A new client gets its hello, too.
        let other = try await Client("/v1/stream", at: address)
        #expect(await other.gets("hello"))
        #expect(try await other.pings("pang"))
        let count = log.contents.trades.count
        disk.goOn()
        #expect(await log.waits { $0.trades.count > count })
        await client.close()
        await other.close()
        feed.stop()
        try await running.value
        await relay.stop()
        await mockServer.stop()
        for group in groups { try await group.shutdownGracefully() }
    }
}
