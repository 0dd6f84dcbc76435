import Market
import NIOCore
import Testing
import Wire
@testable import MockUpstream

@Suite("A mock server's session with a client of Kraken")
struct KrakenMockSessionTests {
    private static let second: Int64 = 1_000_000_000
    private static let times = #""time_in":"1970-01-01T00:00:00.000000Z","time_out":"1970-01-01T00:00:00.000000Z""#

    private static func session() -> KrakenMockSession {
        KrakenMockSession(MockSessionOpening(known: ["KRAKEN:XXBTZUSD", "KRAKEN:XETHZUSD"]))
    }

    private static func send(
        _ text: String,
        to session: inout KrakenMockSession,
        recent: RecentTrades = RecentTrades(),
        at now: Int64 = 0
    ) -> [String] {
        VenueTranscript.words(session.received(ByteBuffer(string: text), recent: recent, now: now))
    }

    private static func subscribe(_ pairs: [String], snapshot: Bool = false) -> String {
        let names = pairs.map { "\"\($0)\"" }.joined(separator: ",")
        return
            #"{"method":"subscribe","params":{"channel":"trade","symbol":[\#(names)],"snapshot":\#(snapshot)},"req_id":3}"#
    }

    @Test("begins with a status, whose connection's number exceeds 2^63")
    func status() {
        var session = Self.session()
        let words = VenueTranscript.words(session.opened(now: 0))
        #expect(words.count == 1 && words[0].hasPrefix(#"{"channel":"status","type":"update","data":[{"version":"#))
        #expect(words[0].contains(#""connection_id":9223372036854775808"#))
    }

