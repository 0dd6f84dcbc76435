import Market
import NIOCore
import Testing
import Wire

@Suite struct FinnhubEncoderTests {
    private func encode(_ text: String) throws -> String {
        var parser = FinnhubParser()
        var symbols = SymbolTable()
        var trades: [Trade] = []
        let message = parser.parse(ByteBuffer(string: text), symbols: &symbols, into: &trades)
        try #require(message == .trade(count: trades.count, skipped: 0))
        var buffer = ByteBuffer()
        FinnhubEncoder.trade(trades, symbols: symbols, into: &buffer)
        return String(buffer: buffer)
    }

    @Test(
        "a frame as Finnhub sends it comes out as it came in",
        arguments: [
            #"{"data":[{"c":null,"p":66972.77,"s":"BINANCE:BTCUSDT","t":1721555886208,"v":0.01559},{"c":null,"p":26626,"s":"BINANCE:ETHUSDT","t":1721555886208,"v":0.000004}],"type":"trade"}"#,
            #"{"data":[{"c":null,"p":5.583,"s":"BINANCE:USDTBRL","t":1636631765675,"v":8060.2}],"type":"trade"}"#,
            #"{"data":[{"c":null,"p":9.5e-7,"s":"IC MARKETS:1","t":1721555886208,"v":100000000000000000}],"type":"trade"}"#,
            #"{"data":[{"c":null,"p":0.00001234,"s":"A\"B\\C\u0001\n","t":1,"v":0}],"type":"trade"}"#,
            #"{"data":[],"type":"trade"}"#,
        ]
    )
    func roundTrip(text: String) throws { #expect(try self.encode(text) == text) }

    @Test("errors, heartbeats and requests have Finnhub's shape")
    func shapes() {
        #expect(String(buffer: FinnhubEncoder.error("Invalid \"x\"")) == #"{"msg":"Invalid \"x\"","type":"error"}"#)
        #expect(String(buffer: FinnhubEncoder.ping) == #"{"type":"ping"}"#)
        let request = FinnhubRequest.subscribe("BINANCE:BTCUSDT").encoded()
        #expect(String(buffer: request) == #"{"type":"subscribe","symbol":"BINANCE:BTCUSDT"}"#)
    }

    @Test("requests are understood with keys in any order, and their own text is read back")
    func requests() {
        func parse(_ text: String) -> FinnhubRequest? { FinnhubRequest.parse(ByteBuffer(string: text)) }
        #expect(parse(#" {"symbol":"A","x":[{}],"type":"unsubscribe"} "#) == .unsubscribe("A"))
        #expect(parse(#"{"type":"subscribe-news","symbol":"A"}"#) == .other("subscribe-news"))
        #expect(parse(#"{"type":"subscribe"}"#) == .subscribe(""))
        #expect(parse(#"{"type":"subscribe","symbol":7}"#) == .subscribe(""))
        for text in ["", "{}", "[]", "null", #"{"type":7}"#, #"{"type":"subscribe""#, #"{"type":"a"}x"#] {
            #expect(parse(text) == nil, "\(text)")
        }
        for request in [FinnhubRequest.subscribe("A\"\u{7}"), .unsubscribe("Ä"), .other("x")] {
            #expect(FinnhubRequest.parse(request.encoded()) == request)
        }
    }
}
