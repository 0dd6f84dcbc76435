import Market
import NIOCore
import Testing
import Wire
@testable import MockUpstream

@Suite("A mock server's session with a client of Coinbase")
struct CoinbaseMockSessionTests {
    private static let second: Int64 = 1_000_000_000

    private static func session() -> CoinbaseMockSession {
        CoinbaseMockSession(MockSessionOpening(known: ["COINBASE:BTC-USD", "COINBASE:ETH-USD"]))
    }

    private static func send(
        _ text: String,
        to session: inout CoinbaseMockSession,
        recent: RecentTrades = RecentTrades(),
        at now: Int64 = 0
    ) -> [String] {
        VenueTranscript.words(session.received(ByteBuffer(string: text), recent: recent, now: now))
    }

    /// Two played trades of one product.
    private static func played() throws -> RecentTrades {
        var symbols = SymbolTable()
        let interned = symbols.intern("COINBASE:BTC-USD")
        let symbol = try #require(interned)
        let price = try #require(ExactDecimal(significand: 5, exponent: -1))
        let recent = RecentTrades()
        for id in [41, 42, 42, 40] as [UInt64] {
            recent.take(
                [Trade(price: price, size: price, exchangeTime: 1_000_000_000_000_000_000, symbol: symbol, id: id)],
                symbols: symbols
            )
        }
        return recent
    }

    private static let both = #"{"type":"subscribe","product_ids":["BTC-USD"],"channels":["matches","heartbeat"]}"#

