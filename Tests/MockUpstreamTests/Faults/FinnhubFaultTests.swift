import Feeds
import Logging
import Market
import MockUpstream
import NIOCore
import NIOPosix
import TLS
import Testing
import TickertapeTesting
import WebSocket
import Wire

/// A fault that ends the first connection or its attempt, and the words of which its reason must have one.
struct EndingFault: Sendable, CustomTestStringConvertible {
    var fault: String
    var words: [String]
    var isEncrypted = false
    /// Whether trades can have come before it.
    var opens = false

    var testDescription: String { self.isEncrypted ? "\(self.fault) over TLS" : self.fault }

    init(_ fault: String, _ words: String..., isEncrypted: Bool = false, opens: Bool = false) {
        self.fault = fault
        self.words = words
        self.isEncrypted = isEncrypted
        self.opens = opens
    }

    static let all: [EndingFault] = [
        EndingFault("status=503@1", "503"),
        EndingFault("status=418,body=short and stout@1", "418"),
        EndingFault("html@1", "HTML"),
        EndingFault("html=502@1", "502"),
        EndingFault("redirect=https://example.com/@1", "redirect"),
        EndingFault("drop=tcp@1", "closed", "lost", "reset"),
        EndingFault("drop=upgrade@1", "closed", "lost", "reset"),
        EndingFault("drop=tls@1", "closed", "lost", "reset", "interrupted", "truncated", "ended", isEncrypted: true),
        EndingFault("drop@1", "lost", "closed", "reset", opens: true),
        EndingFault("drop@1", "lost", "closed", "reset", "truncated", "close_notify", isEncrypted: true, opens: true),
        EndingFault("rst=tcp@1", "reset", "closed"),
        EndingFault("rst=upgrade@1", "reset", "closed"),
        EndingFault("rst=tls@1", "reset", "closed", "interrupted", "truncated", isEncrypted: true),
        // An immediate reset can overtake the 101 for the client: then the attempt failed, and no connection was open.
        EndingFault("rst@1", "reset", "lost", "closed"),
        EndingFault("rst@2s@1", "reset", "lost", opens: true),
        EndingFault("rst@2s@1", "reset", "lost", isEncrypted: true, opens: true),
        EndingFault("throw-out@1", "lost", "closed", "reset", opens: true),
        EndingFault("cut-frame@1", "lost", "closed", "reset", opens: true),
        EndingFault("close=1001,reason=restart@1", "1001", opens: true),
        EndingFault("close=4000,reason=token in use@1", "token in use", opens: true),
        EndingFault("broken-frame@1", "protocol", opens: true),
        EndingFault("huge=2MB@1", "big", "large", opens: true),
    ]
}

/// The behaviour of the real client with each fault, over real sockets on loopback.
///
/// Reasons are checked for their essential words only, so that their wording may be improved.
@Suite("The Finnhub feed with faults", .timeLimit(.minutes(3 * Patience.factor)))
struct FinnhubFaultTests {
    private static func trade(_ number: Int) -> String {
        #"{"data":[{"c":null,"p":\#(60_000 + number),"s":"BINANCE:BTCUSDT","t":\#(1_723_161_255_342 + number),"v":0.02}],"type":"trade"}"#
    }

    private struct Running {
        var server: ScriptedFinnhub
        var feed: FeedService
        var log: TapeLog
        var outcome: Task<Void, any Error>

        func stop() async throws {
            self.feed.stop()
            try await self.outcome.value
            try await self.server.stop()
        }
    }

    /// Starts a feed with short limits, on a service with these faults.
    private func run(
        _ faults: [String],
        isEncrypted: Bool = false,
        acts: @escaping @Sendable (_ connection: Int) -> [ScriptedFinnhub.Act],
        change: (inout FinnhubSettings) -> Void = { _ in }
    ) async throws -> Running {
        let server = try await ScriptedFinnhub.start(
            credentials: isEncrypted ? Certificates.localhost : nil,
            faults: try FaultPlan(parsing: faults)
        ) { .play(acts($0)) }
        var settings = FinnhubSettings(key: Secret("a secret key"))
        settings.upstream = UpstreamAddress(isEncrypted: isEncrypted, host: "127.0.0.1", port: server.port)
        settings.dial.tls = Certificates.client()
        settings.backoff.first = 1_000_000
        change(&settings)
        let log = TapeLog()
        let feed = try await FinnhubFeed.make(
            settings: settings,
            loop: MultiThreadedEventLoopGroup.singleton.next(),
            epoch: 1,
            readers: [log],
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
            wallClock: { 1_000_000_000 },
            chance: { 1 }
        )
        return Running(server: server, feed: feed, log: log, outcome: Task { try await feed.run() })
    }

