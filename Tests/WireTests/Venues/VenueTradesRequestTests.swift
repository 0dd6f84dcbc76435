import Market
import Testing
import Wire

@Suite("Targets of requests for earlier trades")
struct VenueTradesRequestTests {
    @Test(
        "a request has the venue's target, and the target is read back",
        arguments: [
            (
                VenueTradesRequest(.binance, symbol: "BINANCE:BTCUSDT", .ids(first: 28_457, count: 12)),
                "/api/v3/historicalTrades?symbol=BTCUSDT&fromId=28457&limit=12", 25
            ),
            (
                VenueTradesRequest(.binance, symbol: "BINANCE:币安人生USDT", .newest(count: 1_000)),
                "/api/v3/trades?symbol=%E5%B8%81%E5%AE%89%E4%BA%BA%E7%94%9FUSDT&limit=1000", 25
            ),
            (
                VenueTradesRequest(.coinbase, symbol: "COINBASE:BTC-USD", .ids(first: 100, count: 50)),
                "/products/BTC-USD/trades?after=150&limit=50", 1
            ),
            (
                VenueTradesRequest(.coinbase, symbol: "COINBASE:BTC-USD", .newest(count: 7)),
                "/products/BTC-USD/trades?limit=7", 1
            ),
            (
                VenueTradesRequest(.kraken, symbol: "KRAKEN:XXBTZUSD", .since(1_790_359_840_939_291_199)),
                "/0/public/Trades?pair=XXBTZUSD&since=1790359840939291199&count=1000", 1
            ),
            (
                VenueTradesRequest(.kraken, symbol: "KRAKEN:SOLUSD", .newest(count: 3)),
                "/0/public/Trades?pair=SOLUSD&count=3", 1
            ),
        ]
    )
    func targets(request: VenueTradesRequest, target: String, weight: Int) throws {
        #expect(request.target == target)
        #expect(VenueTradesRequest.weight(of: request.venue) == weight)
        #expect(try VenueTradesRequest(target: target, of: request.venue) == request)
    }

    @Test("a count is kept within one answer, and an id within 64 bits")
    func limits() {
        func target(_ venue: Venue, _ trades: VenueTradesRequest.Trades) -> String {
            VenueTradesRequest(venue, symbol: "X", trades).target
        }
        #expect(target(.binance, .ids(first: .max, count: 5_000)).hasSuffix("fromId=18446744073709551615&limit=1000"))
        #expect(target(.coinbase, .ids(first: .max, count: 1_000)).hasSuffix("after=18446744073709551615&limit=1000"))
        #expect(target(.binance, .newest(count: -1)).hasSuffix("limit=1"))
        #expect(target(.kraken, .since(-5)).hasSuffix("since=0&count=1000"))
    }

    @Test("a target without an id asks for the newest trades, a larger limit is the largest, and seconds are a time")
    func read() throws {
        func read(_ target: String, _ venue: Venue) throws -> VenueTradesRequest.Trades {
            try VenueTradesRequest(target: target, of: venue).trades
        }
        #expect(try read("/api/v3/historicalTrades?symbol=A", .binance) == .newest(count: 500))
        #expect(
            try read("/api/v3/historicalTrades?symbol=A&limit=9999&fromId=0", .binance) == .ids(first: 0, count: 1_000)
        )
        #expect(try read("/api/v3/trades?symbol=A&fromId=7", .binance) == .newest(count: 500))
        #expect(try read("/products/A/trades?after=10", .coinbase) == .ids(first: 0, count: 10))
        #expect(try read("/products/A/trades?after=0", .coinbase) == .ids(first: 0, count: 0))
        #expect(try read("/0/public/Trades?pair=A&since=1790359840", .kraken) == .since(1_790_359_840_000_000_000))
        #expect(try read("/0/public/Trades?pair=A&since=0", .kraken) == .since(0))
    }

    @Test(
        "a hostile target is refused",
        arguments: [
            (Venue.binance, "", VenueTradesRequest.TargetFault.other),
            (.binance, "api/v3/trades?symbol=A", .other), (.binance, "/api/v3/klines?symbol=A", .other),
            (.binance, "/api/v3/trades", .missing("symbol")), (.binance, "/api/v3/trades?limit=5", .missing("symbol")),
            (.binance, "/api/v3/trades?symbol=", .illegal("symbol")),
            (.binance, "/api/v3/trades?symbol=%ZZ", .missing("symbol")),
            (.binance, "/api/v3/trades?symbol=A&limit=0", .illegal("limit")),
            (.binance, "/api/v3/trades?symbol=A&limit=-1", .illegal("limit")),
            (.binance, "/api/v3/historicalTrades?symbol=A&fromId=18446744073709551616", .illegal("fromId")),
            (.binance, "/api/v3/historicalTrades?symbol=A&fromId=", .illegal("fromId")),
            (.coinbase, "/products/A/book", .other), (.coinbase, "/products/%FF/trades", .other),
            (.coinbase, "/products/A/trades?after=x", .illegal("after")),
            (.kraken, "/0/public/Trades?since=1", .missing("pair")),
            (.kraken, "/0/public/Trades?pair=A&since=10000000000000000000", .illegal("since")),
            (.kraken, "/0/public/Trades?pair=A&since=999999999999", .illegal("since")),
            (.kraken, "/0/public/Trades?pair=A&count=1001", .illegal("count")),
        ]
    )
    func refused(venue: Venue, target: String, fault: VenueTradesRequest.TargetFault) {
        #expect(throws: fault) { try VenueTradesRequest(target: target, of: venue) }
    }
}