    @Test("answers with all channels, an error for each bad product, and subscribes to the good ones")
    func subscribes() {
        var session = Self.session()
        _ = session.opened(now: 0)
        let request =
            #"{"type":"subscribe","product_ids":["BTC-USD","NO-USD","btc-usd"],"channels":["matches","heartbeat"]}"#
        #expect(
            Self.send(request, to: &session) == [
                #"{"type":"error","message":"Failed to subscribe","reason":"NO-USD is not a valid product"}"#,
                #"{"type":"error","message":"Failed to subscribe","reason":"btc-usd is not a valid product"}"#,
                #"{"type":"subscriptions","channels":[{"name":"matches","product_ids":["BTC-USD"]},"#
                    + #"{"name":"heartbeat","product_ids":["BTC-USD"]}]}"#,
            ]
        )
        #expect(session.isSubscribed(to: "COINBASE:BTC-USD") && !session.isSubscribed(to: "COINBASE:ETH-USD"))
        let more = #"{"type":"subscribe","channels":[{"name":"matches","product_ids":["ETH-USD"]}]}"#
        #expect(
            Self.send(more, to: &session) == [
                #"{"type":"subscriptions","channels":[{"name":"matches","product_ids":["BTC-USD","ETH-USD"]},"#
                    + #"{"name":"heartbeat","product_ids":["BTC-USD"]}]}"#
            ]
        )
        let less = #"{"type":"unsubscribe","product_ids":["BTC-USD"],"channels":["matches"]}"#
        #expect(
            Self.send(less, to: &session) == [
                #"{"type":"subscriptions","channels":[{"name":"matches","product_ids":["ETH-USD"]},"#
                    + #"{"name":"heartbeat","product_ids":["BTC-USD"]}]}"#
            ]
        )
        #expect(!session.isSubscribed(to: "COINBASE:BTC-USD"))
    }

    @Test("sends the newest trade of each new product, with its id")
    func lastMatch() throws {
        var session = Self.session()
        let recent = try Self.played()
        let answers = Self.send(Self.both, to: &session, recent: recent)
        #expect(answers.count == 2 && answers[1].hasPrefix(#"{"type":"last_match","trade_id":42,"#))
        // A repeated subscription is none.
        #expect(Self.send(Self.both, to: &session, recent: recent).count == 1)
    }

    @Test("disconnects a client that has not subscribed within 5 s, also after a failed attempt")
    func silence() {
        var session = Self.session()
        _ = session.opened(now: 0)
        #expect(session.deadline == 5 * Self.second)
        #expect(Self.send("{", to: &session) == [#"{"type":"error","message":"Malformed JSON"}"#])
        #expect(
            Self.send(#"{"type":"subscribe","product_ids":["NO"],"channels":["matches"]}"#, to: &session).count == 1
        )
        #expect(session.timeReached(recent: RecentTrades(), now: 5 * Self.second - 1) == [])
        #expect(
            VenueTranscript.words(session.timeReached(recent: RecentTrades(), now: 5 * Self.second))
                == ["disconnect: no subscription within 5 s"]
        )
    }

    @Test("sends a heartbeat each second with the newest id, and 0 before the first trade")
    func heartbeats() throws {
        var session = Self.session()
        let recent = try Self.played()
        _ = session.opened(now: 0)
        _ = Self.send(
            #"{"type":"subscribe","product_ids":["BTC-USD","ETH-USD"],"channels":["heartbeat"]}"#,
            to: &session
        )
        #expect(session.deadline == Self.second)
        let beats = VenueTranscript.words(session.timeReached(recent: recent, now: Self.second))
        #expect(beats.count == 2 && beats[0].contains(#""last_trade_id":42,"product_id":"BTC-USD""#))
        #expect(beats[1].contains(#""last_trade_id":0,"product_id":"ETH-USD""#))
        #expect(session.deadline == 2 * Self.second)
    }

    @Test("passes on the recorded heartbeats of the client's products, adds none beside them, and no recorded answer")
    func recorded() throws {
        var session = Self.session()
        _ = session.opened(now: 0)
        let beat = CoinbaseEncoder.heartbeat(product: "BTC-USD", newest: 9, at: 0)
        #expect(session.passes(beat, now: 0) == false)
        _ = Self.send(Self.both, to: &session)
        #expect(session.passes(beat, now: Self.second) == true)
        #expect(session.passes(CoinbaseEncoder.heartbeat(product: "ETH-USD", newest: 9, at: 0), now: 0) == false)
        #expect(session.passes(CoinbaseEncoder.subscriptions([]), now: 0) == false)
        #expect(session.passes(CoinbaseEncoder.error("x"), now: 0) == false)
        #expect(session.timeReached(recent: RecentTrades(), now: Self.second) == [])
        #expect(session.timeReached(recent: RecentTrades(), now: 3 * Self.second).count == 1)
    }

    @Test(
        "refuses channels that need a login, unknown ones and unknown types, in words",
        arguments: [
            (#"{"type":"subscribe","product_ids":["BTC-USD"],"channels":["full"]}"#, "require authentication"),
            (#"{"type":"subscribe","product_ids":["BTC-USD"],"channels":["x"]}"#, "x is not a valid channel"),
            (#"{"type":"subscribe","product_ids":["BTC-USD"]}"#, "no channels provided"),
            (#"{"type":"hello"}"#, "Type has to be"), (#"{}"#, "Type has to be"), ("7", "Malformed"),
        ]
    )
    func refused(text: String, words: String) {
        var session = Self.session()
        let answers = Self.send(text, to: &session)
        #expect(answers.count == 1 && answers[0].contains(words))
        #expect(!session.isSubscribed)
    }

    @Test("disconnects a client that sends more than 100 messages in a second")
    func rate() {
        var session = Self.session()
        for _ in 0..<100 { #expect(Self.send("x", to: &session).count == 1) }
        #expect(Self.send("x", to: &session) == ["disconnect: more than 100 messages in a second"])
    }

    @Test("keeps a bounded number of products, of whatever names")
    func bounded() {
        var session = CoinbaseMockSession(MockSessionOpening(known: nil))
        for round in 0..<3 {
            let names = (0..<1_000).map { #""P\#(round * 1_000 + $0)""# }.joined(separator: ",")
            _ = Self.send(#"{"type":"subscribe","product_ids":[\#(names)],"channels":["matches"]}"#, to: &session)
        }
        #expect(session.isSubscribed(to: "COINBASE:P1023") && !session.isSubscribed(to: "COINBASE:P1024"))
    }
}
