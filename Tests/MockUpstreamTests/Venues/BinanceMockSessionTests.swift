import Market
import NIOCore
import Testing
import Wire
@testable import MockUpstream

@Suite("A mock server's session with a client of Binance")
struct BinanceMockSessionTests {
    private static let second: Int64 = 1_000_000_000

    private static func session(_ uri: String = "/stream") -> BinanceMockSession {
        BinanceMockSession(MockSessionOpening(known: ["BINANCE:BTCUSDT"], uri: uri, wallClock: { 7_000_000 }))
    }

    private static func send(_ text: String, to session: inout BinanceMockSession, at now: Int64 = 0) -> [String] {
        VenueTranscript.words(session.received(ByteBuffer(string: text), recent: RecentTrades(), now: now))
    }

    @Test("acknowledges every stream, and sends only trades whose stream is spelled in lower case")
    func acknowledges() {
        var session = Self.session()
        #expect(!session.isSubscribed)
        let text =
            #"{"method":"SUBSCRIBE","params":["btcusdt@trade","ETHUSDT@trade","nosuch@trade","x@aggTrade"],"id":5}"#
        #expect(Self.send(text, to: &session) == [#"{"result":null,"id":5}"#])
        #expect(session.isSubscribed(to: "BINANCE:BTCUSDT") && session.isSubscribed(to: "BINANCE:NOSUCH"))
        #expect(!session.isSubscribed(to: "BINANCE:ETHUSDT") && !session.isSubscribed(to: "BINANCE:X"))
        #expect(
            Self.send(#"{"method":"LIST_SUBSCRIPTIONS","id":"a"}"#, to: &session)
                == [#"{"result":["btcusdt@trade","ETHUSDT@trade","nosuch@trade","x@aggTrade"],"id":"a"}"#]
        )
        #expect(
            Self.send(#"{"method":"UNSUBSCRIBE","params":["btcusdt@trade"]}"#, to: &session)
                == [#"{"result":null,"id":null}"#]
        )
        #expect(!session.isSubscribed(to: "BINANCE:BTCUSDT"))
    }

    @Test("takes the streams of the address, and sends raw events on /ws")
    func addresses() {
        let combined = Self.session("/stream?streams=btcusdt@trade/ethusdt%40trade&timeUnit=x")
        #expect(combined.isSubscribed(to: "BINANCE:BTCUSDT") && combined.isSubscribed(to: "BINANCE:ETHUSDT"))
        var raw = Self.session("/ws/btcusdt@trade")
        #expect(raw.isSubscribed(to: "BINANCE:BTCUSDT"))
        let event = ByteBuffer(string: #"{"e":"trade"}"#)
        let frame = BinanceEncoder.combined(event, stream: "btcusdt@trade")
        #expect(raw.form(of: frame, symbol: "BINANCE:BTCUSDT") == event)
        #expect(combined.form(of: event, symbol: "BINANCE:BTCUSDT") == frame)
        #expect(combined.form(of: frame, symbol: "BINANCE:BTCUSDT") == frame)
        #expect(
            Self.send(#"{"method":"SET_PROPERTY","params":["combined",true],"id":1}"#, to: &raw)
                == [#"{"result":null,"id":1}"#]
        )
        #expect(raw.form(of: frame, symbol: "BINANCE:BTCUSDT") == frame)
        #expect(
            Self.send(#"{"method":"GET_PROPERTY","params":["combined"],"id":2}"#, to: &raw)
                == [#"{"result":true,"id":2}"#]
        )
    }

    @Test(
        "answers a wrong request with an error and keeps the connection",
        arguments: [
            ("hello", #""code":3"#), ("[]", #""code":3"#), (#"{"id":1}"#, "missing field `method`"),
            (#"{"method":"NO","id":1}"#, "unknown variant NO"), (#"{"method":"SUBSCRIBE","id":1.5}"#, "request ID"),
            (#"{"method":"SET_PROPERTY","params":["x",true],"id":1}"#, "Unknown property"),
        ]
    )
    func wrong(text: String, words: String) {
        var session = Self.session()
        let answers = Self.send(text, to: &session)
        #expect(answers.count == 1 && answers[0].contains(words))
    }

    @Test("disconnects a client at its sixth message in a second, whatever it is")
    func rate() {
        var session = Self.session()
        for _ in 0..<3 { #expect(Self.send("x", to: &session, at: 0).count == 1) }
        #expect(session.pingReceived(now: 1) == [])
        #expect(session.pongReceived(ByteBuffer(), now: 2) == [])
        #expect(Self.send("x", to: &session, at: 3) == ["disconnect: more than 5 messages in a second"])
        #expect(Self.send("x", to: &session, at: 5 * Self.second) == [] && session.deadline == nil)
        var patient = Self.session()
        for turn in 0..<50 { #expect(Self.send("x", to: &patient, at: Int64(turn) * Self.second / 5).count == 1) }
    }

    @Test("refuses more than 1,024 streams as a whole")
    func streams() {
        var session = Self.session()
        func names(_ range: Range<Int>) -> String { range.map { #""s\#($0)@trade""# }.joined(separator: ",") }
        func subscribe(_ range: Range<Int>) -> String { #"{"method":"SUBSCRIBE","params":[\#(names(range))],"id":1}"# }
        #expect(Self.send(subscribe(0..<1_024), to: &session) == [#"{"result":null,"id":1}"#])
        #expect(Self.send(subscribe(1_000..<1_024), to: &session) == [#"{"result":null,"id":1}"#])
        #expect(Self.send(subscribe(1_023..<1_025), to: &session)[0].contains(#""code":2"#))
        #expect(!session.isSubscribed(to: "BINANCE:S1024"))
    }

    @Test("pings every 20 s with a payload, and disconnects a client without a right pong within 60 s")
    func pings() {
        var session = Self.session()
        let recent = RecentTrades()
        #expect(session.opened(now: 0) == [] && session.deadline == 20 * Self.second)
        let payload = ByteBuffer(string: "7")
        #expect(session.timeReached(recent: recent, now: 1) == [])
        #expect(session.timeReached(recent: recent, now: 20 * Self.second) == [.ping(payload)])
        #expect(session.pongReceived(payload, now: 21 * Self.second) == [])
        #expect(session.timeReached(recent: recent, now: 40 * Self.second) == [.ping(payload)])
        #expect(session.pongReceived(ByteBuffer(string: "8"), now: 41 * Self.second) == [])
        #expect(session.timeReached(recent: recent, now: 60 * Self.second) == [.ping(payload)])
        #expect(session.timeReached(recent: recent, now: 80 * Self.second) == [.ping(payload)])
        #expect(
            VenueTranscript.words(session.timeReached(recent: recent, now: 100 * Self.second))
                == ["disconnect: no pong for 60 s"]
        )
    }
}
