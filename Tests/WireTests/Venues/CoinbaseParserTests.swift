import Market
import Testing
import Wire

@Suite struct CoinbaseParserTests {
    private func parse(_ text: String) -> (VenueMessage, [String]) { VenueParsing.parse(text, .coinbase) }

    @Test("a match gives its id, digits and time; a last match is from before the subscription")
    func trades() {
        let (message, trades) = self.parse(
            #"{"type":"match","trade_id":1081862675,"maker_order_id":"f07e510f-4edf-469d-b844-4f670f1e93f1","taker_order_id":"e6f50944-3e2a-439e-ae49-308300ba8296","side":"sell","size":"0.00000001","price":"80691.53","product_id":"BTC-USD","sequence":134905860111,"time":"2026-08-25T03:35:57.198335Z"}"#
        )
        #expect(message == .trades(skipped: 0))
        #expect(trades == ["COINBASE:BTC-USD 1081862675 80691.53 0.00000001 1787628957198335000"])
        let (last, lastTrades) = self.parse(
            #"{"type":"last_match","trade_id":280232,"maker_order_id":"2a0da34e-61f7-4c36-88e5-c9dd15927b16","taker_order_id":"3c82abaa-c01e-4608-be59-6a1e69742891","side":"buy","size":"985","price":"0.00001305","product_id":"SKL-BTC","sequence":177100030,"time":"2021-04-17T16:43:37.089723Z"}"#
        )
        #expect(last == .trades(skipped: 0))
        #expect(lastTrades == ["COINBASE:SKL-BTC 280232 0.00001305 985 1618677817089723000 filled"])
    }

    @Test(
        "a time has a calendar's date, a time of day and at most nine decimals",
        arguments: [
            ("2026-08-25T03:35:57.198335Z", 1_787_628_957_198_335_000),
            ("2026-08-25T03:35:57Z", 1_787_628_957_000_000_000),
            ("2026-08-25T03:35:57.1Z", 1_787_628_957_100_000_000),
            ("2026-08-25T03:35:57.123456789Z", 1_787_628_957_123_456_789),
            ("2024-02-29T00:00:00.000000Z", 1_709_164_800_000_000_000),
            ("2000-02-29T00:00:00Z", 951_782_400_000_000_000),
            ("1970-01-01T00:00:00.000000001Z", 1), ("2262-04-11T23:47:16.854775807Z", Int64.max),
            ("2262-04-11T23:47:16.854775Z", 9_223_372_036_854_775_000),
        ]
    )
    func times(text: String, time: Int64) {
        #expect(self.parse(Self.match(time: text)).1 == ["COINBASE:BTC-USD 1 80691.53 1 \(time)"])
    }

    @Test(
        "a trade with a time that does not exist is skipped",
        arguments: [
            "2026-02-29T00:00:00.000000Z", "2100-02-29T00:00:00.000000Z", "2026-13-01T00:00:00.000000Z",
            "2026-00-10T00:00:00.000000Z", "2026-04-31T00:00:00.000000Z", "2026-04-00T00:00:00.000000Z",
            "2026-08-25T24:00:00.000000Z", "2026-08-25T23:60:00.000000Z", "2026-08-25T23:59:60.000000Z",
            "1970-01-01T00:00:00.000000Z", "1969-12-31T23:59:59.999999Z", "2262-04-11T23:47:16.854776Z",
            "2262-12-31T00:00:00.000000Z", "9999-12-31T00:00:00.000000Z", "2026-08-25 03:35:57.198335Z",
            "2026-08-25T03:35:57.198335z", "2026-08-25T03:35:57.198335+", "2026-08-25T03:35:57.Z",
            "2026-08-25T03:35:57.1234567890Z", "2026-08-25T03:35:57+00:00", "2026/08/25T03:35:57.198335Z",
            "2026-08-25T03-35-57.198335Z", "2026-08-25T03:35:57,198335Z", "2026-08-25T03:35:5:.198335Z", "",
            "2026-08-25T03:35:57.19833ZZ", "٢026-08-25T03:35:57.198335Z",
        ]
    )
    func noTimes(text: String) {
        #expect(self.parse(Self.match(time: text)) == (.trades(skipped: 1), []))
    }

    private static func match(time: String) -> String {
        #"{"type":"match","trade_id":1,"maker_order_id":"f07e510f-4edf-469d-b844-4f670f1e93f1","taker_order_id":"e6f50944-3e2a-439e-ae49-308300ba8296","side":"sell","size":"1","price":"80691.53","product_id":"BTC-USD","sequence":1,"time":"\#(time)"}"#
    }

    @Test("heartbeats, answers and errors say what they are")
    func others() {
        let failed = "Failed to subscribe"
        let messages: [(String, VenueMessage)] = [
            (
                #"{"type":"heartbeat","sequence":90,"last_trade_id":20,"product_id":"BTC-USD","time":"2014-11-07T08:19:28.464459Z"}"#,
                .heartbeat(symbol: "COINBASE:BTC-USD", newest: 20)
            ),
            (
                #"{"type":"heartbeat","sequence":90,"last_trade_id":0,"product_id":"BTC-USD"}"#,
                .heartbeat(symbol: "COINBASE:BTC-USD", newest: nil)
            ),
            (
                #"{"type":"subscriptions","channels":[{"name":"level2","product_ids":["NU-GBP"]},{"product_ids":["BTC-USD","ETH-EUR"],"name":"matches"},"status",{"name":"heartbeat"}]}"#,
                .subscribed(["COINBASE:BTC-USD", "COINBASE:ETH-EUR"])
            ),
            (#"{"type":"subscriptions","channels":[]}"#, .subscribed([])),
            (
                #"{"type":"error","message":"Failed to subscribe","reason":"ETH-USD is not a valid product"}"#,
                .refused(symbol: "COINBASE:ETH-USD", text: "\(failed): ETH-USD is not a valid product")
            ),
            (
                #"{"type":"error","message":"Failed to subscribe","reason":"LOOM-USDC is delisted"}"#,
                .refused(symbol: "COINBASE:LOOM-USDC", text: "\(failed): LOOM-USDC is delisted")
            ),
            (
                #"{"type":"error","message":"Failed to subscribe","reason":"level2, level3, and full channels now require authentication."}"#,
                .refused(symbol: nil, text: "\(failed): level2, level3, and full channels now require authentication.")
            ),
            (#"{"type":"error","message":"Malformed JSON"}"#, .error("Malformed JSON")),
            (
                #"{"type":"ticker","sequence":333938798,"product_id":"BAND-GBP","price":"14.7775","trade_id":881613}"#,
                .other
            ),
            (#"{"type":"match"}"#, .trades(skipped: 1)), ("{}", .other), (#"{"type":"match""#, .malformed),
            (#"{"type":"subscriptions","channels":[{"name":"matches","product_ids":[7]}]}"#, .malformed),
        ]
        for (frame, message) in messages { #expect(self.parse(frame).0 == message, "\(frame)") }
    }
}