    @Test("answers each pair of a request, and refuses names of another form, unknown and repeated ones")
    func subscribes() {
        var session = Self.session()
        func done(_ pair: String) -> String {
            #"{"method":"subscribe","req_id":3,"result":{"channel":"trade","snapshot":false,"symbol":"\#(pair)"},"#
                + #""success":true,\#(Self.times)}"#
        }
        func refused(_ pair: String, _ text: String) -> String {
            #"{"error":"\#(text)","method":"subscribe","req_id":3,"success":false,"symbol":"\#(pair)",\#(Self.times)}"#
        }
        let pairs = ["BTC/USD", "XBT/USD", "BTCUSD", "btc/usd", "ADA/USD", "ETH/USD", "BTC/USD"]
        #expect(
            Self.send(Self.subscribe(pairs), to: &session) == [
                done("BTC/USD"), refused("XBT/USD", "Currency pair not supported XBT/USD"),
                refused("BTCUSD", "Currency pair not supported BTCUSD"),
                refused("btc/usd", "Currency pair not supported btc/usd"),
                refused("ADA/USD", "Currency pair not supported ADA/USD"), done("ETH/USD"),
                refused("BTC/USD", "Already subscribed"),
            ]
        )
        #expect(session.isSubscribed(to: "KRAKEN:XXBTZUSD") && session.isSubscribed(to: "KRAKEN:XETHZUSD"))
        let end = #"{"method":"unsubscribe","params":{"channel":"trade","symbol":["BTC/USD","ADA/USD"]}}"#
        let answers = Self.send(end, to: &session)
        #expect(answers.count == 2 && answers[0].contains(#""success":true"#))
        #expect(answers[1].contains("Subscription Not Found") && !session.isSubscribed(to: "KRAKEN:XXBTZUSD"))
    }

    @Test("sends a snapshot of the last 50 trades, oldest first, if it is asked for")
    func snapshot() throws {
        var symbols = SymbolTable()
        let interned = symbols.intern("KRAKEN:XXBTZUSD")
        let symbol = try #require(interned)
        let price = try #require(ExactDecimal(significand: 5, exponent: -1))
        let recent = RecentTrades()
        for id in 1...220 as ClosedRange<UInt64> {
            recent.take(
                [Trade(price: price, size: price, exchangeTime: 1_000_000_000_000_000_000, symbol: symbol, id: id)],
                symbols: symbols
            )
        }
        var session = Self.session()
        let answers = Self.send(Self.subscribe(["BTC/USD", "ETH/USD"], snapshot: true), to: &session, recent: recent)
        #expect(answers.count == 4 && answers[3] == #"{"channel":"trade","type":"snapshot","data":[]}"#)
        var read = SymbolTable()
        var trades: [Trade] = []
        var reader = FrameReader()
        #expect(
            reader.read(ByteBuffer(string: answers[1]), of: .kraken, symbols: &read, into: &trades)
                == .trades(skipped: 0)
        )
        #expect(trades.map(\.id) == (171...220).map(UInt64.init) && trades.allSatisfy { $0.marks.contains(.filled) })
    }

    @Test("sends a heartbeat after each second without anything else, and none without a subscription")
    func heartbeats() {
        var session = Self.session()
        let recent = RecentTrades()
        _ = session.opened(now: 0)
        #expect(session.timeReached(recent: recent, now: 5 * Self.second) == [])
        _ = Self.send(Self.subscribe(["BTC/USD"]), to: &session, at: 6 * Self.second)
        #expect(session.deadline == 7 * Self.second)
        let beat = #"{"channel":"heartbeat"}"#
        #expect(VenueTranscript.words(session.timeReached(recent: recent, now: 7 * Self.second)) == [beat])
        _ = Self.send(#"{"method":"ping"}"#, to: &session, at: 7 * Self.second + 5)
        #expect(session.timeReached(recent: recent, now: 8 * Self.second) == [])
        #expect(VenueTranscript.words(session.timeReached(recent: recent, now: 8 * Self.second + 5)) == [beat])
    }

    @Test("answers a ping with its number, and closes a connection without a request for a minute")
    func idle() {
        var session = Self.session()
        _ = session.opened(now: 0)
        #expect(session.deadline == 60 * Self.second)
        #expect(
            Self.send(#"{"method":"ping","req_id":42}"#, to: &session, at: 30 * Self.second)
                == [#"{"method":"pong","req_id":42,\#(Self.times)}"#]
        )
        #expect(session.timeReached(recent: RecentTrades(), now: 60 * Self.second) == [])
        #expect(
            VenueTranscript.words(session.timeReached(recent: RecentTrades(), now: 90 * Self.second))
                == ["close: 1000 idle"]
        )
        #expect(session.deadline == nil && Self.send("x", to: &session).isEmpty)
    }

    @Test(
        "refuses what it does not understand and keeps the connection",
        arguments: [
            ("", "Malformed request"), ("{", "Malformed request"), ("{}", "Malformed request"),
            (#"{"method":"x"}"#, "Method not supported"),
            (#"{"method":"subscribe","params":{"channel":"book","symbol":["BTC/USD"]}}"#, "Channel not supported"),
            (#"{"method":"subscribe","params":{"channel":"trade"}}"#, "Symbol(s) not found"),
            (#"{"method":"subscribe","params":["trade"]}"#, "Channel not supported"),
            (#"{"method":"subscribe","params":{"channel":"trade","symbol":["/","//","a/b/c"]}}"#, "not supported"),
        ]
    )
    func refused(text: String, words: String) {
        var session = Self.session()
        _ = session.opened(now: 0)
        let answers = Self.send(text, to: &session)
        #expect(!answers.isEmpty && answers.allSatisfy { $0.contains(words) })
        #expect(!session.isSubscribed)
    }

    @Test(
        "the pair of a symbol is found from its key and from itself",
        arguments: [
            ("KRAKEN:XXBTZUSD", "BTC/USD"), ("KRAKEN:BTC/USD", "BTC/USD"), ("KRAKEN:XBTUSDT", "BTC/USDT"),
            ("KRAKEN:SOLUSD", "SOL/USD"), ("KRAKEN:XETHXXBT", "ETH/BTC"), ("KRAKEN:XDGUSD", "DOGE/USD"),
            ("KRAKEN:USD", "USD"), ("KRAKEN:", ""), ("A", "A"),
        ]
    )
    func pairs(symbol: String, pair: String) { #expect(KrakenMock.pair(of: symbol) == pair) }
}
