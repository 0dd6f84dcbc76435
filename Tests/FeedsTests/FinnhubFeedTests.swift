import Feeds
import Ingest
import Logging
import Market
import NIOCore
import NIOHTTP1
import NIOPosix
import TLS
import Testing
import TickertapeTesting
import WebSocket
import Wire

/// Tests of the feed against a scripted Finnhub, over real TLS and a real WebSocket on loopback.
@Suite("The Finnhub feed", .timeLimit(.minutes(2 * Patience.factor)))
struct FinnhubFeedTests {
    private static let trade =
        #"{"data":[{"c":null,"p":61837.63,"s":"BINANCE:BTCUSDT","t":1723161255342,"v":0.02}],"type":"trade"}"#
    private static let otherTrade =
        #"{"data":[{"c":null,"p":61838,"s":"BINANCE:BTCUSDT","t":1723161255343,"v":0.5}],"type":"trade"}"#

    /// A running feed and its reports.
    private struct Running {
        var feed: FeedService
        var log: TapeLog
        var outcome: Task<Void, any Error>
    }

    private func start(
        _ server: ScriptedFinnhub,
        authority: CertificateAuthority?,
        change: (inout FinnhubSettings) -> Void = { _ in }
    ) async throws -> Running {
        var settings = FinnhubSettings(key: Secret(Canary.key))
        settings.upstream = UpstreamAddress(isEncrypted: authority != nil, host: "127.0.0.1", port: server.port)
        if let authority { settings.dial.tls.trust = .certificates(pem: authority.certificatePEM) }
        settings.backoff.first = 1_000_000
        change(&settings)
        let log = TapeLog()
        let feed = try await FinnhubFeed.make(
            settings: settings,
            loop: MultiThreadedEventLoopGroup.singleton.next(),
            epoch: 7,
            readers: [log],
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
            wallClock: { 1_000_000_000 },
            chance: { 1 }
        )
        return Running(feed: feed, log: log, outcome: Task { try await feed.run() })
    }

    private func stop(_ running: Running, _ server: ScriptedFinnhub) async throws {
        running.feed.stop()
        try await running.outcome.value
        try await server.stop()
    }

