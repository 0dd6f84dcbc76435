import TLS
import Feeds
import Ingest
import Logging
import Market
import NIOCore
import NIOPosix
import Testing
import TickertapeTesting

/// A service that has places for some symbols only, and that knows some symbols only from the second request on.
@Suite("Symbols that the service refuses, through the whole feed", .timeLimit(.minutes(2 * Patience.factor)))
struct RefusedSymbolsTests {
    /// Plays the service until the server stops; returns all requests that it got.
    private static func play(
        _ server: ScriptedFinnhub,
        places: Int = 50,
        unknownOnce unknown: Set<String> = []
    ) -> Task<[String], Never> {
        Task {
            var requests: [String] = []
            var taken: [String] = []
            for await event in server.events {
                guard case .received(let connection, let text) = event else { continue }
                let symbol = String(text.split(separator: "\"").last { $0 != "}" } ?? "")
                let isEnd = text.contains("unsubscribe")
                let isFirst = !requests.contains("+\(symbol)")
                requests.append((isEnd ? "-" : "+") + symbol)
                if isEnd {
                    taken.removeAll { $0 == symbol }
                } else if unknown.contains(symbol), isFirst {
                    server.send(#"{"msg":"Invalid symbol \#(symbol)","type":"error"}"#, on: connection)
                } else if taken.count < places {
                    taken.append(symbol)
                    server.send(FeedBench.trade(symbol, requests.count), on: connection)
                } else {
                    server.send(#"{"msg":"Subscribing to too many symbols","type":"error"}"#, on: connection)
                }
            }
            return requests
        }
    }

    private static func feed(
        _ server: ScriptedFinnhub,
        _ log: TapeLog,
        change: (inout FinnhubSettings) -> Void
    ) async throws -> FeedService {
        var settings = FinnhubSettings(key: Secret("a secret key"))
        settings.upstream = UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: server.port)
        change(&settings)
        return try await FinnhubFeed.make(
            settings: settings,
            loop: MultiThreadedEventLoopGroup.singleton.next(),
            epoch: 1,
            readers: [log],
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
            wallClock: { 1_000_000_000 }
        )
    }

    @Test("the symbols that are too many are found, the others stay, and one comes as soon as a place is free")
    func tooMany() async throws {
        let server = try await ScriptedFinnhub.start { _ in .play([]) }
        let service = Self.play(server, places: 3)
        let log = TapeLog()
        let feed = try await Self.feed(server, log) { $0.symbols = ["A", "B"] }
        let subscriptions = Subscriptions(
            Subscriptions.Settings(limit: 50, linger: .zero),
            retained: ["A", "B"],
            loop: feed.loop
        )
        subscriptions.connect(feed)
        for symbol in ["C", "D", "E"] { #expect(subscriptions.retain(symbol) == .accepted) }
        let outcome = Task { try await feed.run() }
        #expect(
            await log.waits { contents in
                contents.trades.count == 3 && contents.symbolStates.count { $0.word == "over-limit" } == 2
            }
        )
        let before = log.contents
        #expect(Set(before.lines.map { $0.prefix(1) }) == ["A", "B", "C"])
        for symbol in ["D", "E"] { #expect(before.words(of: symbol) == ["asked", "over-limit"]) }
        #expect(
            before.symbolStates.filter { $0.word == "over-limit" }.allSatisfy {
                $0.reason == "Subscribing to too many symbols"
            }
        )
        subscriptions.release("C")
        #expect(await log.waits { $0.trades.count == 4 })
        let after = log.contents
        #expect(after.lines.last?.hasPrefix("D ") == true)
        #expect(after.words(of: "D") == ["asked", "over-limit", "live"])
        #expect(after.words(of: "E") == ["asked", "over-limit"])
        for symbol in ["A", "B"] { #expect(after.words(of: symbol) == ["asked", "live"]) }
        #expect(!after.words.contains("reconnecting") && after.words.last == "live")
        feed.stop()
        try await outcome.value
        try await server.stop()
        #expect(await service.value == ["+A", "+B", "+C", "+D", "+E", "-C", "+D"])
    }

    @Test("an unknown symbol is requested again, and trades when the service knows it at last")
    func unknown() async throws {
        let server = try await ScriptedFinnhub.start { _ in .play([]) }
        let service = Self.play(server, unknownOnce: ["NEW"])
        let log = TapeLog()
        let feed = try await Self.feed(server, log) { settings in
            settings.symbols = ["A", "NEW", "B"]
            settings.watch.retryRefused = 20_000_000
        }
        let outcome = Task { try await feed.run() }
        #expect(await log.waits { $0.trades.count == 3 })
        let contents = log.contents
        #expect(contents.words(of: "NEW") == ["asked", "no-such-symbol", "live"])
        #expect(contents.words(of: "A") == ["asked", "live"] && contents.words(of: "B") == ["asked", "live"])
        #expect(contents.lines.last?.hasPrefix("NEW ") == true)
        #expect(!contents.words.contains("reconnecting"))
        feed.stop()
        try await outcome.value
        try await server.stop()
        #expect(await service.value == ["+A", "+NEW", "+B", "+NEW"])
    }
}
