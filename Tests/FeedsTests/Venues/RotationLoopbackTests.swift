import Feeds
import Ingest
import Logging
import Market
import MockUpstream
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing
import TickertapeTesting
import WebSocket
import Wire

/// Rotations over TLS, against a mock server whose connections share one market.
@Suite("A venue's feed that rotates over sockets", .timeLimit(.minutes(3 * Patience.factor)))
struct RotationLoopbackTests {
    private static let quiet = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    private static let wallClock: @Sendable () -> Int64 = {
        1_800_000_000_000_000_000 + Int64(NIODeadline.now().uptimeNanoseconds)
    }
    /// More trades than this are compared.
    private static let minimum = 100
    private static let symbols = ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT", "BINANCE:SOLUSDT"]

    /// Runs a feed against a busy market until the tape satisfies the condition; returns the tape.
    private static func run(
        _ faults: [String],
        symbols: [String] = Self.symbols,
        rotation: ConnectionRotation.Settings = .init(),
        until condition: @escaping @Sendable (TapeLog.Contents) -> Bool
    ) async throws -> (contents: TapeLog.Contents, faults: [String]) {
        var market = SimulatedMarket.Settings(
            seed: 11,
            symbols: Self.symbols.map(SimulatedSymbol.named),
            dialect: .binance
        )
        // A debug build that gets a tenth of a processor must keep up.
        market.tempo.rate = 2
        let happened = NIOLockedValueBox<[String]>([])
        var server = MockServerSettings()
        server.speed = 2
        server.sharesClock = true
        server.credentials = Certificates.localhost
        server.faults = try FaultPlan(parsing: faults)
        server.faultHappened = { number, text in happened.withLockedValue { $0.append("\(number): \(text)") } }
        let mock = try await MockServer.start(
            .market(SimulatedRun.Settings(market: market)),
            settings: server,
            on: MultiThreadedEventLoopGroup.singleton.next(),
            logger: Self.quiet,
            wallClock: Self.wallClock
        )
        var settings = VenueSettings(.binance, symbols: symbols)
        settings.upstream = UpstreamAddress(
            isEncrypted: true,
            host: "127.0.0.1",
            port: try #require(mock.address?.port),
            path: "/stream"
        )
        settings.dial.tls = Certificates.client()
        settings.fallback = nil
        settings.service = nil
        settings.serviceFallback = nil
        settings.rotation = rotation
        // On a machine that stalls, no connection ends for another reason than the test's.
        settings.webSocket.pingInterval = nil
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let log = TapeLog()
        let tape = try await loop.submit { NIOLoopBound(TapeWriter(epoch: 7, readers: [log]), eventLoop: loop) }.get()
        let feed = try await VenueFeed.make(
            settings,
            into: tape,
            loop: loop,
            logger: Self.quiet,
            wallClock: Self.wallClock,
            chance: { 0 }
        )
        let run = Task { try await feed.run() }
        let isDone = await log.waits { $0.trades.count > Self.minimum && condition($0) }
        let contents = log.contents
        if !isDone { Issue.record("statuses \(contents.words), events \(contents.events.count)") }
        feed.stop()
        try await run.value
        await mock.stop()
        return (contents, happened.withLockedValue { $0 })
    }

    /// What happened to the connections: `+` for one that opened, `-` for one that ended, `=` for one that was replaced.
    private static func connections(_ contents: TapeLog.Contents) -> String {
        contents.events.map { event in
            switch event {
            case .connected: "+"
            case .disconnected(_, _, .replaced, _): "="
            case .disconnected: "-"
            case .requested, .ping, .pong: ""
            }
        }.joined()
    }

    private static func expectWhole(_ contents: TapeLog.Contents) {
        #expect(contents.gaps.isEmpty, "\(contents.gaps.map(\.reason))")
        #expect(contents.losses.allSatisfy { $0.repeatedTrades == 0 })
        #expect(contents.trades.allSatisfy { $0.marks.isEmpty })
        for symbol in Self.symbols {
            let ids = contents.trades.filter { contents.symbols.name(of: $0.symbol) == symbol }.compactMap(\.id)
            guard let first = ids.first else {
                Issue.record("no trade of \(symbol)")
                continue
            }
            #expect(ids == (0..<ids.count).map { first + UInt64($0) })
        }
        let words = contents.words
        #expect(words == ["connecting", "waiting", "live"])
        #expect(contents.symbolStates.allSatisfy { $0.word != "quiet" })
    }

    @Test("loses nothing when its connections rotate again and again under load")
    func underLoad() async throws {
        let rotation = ConnectionRotation.Settings(age: 300_000_000)
        let (contents, _) = try await Self.run([], rotation: Self.prompt(rotation)) { contents in
            contents.events.count { if case .disconnected(_, _, .replaced, _) = $0 { true } else { false } } >= 4
        }
        Self.expectWhole(contents)
        #expect(Self.connections(contents).hasPrefix("++=+"))
    }

    @Test("loses nothing when the venue announces the ends of its connections")
    func announced() async throws {
        let (contents, faults) = try await Self.run(
            ["rotation=60s,announced=59s@1"],
            rotation: Self.prompt()
        ) { contents in
            contents.events.contains { if case .disconnected(_, _, .replaced, _) = $0 { true } else { false } }
        }
        Self.expectWhole(contents)
        #expect(Self.connections(contents) == "++=")
        // No connection lived until the venue's own end of it.
        #expect(!faults.contains { $0.contains("1001") }, "\(faults)")
    }

    @Test("goes on with the first connection while the second is refused")
    func refused() async throws {
        let (contents, _) = try await Self.run(
            ["rotation=60s,announced=59500ms@1", "status=429,retry-after=1@2", "status=503@3"],
            rotation: Self.prompt()
        ) { contents in
            contents.events.contains { if case .disconnected(_, _, .replaced, _) = $0 { true } else { false } }
        }
        Self.expectWhole(contents)
        #expect(Self.connections(contents) == "++=")
    }

    @Test("goes on with the second connection when the first is cut before every symbol is proven")
    func cut() async throws {
        // A symbol that never trades proves nothing.
        let (contents, faults) = try await Self.run(
            ["rotation=8s,announced=7500ms@1"],
            symbols: Self.symbols + ["BINANCE:NEVERUSDT"],
            rotation: Self.prompt()
        ) { contents in
            contents.events.contains { if case .disconnected(_, _, .replaced, _) = $0 { true } else { false } }
                && contents.order.last?.hasPrefix("read") == true
        }
        #expect(faults.contains { $0.contains("1001") }, "\(faults)")
        Self.expectWhole(contents)
        #expect(Self.connections(contents) == "++=")
        let reason = contents.events.compactMap { event -> String? in
            guard case .disconnected(_, let reason, .replaced, _) = event else { return nil }
            return reason
        }.first
        #expect(reason?.contains("3 of 4 symbols overlap by their ids") == true)
    }

    private static func prompt(_ settings: ConnectionRotation.Settings = .init()) -> ConnectionRotation.Settings {
        var settings = settings
        settings.jitter = 0
        settings.announcedJitter = 0
        settings.retry = 200_000_000
        return settings
    }
}
