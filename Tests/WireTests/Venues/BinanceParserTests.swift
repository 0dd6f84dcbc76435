import Market
import Testing
import Wire

@Suite struct BinanceParserTests {
    private func parse(_ text: String) -> (VenueMessage, [String]) { VenueParsing.parse(text, .binance) }

    @Test("a trade of a combined or a raw stream gives its id, digits and time")
    func trades() {
        let data =
            #"{"e":"trade","E":1723161255343,"s":"BTCUSDT","t":3735683259,"p":"61837.63000000","q":"0.02000000","T":1723161255342,"m":true,"M":true}"#
        for frame in [#"{"stream":"btcusdt@trade","data":\#(data)}"#, data] {
            let (message, trades) = self.parse(frame)
            #expect(message == .trades(skipped: 0))
            #expect(trades == ["BINANCE:BTCUSDT 3735683259 61837.63 0.02 1723161255342000000"])
        }
    }

    @Test("times of 16 digits are microseconds; unknown keys, another order and spaces are accepted")
    func otherShapes() {
        let (message, trades) = self.parse(
            #" { "data" : {"T":1723161255342123,"M":true,"q":"1.50e+2","p":"1e-7","t":18446744073709551614,"b":7038593583,"a":[],"s":"\u0042TC","e":"trade"}, "stream" : "x" } "#
        )
        #expect(message == .trades(skipped: 0))
        #expect(trades == ["BINANCE:BTC 18446744073709551614 0.0000001 150 1723161255342123000"])
    }

    @Test("names may have letters beyond ASCII")
    func names() {
        var parsing = VenueParsing(.binance)
        let frame =
            #"{"stream":"币安人生usdt@trade","data":{"e":"trade","E":1723161255343,"s":"币安人生USDT","t":1,"p":"0.10000000","q":"10.00000000","T":1723161255342,"m":true,"M":true}}"#
        for _ in 0..<2 { #expect(parsing.parse(frame).1 == ["BINANCE:币安人生USDT 1 0.1 10 1723161255342000000"]) }
    }

    @Test(
        "a trade with a value that is no trade's is skipped",
        arguments: [
            #""p":"0","q":"1""#, #""p":"0.00000000","q":"1.00000000""#, #""p":"1","q":"0.00000000""#,
            #""p":"-1","q":"1""#,
            #""p":1,"q":"1""#, #""p":"1","q":1"#, #""p":"1 ","q":"1""#, #""p":"01.00000000","q":"1""#,
            #""p":"1","q":null"#,
            #""p":"1","q":"0.1234567890123456789""#, #""p":"1","q":"1","T":1723161255342000"#,
            #""p":"1","q":"1","t":-1"#,
            #""p":"1","q":"1","t":1.5"#, #""p":"1","q":"1","t":18446744073709551616"#, #""p":"1","q":"1","t":"1""#,
            #""p":"1","q":"1","T":0"#, #""p":"1","q":"1","T":9223372036855"#, #""p":"1","q":"1","s":"""#,
            #""p":"1","q":"1","s":7"#,
        ]
    )
    func skipped(values: String) {
        // Of duplicate keys the last counts. The sixteen digits are a time in microseconds, the only valid change.
        let (message, trades) = self.parse(
            #"{"e":"trade","E":1,"s":"A","t":1,"T":1723161255342,\#(values),"m":true,"M":true}"#
        )
        let isTime = values.contains("1723161255342000")
        #expect(message == .trades(skipped: isTime ? 0 : 1))
        #expect(trades.count == (isTime ? 1 : 0))
    }

    @Test("trades of the futures market, merged trades and block trades are no trades here")
    func others() {
        for frame in [
            #"{"e":"trade","E":1723161255343,"T":1723161255342,"s":"BTCUSDT","t":5,"p":"61837.6","q":"0.5","X":"MARKET","m":true}"#,
            #"{"stream":"nknusdt@aggTrade","data":{"e":"aggTrade","E":1633998523963,"s":"NKNUSDT","a":15683430,"p":"0.35280000","q":"58.00000000","f":19862790,"l":19862790,"T":1633998523963,"m":false,"M":true}}"#,
            #"{"e":"blockTrade","E":1772506983582,"s":"BNBBTC","t":582,"p":"0.052","q":"5838","T":1772506983321,"m":true}"#,
            "{}", #"{"stream":"x","data":[]}"#,
        ] {
            let (message, trades) = self.parse(frame)
            #expect(message == .other && trades.isEmpty, "\(frame)")
        }
    }

    @Test("answers, errors and the shutdown say what they are")
    func answers() {
        let messages: [(String, VenueMessage)] = [
            (#"{"result":null,"id":1}"#, .acknowledged(request: 1)),
            (#"{"result":["btcusdt@aggTrade"],"id":3}"#, .acknowledged(request: 3)),
            (#"{"result":null,"id":"a"}"#, .acknowledged(request: nil)),
            (#"{"stream":"!serverShutdown","data":{"e":"serverShutdown","E":1770123456789}}"#, .closing),
            (#"{"e":"serverShutdown","E":1770123456789}"#, .closing),
            (
                #"{"code":2,"msg":"Invalid request: request ID must be an unsigned integer"}"#,
                .error("Invalid request: request ID must be an unsigned integer")
            ),
            (#"{"error":{"code":2,"msg":"Invalid request"},"id":1}"#, .error("Invalid request")),
            ("[1]", .malformed), ("", .malformed), (#"{"result":null,"id":1}x"#, .malformed),
            (#"{"a":tru}"#, .malformed),
        ]
        for (frame, message) in messages { #expect(self.parse(frame).0 == message, "\(frame)") }
        let long = self.parse(#"{"code":1,"msg":"\#(String(repeating: "ä", count: 9_000))"}"#).0
        #expect(long == .error(String(repeating: "ä", count: 512)))
    }
}