    @Test("subscribes over verified TLS with its key, and puts every trade on the tape")
    func subscribes() async throws {
        let authority = try CertificateAuthority(name: "test authority")
        let credentials = try authority.issue(names: ["localhost"], addresses: ["127.0.0.1"])
        let server = try await ScriptedFinnhub.start(credentials: credentials) { _ in
            .play([.send(Self.trade), .send(#"{"type":"ping"}"#), .send(Self.otherTrade)])
        }
        let running = try await self.start(server, authority: authority) { settings in
            settings.symbols = ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT"]
        }
        #expect(await running.log.waits { $0.trades.count == 2 })
        let contents = running.log.contents
        #expect(contents.lines == ["BINANCE:BTCUSDT 61837.63 0.02", "BINANCE:BTCUSDT 61838 0.5"])
        #expect(contents.sequences == [1, 2])
        #expect(contents.frames == [Self.trade, #"{"type":"ping"}"#, Self.otherTrade])
        #expect(contents.words == ["connecting", "waiting", "live"])
        try await self.stop(running, server)
        #expect(running.log.contents.words.last == "stopped")

        var events: [ScriptedFinnhub.Event] = []
        for await event in server.events { events.append(event) }
        #expect(
            events.prefix(3) == [
                .opened(connection: 0, target: "/?token=\(Canary.percentEncoded)"),
                .received(connection: 0, text: #"{"type":"subscribe","symbol":"BINANCE:BTCUSDT"}"#),
                .received(connection: 0, text: #"{"type":"subscribe","symbol":"BINANCE:ETHUSDT"}"#),
            ]
        )
    }

    @Test("reconnects after a drop, subscribes to all symbols again, and marks the gap before the next trade")
    func reconnects() async throws {
        let server = try await ScriptedFinnhub.start { connection in
            switch connection {
            case 0: .play([.send(Self.trade), .drop])
            case 1: .refuse(status: .badGateway, body: "<html>bad</html>")
            default: .play([.send(Self.otherTrade)])
            }
        }
        let running = try await self.start(server, authority: nil) { $0.symbols = ["A", "B"] }
        #expect(await running.log.waits { $0.trades.count == 2 })
        let contents = running.log.contents
        #expect(contents.sequences == [1, 2])
        #expect(contents.gaps.map(\.nextSequence) == [2])
        // A socket that is closed with an unread request is reset.
        let lost = ["the connection was lost without a close frame", "the connection broke: Connection reset by peer"]
        #expect(lost.map { "\($0), 2 attempts" }.contains(contents.gaps.first?.reason ?? ""))
        let reasons = contents.statuses.filter { $0.word == "reconnecting" }.compactMap(\.reason)
        #expect(reasons.count == 2)
        #expect(lost.contains(reasons.first ?? ""))
        #expect(reasons.last == "the service is down (HTTP 502: a page of HTML)")
        try await self.stop(running, server)
        var asked: [String] = []
        for await case .received(2, let text) in server.events { asked.append(text) }
        #expect(asked == [#"{"type":"subscribe","symbol":"A"}"#, #"{"type":"subscribe","symbol":"B"}"#])
    }

    @Test("names --ca-file as the remedy only if the authority is unknown")
    func certificateCures() async throws {
        let stranger = try CertificateAuthority(name: "stranger")
        for (issuer, addresses, words, hasHint) in [
            (stranger, ["127.0.0.1"], "unknown CA", true),
            (Certificates.authority, ["127.0.0.9"], "mismatch", false),
        ] {
            let credentials = try issuer.issue(names: ["elsewhere"], addresses: addresses)
            let server = try await ScriptedFinnhub.start(credentials: credentials) { _ in .play([]) }
            let running = try await self.start(server, authority: Certificates.authority)
            #expect(await running.log.waits { $0.words.contains("reconnecting") })
            let reason = try #require(running.log.contents.statuses.compactMap(\.reason).first)
            #expect(reason.contains(words), "\(reason)")
            #expect(reason.contains("--ca-file") == hasHint, "\(reason)")
            try await self.stop(running, server)
        }
    }

    @Test("stops with a remedy when the key is rejected")
    func keyRejected() async throws {
        let server = try await ScriptedFinnhub.start { _ in
            .refuse(status: .unauthorized, body: #"{"error":"Invalid API key"}"#)
        }
        let running = try await self.start(server, authority: nil)
        let error = await #expect(throws: UpstreamFailure.self) { try await running.outcome.value }
        #expect(error?.disposition == .keyRejected)
        #expect(error?.description.contains("FINNHUB_TOKEN") == true)
        #expect(error?.description.contains("anary") == false)
        #expect(running.log.contents.words == ["connecting", "key-rejected"])
        try await server.stop()
    }

    @Test("waits as long as a 429 asks for, and says so")
    func rateLimited() async throws {
        let server = try await ScriptedFinnhub.start { _ in
            .refuse(status: .tooManyRequests, headers: ["Retry-After": "17"], body: "API limit reached.")
        }
        let running = try await self.start(server, authority: nil)
        #expect(await running.log.waits { $0.words.last == "rate-limited" })
        let status = running.log.contents.statuses.last
        #expect(status?.phase == .rateLimited(until: 18_000_000_000))
        #expect(status?.reason?.contains("429") == true)
        try await self.stop(running, server)
    }

    @Test("quotes the service's own text of an error, and keeps the connection")
    func serviceError() async throws {
        let server = try await ScriptedFinnhub.start { _ in
            .play([.send(#"{"msg":"Out of order","type":"error"}"#), .send(Self.trade)])
        }
        let running = try await self.start(server, authority: nil)
        #expect(await running.log.waits { $0.trades.count == 1 })
        #expect(running.log.contents.statuses.contains { $0.reason == "the service says: Out of order" })
        try await self.stop(running, server)
    }

    @Test("limits an error about one symbol to that symbol, even if another program requested it")
    func errorOfOneSymbol() async throws {
        let server = try await ScriptedFinnhub.start { _ in
            .play([
                .send(Self.trade), .send(#"{"msg":"Invalid symbol FOO:BAR","type":"error"}"#),
                .send(#"{"msg":"Invalid symbol NOT:ASKED","type":"error"}"#), .send(Self.otherTrade),
            ])
        }
        let running = try await self.start(server, authority: nil) { $0.symbols = ["BINANCE:BTCUSDT", "FOO:BAR"] }
        #expect(await running.log.waits { $0.trades.count == 2 })
        #expect(running.log.contents.words(of: "FOO:BAR") == ["asked", "no-such-symbol"])
        #expect(running.log.contents.statuses.allSatisfy { $0.reason?.contains("Invalid symbol") != true })
        #expect(running.log.contents.statuses.last?.phase == .live)
        try await self.stop(running, server)
    }

    @Test("shows no key that the service repeats, in a refusal, a close or an error")
    func repeatedKey() async throws {
        let key = Canary.key
        let server = try await ScriptedFinnhub.start { connection in
            switch connection {
            case 0: .refuse(status: .notFound, body: "Cannot GET /?token=\(Canary.percentEncoded)")
            case 1: .play([.send(#"{"msg":"no such key: \#(key)","type":"error"}"#), .close(.normal, "bye \(key)")])
            default: .play([.send(Self.trade)])
            }
        }
        let running = try await self.start(server, authority: nil)
        #expect(await running.log.waits { $0.trades.count == 1 })
        let contents = running.log.contents
        let reported = contents.statuses.compactMap(\.reason) + contents.gaps.map(\.reason) + contents.frames
        #expect(reported.filter { $0.contains("(the key)") }.count >= 4)
        #expect(reported.allSatisfy { !Canary.occurs(in: $0) }, "\(reported)")
        try await self.stop(running, server)
    }

    private static func trades(_ sizes: Int...) -> String {
        let elements = sizes.map {
            #"{"c":null,"p":61838,"s":"BINANCE:BTCUSDT","t":\#(1_723_161_255_342 + $0),"v":\#($0)}"#
        }
        return #"{"data":[\#(elements.joined(separator: ","))],"type":"trade"}"#
    }

    @Test("leaves out repeats after a drop if the user wishes, and the gap before the first new trade says how many")
    func overlap() async throws {
        let server = try await ScriptedFinnhub.start { connection in
            connection == 0
                ? .play([.send(Self.trades(1, 2)), .send(Self.trades(3)), .drop])
                : .play([.send(Self.trades(2, 3)), .send(Self.trades(4)), .send(Self.trades(5, 6))])
        }
        let running = try await self.start(server, authority: nil) { $0.dropsRepeats = true }
        #expect(await running.log.waits { $0.trades.count == 6 })
        let contents = running.log.contents
        #expect(contents.lines.map { $0.suffix(1) } == ["1", "2", "3", "4", "5", "6"])
        #expect(contents.sequences == [1, 2, 3, 4, 5, 6])
        #expect(contents.gaps.map(\.overlap) == [2] && contents.gaps.map(\.epoch) == [7])
        #expect(contents.gaps.map(\.nextSequence) == [4])
        #expect(contents.losses.map(\.repeatedTrades).reduce(0, +) == 2)
        #expect(contents.losses.allSatisfy { $0.repeatedFrames == 0 && $0.malformedFrames == 0 })
        let gap = try #require(contents.order.firstIndex(of: "gap"))
        let before = contents.order[..<gap].compactMap { Int($0.dropFirst("read ".count)) }.reduce(0, +)
        #expect(before == 3)
        // The recording has all frames.
        #expect(contents.frames.count == 5)
        try await self.stop(running, server)
    }

    @Test("puts a frame that comes three times on the tape each time, marked, or once if the user wishes; records all")
    func repeatedFrames() async throws {
        for isOn in [true, false] {
            let server = try await ScriptedFinnhub.start { _ in
                .play([.send(Self.trade), .send(Self.trade), .send(Self.trade), .send(Self.otherTrade)])
            }
            let running = try await self.start(server, authority: nil) { $0.dropsRepeats = isOn }
            #expect(await running.log.waits { $0.frames.count == 4 })
            #expect(running.log.contents.trades.count == (isOn ? 2 : 4))
            let losses = running.log.contents.losses
            #expect(losses.map(\.repeatedFrames).reduce(0, +) == 2)
            #expect(losses.map(\.possibleRepeats).reduce(0, +) == (isOn ? 0 : 2))
            #expect(running.log.contents.trades.count { $0.marks.contains(.possibleRepeat) } == (isOn ? 0 : 2))
            #expect(losses.map(\.repeatedTrades).reduce(0, +) == (isOn ? 2 : 0))
            #expect(running.log.contents.malformedFrames == 0)
            try await self.stop(running, server)
        }
    }

    @Test("resubscribes to a silent symbol, then reconnects, and reports a gap since its last trade")
    func silentSymbol() async throws {
        let server = try await ScriptedFinnhub.start { connection in
            .play([.send(connection == 0 ? Self.trade : Self.otherTrade)])
        }
        let running = try await self.start(server, authority: nil) { settings in
            settings.watch.freshness.lateAfter = 50_000_000
            settings.watch.freshness.staleAfter = 1_000_000_000
        }
        #expect(await running.log.waits { $0.trades.count == 2 })
        let contents = running.log.contents
        // A slow test machine may add `late` before the first trade, or skip it where it stalls longer.
        let words = contents.words.filter { $0 != "late" }.reduce(into: [String]()) {
            if $0.last != $1 { $0.append($1) }
        }
        #expect(words.starts(with: ["connecting", "waiting", "live", "stale", "reconnecting"]), "\(contents.words)")
        #expect(contents.words(of: "BINANCE:BTCUSDT").starts(with: ["asked", "live", "quiet", "live"]))
        #expect(contents.gaps.count == 1)
        let reason = contents.gaps.first?.reason ?? ""
        #expect(reason.hasPrefix("no trade of BINANCE:BTCUSDT for ") && reason.hasSuffix(" s"), "\(reason)")
        #expect((RunningProgram.number(in: reason, behind: " for ") ?? 0) >= 2, "\(reason)")
        #expect(contents.gaps.map(\.nextSequence) == [2])
        try await self.stop(running, server)
        var asked: [String] = []
        for await event in server.events {
            if case .received(0, let text) = event { asked.append(text) }
        }
        let symbol = #""symbol":"BINANCE:BTCUSDT"}"#
        #expect(asked == ["subscribe", "unsubscribe", "subscribe"].map { #"{"type":"\#($0)",\#(symbol)"# })
    }

    @Test("only reports a silent symbol of a replay")
    func silentReplay() async throws {
        let server = try await ScriptedFinnhub.start { _ in .play([.send(Self.trade)]) }
        let running = try await self.start(server, authority: nil) { settings in
            settings.source = .demo
            settings.watch.freshness.lateAfter = 20_000_000
            settings.watch.freshness.staleAfter = 40_000_000
            settings.watch.coolDown = 10_000_000
        }
        #expect(await running.log.waits { $0.words.last == "stale" })
        let subscriptions = Subscriptions(Subscriptions.Settings(linger: .zero), loop: running.feed.loop)
        subscriptions.connect(running.feed)
        #expect(subscriptions.retain("LATER") == .accepted)
        var asked: [String] = []
        for await case .received(_, let text) in server.events {
            asked.append(text)
            if text.contains("LATER") { break }
        }
        #expect(asked.count == 2, "\(asked)")
        try await self.stop(running, server)
    }

    @Test("reports a gap even if no trade ends it")
    func gapWithoutTrade() async throws {
        let server = try await ScriptedFinnhub.start { connection in
            connection == 0 ? .play([.send(Self.trade), .drop]) : .play([])
        }
        let running = try await self.start(server, authority: nil) { $0.watch.freshness.lateAfter = 50_000_000 }
        #expect(await running.log.waits { $0.gaps.count == 1 })
        #expect(running.log.contents.gaps.first?.overlap == nil)
        #expect(running.log.contents.trades.count == 1)
        try await self.stop(running, server)
        #expect(running.log.contents.gaps.count == 1)
    }

    @Test("says that the service knows none of its symbols, and is live when one trades at last")
    func noSuchSymbol() async throws {
        let server = try await ScriptedFinnhub.start { _ in
            .play([.send(#"{"msg":"Invalid symbol BINANCE:BTCUSDT","type":"error"}"#)])
        }
        let running = try await self.start(server, authority: nil)
        #expect(await running.log.waits { $0.words.last == "no-such-symbol" })
        #expect(running.log.contents.statuses.last?.reason?.contains("check their spelling") == true)
        #expect(running.log.contents.symbolStates.last?.reason == "Invalid symbol BINANCE:BTCUSDT")
        server.send(Self.trade, on: 0)
        #expect(await running.log.waits { $0.trades.count == 1 })
        #expect(running.log.contents.words.last == "live")
        #expect(running.log.contents.words(of: "BINANCE:BTCUSDT") == ["asked", "no-such-symbol", "live"])
        try await self.stop(running, server)
    }

    @Test("reports once an error that the service repeats a thousand times")
    func repeatedError() async throws {
        let error = #"{"msg":"Subscribing to too many symbols","type":"error"}"#
        let server = try await ScriptedFinnhub.start { _ in
            .play(Array(repeating: .send(error), count: 1_000) + [.send(Self.trade)])
        }
        let running = try await self.start(server, authority: nil)
        #expect(await running.log.waits { $0.trades.count == 1 })
        #expect(running.log.contents.statuses.filter { $0.reason?.contains("too many") == true }.count <= 2)
        try await self.stop(running, server)
    }

    @Test("refuses a server without a certificate of its authority, with an explanation, and shows no key")
    func wrongCertificate() async throws {
        let credentials = try CertificateAuthority(name: "somebody").issue(names: [], addresses: ["127.0.0.1"])
        let trusted = try CertificateAuthority(name: "somebody else")
        let server = try await ScriptedFinnhub.start(credentials: credentials) { _ in .play([]) }
        let running = try await self.start(server, authority: trusted)
        #expect(await running.log.waits { $0.words.last == "reconnecting" })
        #expect(running.log.contents.statuses.last?.reason?.contains("certificate refused") == true)
        try await self.stop(running, server)
        for await event in server.events {
            if case .opened = event { Issue.record("the key was sent to a server that was not verified") }
        }
    }

    @Test("subscribes to a later symbol, now and after a reconnect")
    func wishes() async throws {
        let server = try await ScriptedFinnhub.start { _ in .play([.send(Self.trade)]) }
        let running = try await self.start(server, authority: nil) { $0.symbols = ["A"] }
        #expect(await running.log.waits { $0.trades.count == 1 })
        let subscriptions = Subscriptions(Subscriptions.Settings(linger: .zero), loop: running.feed.loop)
        subscriptions.connect(running.feed)
        #expect(subscriptions.retain("LATE") == .accepted)
        var asked: [String] = []
        for await case .received(_, let text) in server.events {
            asked.append(text)
            if asked.count == 2 { server.drop(0) }
            if asked.count == 4 { break }
        }
        let symbols = ["A", "LATE", "A", "LATE"]
        #expect(asked == symbols.map { #"{"type":"subscribe","symbol":"\#($0)"}"# })
        try await self.stop(running, server)
    }

    @Test("ends when it is stopped before its start")
    func stopsUnstarted() async throws {
        let server = try await ScriptedFinnhub.start { _ in .hang }
        var settings = FinnhubSettings(key: Secret("x"))
        settings.upstream = UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: server.port)
        let feed = try await FinnhubFeed.make(
            settings: settings,
            loop: MultiThreadedEventLoopGroup.singleton.next(),
            epoch: 1,
            readers: [],
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
            wallClock: { 1 }
        )
        feed.stop()
        try await feed.run()
        try await server.stop()
    }

    @Test("stops at once while it waits for the next attempt, and while an attempt hangs")
    func stopsWhileWaiting() async throws {
        let hanging = try await ScriptedFinnhub.start { _ in .hang }
        let first = try await self.start(hanging, authority: nil) { $0.dial.upgradeTimeout = .seconds(120) }
        #expect(await first.log.waits { $0.words == ["connecting"] })
        // The socket closes at once, not when the upgrade's limit has passed.
        let begin = ContinuousClock.now
        for await event in hanging.events {
            if event == .accepted(connection: 0) { first.feed.stop() }
            if event == .ended(connection: 0) { break }
        }
        #expect(ContinuousClock.now - begin < .seconds(60))
        try await first.outcome.value
        try await hanging.stop()

        let refusing = try await ScriptedFinnhub.start { _ in .refuse(status: .serviceUnavailable) }
        let second = try await self.start(refusing, authority: nil) { $0.backoff.first = 60_000_000_000 }
        #expect(await second.log.waits { $0.words.last == "reconnecting" })
        try await self.stop(second, refusing)
        #expect(second.log.contents.words.last == "stopped")
    }
}
