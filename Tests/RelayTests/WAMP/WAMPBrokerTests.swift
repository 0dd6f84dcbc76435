import Market
import Testing
@testable import Relay

@Suite("The broker of WAMP")
struct WAMPBrokerTests {
    private static func pattern(_ text: String, _ match: WAMPMatch) -> WAMPPattern {
        WAMPPattern(text: text, match: match)
    }

    @Test("a topic is matched exactly, by its beginning and by its components")
    func matching() throws {
        var broker = WAMPBroker()
        let exact = try broker.subscribe(1, to: Self.pattern("a.b.c", .exact))
        let prefix = try broker.subscribe(1, to: Self.pattern("a.b", .prefix))
        let all = try broker.subscribe(2, to: Self.pattern("", .prefix))
        let wildcard = try broker.subscribe(2, to: Self.pattern("a..c", .wildcard))
        #expect(broker.matching("a.b.c") == [exact, prefix, all, wildcard])
        #expect(broker.matching("a.bx") == [prefix, all])
        #expect(broker.matching("a.x.c") == [all, wildcard])
        #expect(broker.matching("a.x.c.d") == [all])
        #expect(broker.matching("ééé") == [all], "a prefix may end within a character of the topic")
        #expect(broker.topic("a.b.c", for: exact) == nil && broker.topic("a.b.c", for: prefix) == "a.b.c")
    }

    @Test("equal subscriptions share a number, which goes with the last of them")
    func shares() throws {
        var broker = WAMPBroker()
        let pattern = Self.pattern("tickertape.status", .exact)
        let id = try broker.subscribe(1, to: pattern)
        #expect(try broker.subscribe(2, to: pattern) == id && broker[id]?.members == [1, 2])
        #expect(try broker.subscribe(1, to: pattern) == id, "a repeated one changes nothing")
        let generation = broker.generation
        #expect(broker.unsubscribe(1, from: id) && !broker.unsubscribe(1, from: id))
        #expect(broker.generation == generation && broker.id(of: pattern) == id)
        broker.left(2)
        #expect(
            broker.id(of: pattern) == nil && broker.matching("tickertape.status") == []
                && broker.generation != generation
        )
        #expect(try broker.subscribe(1, to: pattern) != id, "a number is used once")
    }

    @Test("the wildcard subscriptions of a session and of all sessions are limited")
    func limit() throws {
        var broker = WAMPBroker()
        func wildcard(_ number: Int) -> WAMPPattern { Self.pattern("a\(number).", .wildcard) }
        let sessions = WAMPLimits.wildcards / WAMPLimits.wildcardsOfSession
        for number in 0..<WAMPLimits.wildcards {
            _ = try broker.subscribe(UInt64(number / WAMPLimits.wildcardsOfSession + 1), to: wildcard(number))
        }
        #expect(throws: WAMPFailure.self) { try broker.subscribe(1, to: wildcard(WAMPLimits.wildcardsOfSession)) }
        #expect(try broker.subscribe(1, to: wildcard(1)) == 2, "a repeated one is no further one")
        let late = UInt64(sessions + 1)
        #expect(throws: WAMPFailure.self) { try broker.subscribe(late, to: wildcard(WAMPLimits.wildcards)) }
        #expect(try broker.subscribe(late, to: wildcard(1)) == 2, "one that exists is shared")
        broker.left(1)
        #expect(broker.matching("a1.x").count == 1 && broker.matching("a2.x").isEmpty)
        _ = try broker.subscribe(late, to: wildcard(WAMPLimits.wildcards))
    }

    @Test("topics of other bytes are other topics, even if they look the same, except where they are symbols")
    func equivalentTopics() throws {
        var broker = WAMPBroker()
        let (composed, parts) = ("com.\u{E9}", "com.e\u{301}")
        for match in WAMPMatch.allCases {
            _ = try broker.subscribe(1, to: Self.pattern(composed, match))
            _ = try broker.subscribe(2, to: Self.pattern(parts, match))
        }
        #expect(broker.matching(composed) == [1, 3, 5] && broker.matching(parts) == [2, 4, 6])
        #expect(broker.unsubscribe(2, from: 2) && broker.matching(composed) == [1, 3, 5])
        let symbol = try broker.subscribe(1, to: Self.pattern("tickertape.price.\u{E9}", .exact))
        #expect(broker.matching("tickertape.price.e\u{301}") == [symbol])
    }

    @Test("a pattern may match topics of a symbol or none")
    func topics() {
        let cases: [(String, WAMPMatch, WAMPTopics)] = [
            ("tickertape.price.", .prefix, .prices), ("tickertape.price.BINANCE", .prefix, .prices),
            ("tickertape.", .prefix, [.prices, .trades, .status, .gaps]),
            ("t", .prefix, [.prices, .trades, .status, .gaps]),
            ("", .prefix, [.prices, .trades, .status, .gaps]), ("tickertape.trades.", .wildcard, .trades),
            ("..", .wildcard, [.prices, .trades]), (".", .wildcard, [.status, .gaps]),
            ("tickertape..A", .wildcard, [.prices, .trades]), ("tickertape.price.A", .exact, .prices),
            ("tickertape.status", .exact, .status), ("tickertape.gap", .prefix, .gaps),
            ("tickertape.price.A.", .prefix, []), ("tickertape.price", .wildcard, []), ("com.", .prefix, []),
        ]
        for (text, match, topics) in cases { #expect(WAMPTopics(of: Self.pattern(text, match)) == topics, "\(text)") }
    }

    @Test("an identifier of global scope is random, from 1 to 2^53")
    func ids() {
        var ids = WAMPIDs(SeededGenerator(seed: 1))
        let all = (0..<1_000).map { _ in ids.next() }
        #expect(all.allSatisfy { WAMPIDs.range.contains($0) } && Set(all).count == 1_000)
        #expect(all.contains { $0 > 1 << 52 })
    }
}