    @Test("names what ended the connection, connects again, and marks the gap", arguments: EndingFault.all)
    func endings(_ fault: EndingFault) async throws {
        let running = try await self.run([fault.fault], isEncrypted: fault.isEncrypted) { connection in
            // The service's ping is the frame that is cut; the trade comes on the sound connection.
            connection == 0
                ? [.send(#"{"type":"ping"}"#), .send(#"{"type":"ping"}"#)] : [.send(Self.trade(connection))]
        }
        #expect(await running.log.waits { $0.trades.count == 1 })
        let contents = running.log.contents
        let reported = contents.statuses.filter { $0.word == "reconnecting" }.compactMap(\.reason)
        #expect(reported.count == 1)
        let reason = reported.first ?? ""
        #expect(fault.words.contains { reason.contains($0) }, "\(fault): \(reason)")
        #expect(contents.words.last == "live")
        if fault.opens {
            #expect(contents.gaps.map(\.nextSequence) == [1])
            #expect(contents.gaps.first?.reason == reason)
        }
        try await running.stop()
    }

    @Test("gives up an attempt that hangs, reports it, and makes another", arguments: [false, true])
    func hangs(isEncrypted: Bool) async throws {
        for stage in isEncrypted ? ["tcp", "tls", "upgrade"] : ["tcp", "upgrade"] {
            let running = try await self.run(["hang=\(stage)@1"], isEncrypted: isEncrypted) { _ in
                [.send(Self.trade(1))]
            } change: { settings in
                settings.dial.upgradeTimeout = .milliseconds(300)
                settings.dial.tls.handshakeTimeout = .milliseconds(300)
            }
            #expect(await running.log.waits { $0.trades.count >= 1 })
            let reason = running.log.contents.statuses.first { $0.word == "reconnecting" }?.reason ?? ""
            #expect(["time", "answer"].contains { reason.contains($0) }, "\(stage): \(reason)")
            try await running.stop()
        }
    }

    @Test(
        "notices by its own ping that the peer is gone, and marks the gap",
        arguments: ["half-open@1", "hang=data@1"],
        [false, true]
    )
    func silence(fault: String, isEncrypted: Bool) async throws {
        let running = try await self.run([fault], isEncrypted: isEncrypted) { _ in
            [.send(Self.trade(1))]
        } change: { settings in
            settings.webSocket.pingInterval = .milliseconds(100)
            settings.webSocket.pongTimeout = .milliseconds(300)
        }
        #expect(await running.log.waits { $0.trades.count >= 1 })
        let contents = running.log.contents
        let reason = contents.statuses.first { $0.word == "reconnecting" }?.reason ?? ""
        #expect(reason.contains("ping"), "\(reason)")
        #expect(contents.gaps.first?.reason == reason)
        try await running.stop()
    }

    @Test("is late, and not reconnecting, while only pings come")
    func stall() async throws {
        let running = try await self.run(["stall"]) { _ in
            [.send(Self.trade(1)), .send(#"{"type":"ping"}"#), .send(Self.trade(2))]
        } change: { settings in
            settings.watch.freshness.lateAfter = 100_000_000
        }
        #expect(await running.log.waits { $0.words.last == "late" && $0.frames.count == 1 })
        let contents = running.log.contents
        #expect(contents.trades.isEmpty)
        #expect(contents.frames == [#"{"type":"ping"}"#])
        #expect(contents.words == ["connecting", "waiting", "late"])
        try await running.stop()
    }

    @Test("waits as long as a 429 requires, and then connects")
    func refusedOnce() async throws {
        let running = try await self.run(["status=429,retry-after=1@1"]) { _ in [.send(Self.trade(1))] }
        #expect(await running.log.waits { $0.trades.count == 1 })
        let contents = running.log.contents
        #expect(contents.words == ["connecting", "rate-limited", "connecting", "waiting", "live"])
        #expect(contents.statuses.contains { $0.phase == .rateLimited(until: 2_000_000_000) })
        try await running.stop()
    }

    @Test("puts every trade on the tape between garbage, in order, and keeps the connection")
    func garbage() async throws {
        let running = try await self.run(["garbage=0.7"]) { _ in (0..<400).map { .send(Self.trade($0)) } }
        #expect(await running.log.waits { $0.trades.count >= 400 })
        let contents = running.log.contents
        #expect(contents.lines == (0..<400).map { "BINANCE:BTCUSDT \(60_000 + $0) 0.02" })
        #expect(contents.frames.count > 500)
        #expect(!contents.words.contains("reconnecting"))
        try await running.stop()
    }

    @Test("marks trades of repeated frames, and leaves them out by the user's choice", arguments: [false, true])
    func duplicates(drops: Bool) async throws {
        let running = try await self.run(["duplicate=0.3,copies=3"]) { _ in
            (0..<400).map { .send(Self.trade($0)) } + [.send(Self.trade(1_000))]
        } change: { settings in
            settings.dropsRepeats = drops
        }
        #expect(await running.log.waits { $0.lines.last?.contains("61000") == true })
        let contents = running.log.contents
        let first = zip(contents.lines, contents.trades).filter { !$0.1.marks.contains(.possibleRepeat) }.map(\.0)
        #expect(first == ((0..<400) + [1_000]).map { "BINANCE:BTCUSDT \(60_000 + $0) 0.02" })
        #expect(contents.sequences == (1...UInt64(contents.trades.count)).map(\.self))
        #expect(drops == (contents.trades.count == 401))
        #expect(contents.frames.count > 450)
        try await running.stop()
    }

    @Test("loses no trade of frames that overtake one another, and keeps the order of their arrival")
    func reordered() async throws {
        let running = try await self.run(["reorder=0.3"]) { _ in
            // No frame comes that could overtake the last one; the close frame releases it.
            (0..<400).map { .send(Self.trade($0)) } + [.close(.goingAway, "end")]
        } change: { settings in
            settings.backoff.first = 60_000_000_000
        }
        #expect(await running.log.waits { $0.trades.count >= 400 })
        let lines = running.log.contents.lines
        #expect(lines.count == 400)
        #expect(Set(lines) == Set((0..<400).map { "BINANCE:BTCUSDT \(60_000 + $0) 0.02" }))
        #expect(lines != lines.sorted())
        try await running.stop()
    }

    @Test("takes a message of 1 MB that it does not know, and keeps the connection")
    func huge() async throws {
        let running = try await self.run(["huge=1MB@1"]) { _ in [.send(Self.trade(1))] }
        #expect(await running.log.waits { $0.frames.count == 2 && $0.trades.count == 1 })
        let contents = running.log.contents
        #expect(contents.frames.contains { $0.utf8.count == 1_000_000 })
        #expect(!contents.words.contains("reconnecting"))
        try await running.stop()
    }

    @Test("reports an error in the service's own words, and keeps the connection")
    func error() async throws {
        let running = try await self.run(["error=API limit reached@1"]) { _ in [.send(Self.trade(1))] }
        #expect(
            await running.log.waits { contents in
                contents.trades.count == 1
                    && contents.statuses.contains { $0.reason?.contains("API limit reached") == true }
            }
        )
        #expect(!running.log.contents.words.contains("reconnecting"))
        try await running.stop()
    }

    @Test("gets every trade over a line that is slow, or late and uneven", arguments: [false, true])
    func poorLine(isDistant: Bool) async throws {
        var plan = try FaultPlan(parsing: isDistant ? [] : ["slow=20kB/s"])
        if isDistant {
            plan.latency = 30_000_000
            plan.jitter = 30_000_000
        }
        let server = try await ScriptedFinnhub.start(credentials: Certificates.localhost, faults: plan) { _ in
            .play((0..<50).map { .send(Self.trade($0)) })
        }
        var settings = FinnhubSettings(key: Secret("a secret key"))
        settings.upstream = UpstreamAddress(isEncrypted: true, host: "127.0.0.1", port: server.port)
        settings.dial.tls = Certificates.client()
        let log = TapeLog()
        let feed = try await FinnhubFeed.make(
            settings: settings,
            loop: MultiThreadedEventLoopGroup.singleton.next(),
            epoch: 1,
            readers: [log],
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
            wallClock: { 1 }
        )
        let outcome = Task { try await feed.run() }
        #expect(await log.waits { $0.trades.count == 50 })
        #expect(log.contents.lines == (0..<50).map { "BINANCE:BTCUSDT \(60_000 + $0) 0.02" })
        feed.stop()
        try await outcome.value
        try await server.stop()
    }

    @Test("a test can let anything happen at its own moment")
    func atOwnMoment() async throws {
        let running = try await self.run([]) { connection in
            connection == 0
                ? [.send(Self.trade(0)), .fault(.close(code: 1012, reason: "restart"))]
                : [.send(Self.trade(connection))]
        }
        #expect(await running.log.waits { $0.lines.contains { $0.contains("60001") } })
        running.server.happen(.reset, on: 1)
        #expect(await running.log.waits { $0.lines.contains { $0.contains("60002") } })
        let reasons = running.log.contents.statuses.filter { $0.word == "reconnecting" }.compactMap(\.reason)
        #expect(reasons.count == 2)
        #expect(["reset", "lost"].contains { reasons.last?.contains($0) == true }, "\(reasons)")
        #expect(reasons.first?.contains("1012") == true, "\(reasons)")
        try await running.stop()
    }
}
