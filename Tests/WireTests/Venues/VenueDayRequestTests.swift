import Market
import NIOCore
import Testing
import Wire

@Suite("The last 24 hours over REST")
struct VenueDayRequestTests {
    private static let binance = VenueDayRequest(.binance, ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT"])
    private static let element =
        #"{"symbol":"BTCUSDT","openPrice":"61000.10000000","highPrice":"62500.00000000","lowPrice":"60000.5","#
        + #""lastPrice":"61837.63000000","volume":"30211.07412000","quoteVolume":"1.0","openTime":1,"count":9}"#

    private static func days(_ request: VenueDayRequest, _ body: String) -> [VenueDay] {
        request.days(in: ByteBuffer(string: body), received: 7)
    }

    @Test("names the symbols as the venue's REST service does")
    func requests() {
        #expect(Self.binance.path == "/api/v3/ticker/24hr")
        #expect(Self.binance.query.map(\.1) == ["MINI", #"["BTCUSDT","ETHUSDT"]"#])
        #expect(VenueDayRequest(.coinbase, ["COINBASE:BTC-USD"]).path == "/products/BTC-USD/stats")
        #expect(VenueDayRequest(.kraken, ["KRAKEN:XXBTZUSD", "KRAKEN:SOLUSD"]).query.map(\.1) == ["XXBTZUSD,SOLUSD"])
    }

    @Test("of Binance has exact figures, and the change from the opening price")
    func readsBinance() throws {
        let day = try #require(Self.days(Self.binance, "[\(Self.element)]").first)
        #expect(day.symbol == "BINANCE:BTCUSDT" && day.received == 7)
        #expect(day.open == ExactDecimal("61000.1") && day.high == ExactDecimal("62500"))
        #expect(day.low == ExactDecimal("60000.5") && day.volume == ExactDecimal("30211.07412"))
        #expect(day.change == ExactDecimal("837.53"))
    }

    @Test("of Coinbase names no symbol: it is the requested one")
    func readsCoinbase() {
        let body =
            #"{"open":"61000","high":"62000","low":"60000.01","last":"61500","volume":"9000.5","volume_30day":"1"}"#
        let days = Self.days(VenueDayRequest(.coinbase, ["COINBASE:BTC-USD"]), body)
        #expect(days.map(\.symbol) == ["COINBASE:BTC-USD"] && days.first?.change == ExactDecimal("500"))
    }

    @Test("of Kraken takes the second figure of each pair, and has no opening price of 24 hours ago")
    func readsKraken() {
        let body =
            #"{"error":[],"result":{"XXBTZUSD":{"a":["1","1","1"],"c":["83930.3","0.1"],"v":["10.5","2000.25"],"#
            + #""p":["1","2"],"t":[1,2],"l":["83000.1","82000.2"],"h":["84000.3","85000.4"],"o":"83500.0"}}}"#
        let days = Self.days(VenueDayRequest(.kraken, ["KRAKEN:XXBTZUSD"]), body)
        #expect(
            days == [
                VenueDay(
                    symbol: "KRAKEN:XXBTZUSD",
                    open: nil,
                    high: ExactDecimal("85000.4")!,
                    low: ExactDecimal("82000.2")!,
                    last: ExactDecimal("83930.3")!,
                    volume: ExactDecimal("2000.25")!,
                    received: 7
                )
            ]
        )
    }

    @Test(
        "leaves out what it cannot read and what was not requested",
        arguments: [
            "", "[", "[]", "{}", "null", "<html>", "[1,2]", #"[{"symbol":"BTCUSDT"}]"#,
            #"[{"symbol":"BTCUSDT","highPrice":"1","lowPrice":"x","lastPrice":"1","volume":"1"}]"#,
            #"[{"symbol":"OTHER","openPrice":"1","highPrice":"1","lowPrice":"1","lastPrice":"1","volume":"1"}]"#,
            #"{"error":["EQuery:Unknown asset pair"],"result":null}"#, #"{"code":-1121,"msg":"Invalid symbol."}"#,
        ]
    )
    func unreadable(_ body: String) {
        #expect(Self.days(Self.binance, body).isEmpty)
        #expect(Self.days(VenueDayRequest(.coinbase, ["COINBASE:BTC-USD"]), body).isEmpty)
        #expect(Self.days(VenueDayRequest(.kraken, ["KRAKEN:XXBTZUSD"]), body).isEmpty)
    }

    @Test("of a cut answer has only whole elements")
    func cut() {
        let whole = "[\(Self.element)]"
        for length in 0..<whole.utf8.count {
            let days = Self.days(Self.binance, String(whole.prefix(length)))
            #expect(days.count == (length > Self.element.utf8.count ? 1 : 0))
        }
    }
}
