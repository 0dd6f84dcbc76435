import Market
import NIOCore
import Testing
import Wire

@Suite struct KrakenNamesTests {
    @Test(
        "pairs of the first years have their own keys, all others are joined, with XBT and XDG",
        arguments: [
            ("BTC/USD", "XXBTZUSD"), ("ETH/EUR", "XETHZEUR"), ("ETH/BTC", "XETHXXBT"), ("XRP/USD", "XXRPZUSD"),
            ("LTC/USD", "XLTCZUSD"), ("XMR/EUR", "XXMRZEUR"), ("DOGE/BTC", "XXDGXXBT"), ("EUR/USD", "ZEURZUSD"),
            ("USDT/USD", "USDTZUSD"), ("BTC/USDT", "XBTUSDT"), ("SOL/USD", "SOLUSD"), ("DOGE/USD", "XDGUSD"),
            ("SOL/BTC", "SOLXBT"), ("XRP/GBP", "XRPGBP"), ("BTC/AUD", "XBTAUD"), ("ADA/USD", "ADAUSD"),
        ]
    )
    func symbols(pair: String, symbol: String) {
        #expect(KrakenNames.symbol(of: pair) == symbol)
        let isOfFirstYears = symbol.contains("Z") || ["XETHXXBT", "XXDGXXBT"].contains(symbol)
        #expect(KrakenNames.pair(of: symbol) == (isOfFirstYears ? pair : nil))
    }

    @Test("names that are no pairs are no trap", arguments: ["", "/", "//", "BTC", "A/B/C", "BTC/", "ä/ö"])
    func noPairs(name: String) {
        #expect(KrakenNames.symbol(of: name) == name.replacing("BTC", with: "XBT").replacing("/", with: ""))
    }
}

@Suite struct VenueRequestTests {
    @Test("a request has the venue's names and form")
    func requests() {
        let requests: [(VenueRequest, Venue, String)] = [
            (
                .subscribe(["BINANCE:BTCUSDT", "BINANCE:币安人生USDTÄ"]), .binance,
                #"{"method":"SUBSCRIBE","params":["btcusdt@trade","币安人生usdtÄ@trade"],"id":7}"#
            ),
            (.unsubscribe(["BINANCE:ETHBTC"]), .binance, #"{"method":"UNSUBSCRIBE","params":["ethbtc@trade"],"id":7}"#),
            (
                .subscribe(["COINBASE:BTC-USD", "COINBASE:A\"B"]), .coinbase,
                #"{"type":"subscribe","product_ids":["BTC-USD","A\"B"],"channels":["matches","heartbeat"]}"#
            ),
            (
                .unsubscribe(["COINBASE:BTC-USD"]), .coinbase,
                #"{"type":"unsubscribe","product_ids":["BTC-USD"],"channels":["matches","heartbeat"]}"#
            ),
            (
                .subscribe(["KRAKEN:SOL/USD", "KRAKEN:XXBTZUSD"]), .kraken,
                #"{"method":"subscribe","params":{"channel":"trade","symbol":["SOL/USD","BTC/USD"],"snapshot":true},"req_id":7}"#
            ),
            (
                .unsubscribe(["KRAKEN:BTC/USD"]), .kraken,
                #"{"method":"unsubscribe","params":{"channel":"trade","symbol":["BTC/USD"]},"req_id":7}"#
            ),
            (.ping, .kraken, #"{"method":"ping","req_id":7}"#),
        ]
        for (request, venue, text) in requests { #expect(String(buffer: request.encoded(for: venue, id: 7)) == text) }
    }
}

@Suite struct FrameDialectRecognitionTests {
    @Test(
        "a frame's dialect is recognised by its members",
        arguments: [
            (#"{"data":[{"c":null,"p":1,"s":"A","t":1,"v":1}],"type":"trade"}"#, FrameDialect.finnhub),
            (#"{"type":"trade","data":[]}"#, .finnhub), (#"{"type":"ping"}"#, .finnhub),
            (#"{"msg":"Invalid symbol","type":"error"}"#, .finnhub),
            (#"{"stream":"btcusdt@trade","data":{}}"#, .binance),
            (#"{"e":"trade"}"#, .binance), (#"{"result":null,"id":1}"#, .binance), (#"{"code":2,"msg":"x"}"#, .binance),
            (#"{"error":{"code":2,"msg":"x"}}"#, .binance), (#"{"type":"last_match","trade_id":1}"#, .coinbase),
            (#"{"type":"subscriptions","channels":[]}"#, .coinbase), (#"{"type":"match"}"#, .coinbase),
            (#"{"type":"heartbeat","sequence":90,"last_trade_id":20,"product_id":"BTC-USD"}"#, .coinbase),
            (#"{"type":"error","message":"Failed to subscribe"}"#, .coinbase), (#"{"channel":"heartbeat"}"#, .kraken),
            (#"{"channel":"trade","type":"update","data":[]}"#, .kraken), (#"{"method":"pong"}"#, .kraken),
            (#"{"error":"x","method":"subscribe","success":false}"#, .kraken),
            (#" { "stream" : 1"#, .binance),
        ]
    )
    func recognised(frame: String, dialect: FrameDialect) {
        #expect(FrameDialect.recognised(in: ByteBuffer(string: frame)) == dialect)
    }

    @Test(
        "frames of no known dialect are not taken for one",
        arguments: [
            "", "{", "{}", "[]", "null", #"{"type":"trade","symbol":"A","price":"1"}"#, #"{"type":"hello"}"#,
            #"{"channel":"market_trades","client_id":"","events":[]}"#, #"{"events":[],"channel":"market_trades"}"#,
            #"{"type":"heartbeat"}"#, #"{"type":"error"}"#, #"{"type":7}"#, #"{"type":"ping""#, "{\"type\":\"pi\n",
        ]
    )
    func unknown(frame: String) {
        #expect(FrameDialect.recognised(in: ByteBuffer(string: frame)) == nil)
    }
}
