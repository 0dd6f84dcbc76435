import HTTP
import Market
import NIOCore
import NIOHTTP1
import Testing
import Wire
@testable import MockUpstream

@Suite("The REST service of a mock venue")
struct VenueRestServiceTests {
    private static let later = 100 * PlayedSamples.second

    private static func ids(
        _ service: VenueRestService,
        _ trades: VenueTradesRequest.Trades,
        now: Int64 = Self.later
    ) -> [UInt64]? {
        let request = VenueTradesRequest(service.venue, symbol: PlayedSamples.symbol(service.venue), trades)
        return PlayedSamples.ids(service.answer(target: request.target, now: now), request)
    }

    private static func text(_ answer: MockAnswer) -> String {
        "\(answer.http.status.code) \(String(buffer: answer.http.body))"
    }

    // MARK: Trades

    @Test("Binance gives trades by their ids and the newest ones, in pages")
    func binance() throws {
        let service = try PlayedSamples.service(.binance)
        #expect(Self.ids(service, .ids(first: 17, count: 3)) == [17, 18, 19])
        #expect(Self.ids(service, .ids(first: 0, count: 1_000)) == Array(1...1_000))
        #expect(Self.ids(service, .ids(first: 2_999, count: 1_000)) == [2_999, 3_000])
        #expect(Self.ids(service, .ids(first: 3_001, count: 1_000)) == [])
        #expect(Self.ids(service, .newest(count: 2)) == [2_999, 3_000])
        let answer = service.answer(target: "/api/v3/trades?symbol=BTCUSDT", now: Self.later)
        #expect(PlayedSamples.ids(answer.http.body, target: "/api/v3/trades?symbol=A", of: .binance)?.count == 500)
        #expect(answer.http.headers.first(name: "X-MBX-USED-WEIGHT-1M") == "150")
        #expect(service.breaches == 0)
    }

    @Test("the last 24 hours are those of the played trades, in the venue's form", arguments: Venue.allCases)
    func days(_ venue: Venue) throws {
        let symbol = PlayedSamples.symbol(venue)
        let request = VenueDayRequest(venue, [symbol])
        let query = request.query.map { "\($0.0)=\(PercentText.encoded($0.1))" }.joined(separator: "&")
        let target = request.path + (query.isEmpty ? "" : "?\(query)")
        #expect(VenueDayRequest(target: target, of: venue) == request)
        let played = PlayedTrades()
        let service = VenueRestService(of: venue, trades: played, known: [symbol], start: 0)
        func answer() -> HTTPAnswer {
            let headers: HTTPHeaders = ["User-Agent": "test"]
            let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: target, headers: headers)
            return service.answer(head, now: Self.later) { .json(.notFound, ByteBuffer()) }.http
        }
        // A symbol without trades has zeros, which are no prices.
        #expect(answer().status == .ok && request.days(in: answer().body, received: 5).isEmpty)
        var trades = PlayedSamples.trades(1...5)
        for (index, price) in [9, 4, 7, 12, 8].enumerated() {
            trades[index].price = ExactDecimal(normalisedSignificand: Int64(price), exponent: 0)
            trades[index].exchangeTime = PlayedSamples.start + Int64(index) * 6 * 3_600 * PlayedSamples.second
        }
        // The first trade is 24 hours old.
        played.take(trades, symbols: PlayedSamples.table(symbol), now: Self.later)
        let day = try #require(request.days(in: answer().body, received: 5).first)
        let number = { ExactDecimal(normalisedSignificand: $0, exponent: 0) }
        #expect(
            day
                == VenueDay(
                    symbol: symbol,
                    open: venue == .kraken ? nil : number(4),
                    high: number(12),
                    low: number(4),
                    last: number(8),
                    volume: number(8),
                    received: 5
                )
        )
        let unknown = target.replacing("XXBTZ", with: "XYZ").replacing("BTC", with: "XYZ")
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: unknown, headers: ["User-Agent": "test"])
        let refusal = service.answer(head, now: Self.later) { .json(.notFound, ByteBuffer()) }.http
        #expect(refusal.status == (venue == .binance ? .badRequest : venue == .coinbase ? .notFound : .ok))
        #expect(request.days(in: refusal.body, received: 5).isEmpty)
    }

    @Test("Coinbase gives trades below and above an id, newest first, with the ids for the neighbouring pages")
    func coinbase() throws {
        let service = try PlayedSamples.service(.coinbase)
        #expect(Self.ids(service, .ids(first: 17, count: 3)) == [17, 18, 19])
        #expect(Self.ids(service, .ids(first: 0, count: 5)) == [1, 2, 3, 4])
        #expect(Self.ids(service, .newest(count: 2)) == [2_999, 3_000])
        for (query, ids) in [
            ("after=21&before=17", [18, 19, 20]), ("before=2998", [2_999, 3_000]),
            ("before=7&limit=2", [2_999, 3_000]),
            ("before=5&after=3", []), ("before=18446744073709551615", []), ("after=1", []), ("after=0", []),
        ] as [(String, [UInt64])] {
            let target = "/products/BTC-USD/trades?\(query)"
            let answer = service.answer(target: target, now: Self.later + PlayedSamples.second)
            #expect(PlayedSamples.ids(answer.http.body, target: target, of: .coinbase) == ids, "\(query)")
            #expect(answer.http.headers.first(name: "cb-before") == ids.last.map { "\($0)" })
            #expect(answer.http.headers.first(name: "cb-after") == ids.first.map { "\($0)" })
        }
    }

    @Test("Kraken gives the trades after a time, and the time for the next page")
    func kraken() throws {
        let service = try PlayedSamples.service(.kraken)
        var now = Self.later
        func next() -> Int64 {
            now += PlayedSamples.second
            return now
        }
        let time = PlayedSamples.start + 16 * 1_000_000
        #expect(Self.ids(service, .since(time), now: next()) == Array(17...1_016))
        #expect(Self.ids(service, .since(time - 1), now: next())?.first == 16)
        #expect(Self.ids(service, .newest(count: 2), now: next()) == [2_999, 3_000])
        let target = "/0/public/Trades?pair=XBTUSD&since=\(time)&count=2"
        let page = Self.text(service.answer(target: target, now: next()))
        #expect(page.contains(#""XXBTZUSD":[["#) && page.contains(#""last":"\#(time + 2_000_000)""#))
        let end = "/0/public/Trades?pair=BTC/USD&since=\(PlayedSamples.start + 5_000_000_000)"
        #expect(
            Self.text(service.answer(target: end, now: next()))
                == #"200 {"error":[],"result":{"XXBTZUSD":[],"last":"\#(PlayedSamples.start + 5_000_000_000)"}}"#
        )
        #expect(service.breaches == 0)
    }

    @Test("a symbol without trades has an empty list, and one that does not exist an error in the venue's words")
    func symbols() throws {
        let binance = try PlayedSamples.service(.binance)
        #expect(Self.text(binance.answer(target: "/api/v3/trades?symbol=NEWUSDT", now: 0)) == "200 []")
        #expect(
            Self.text(binance.answer(target: "/api/v3/trades?symbol=NO", now: 0))
                == #"400 {"code":-1121,"msg":"Invalid symbol."}"#
        )
        let coinbase = try PlayedSamples.service(.coinbase)
        #expect(Self.text(coinbase.answer(target: "/products/NO/trades", now: 0)) == #"404 {"message":"NotFound"}"#)
        let kraken = try PlayedSamples.service(.kraken)
        #expect(
            Self.text(kraken.answer(target: "/0/public/Trades?pair=NO", now: 0))
                == #"200 {"error":["EQuery:Unknown asset pair"],"result":null}"#
        )
    }

    @Test("a wrong parameter is answered as the venue does, and a hostile target is no trap")
    func parameters() throws {
        let binance = try PlayedSamples.service(.binance)
        for (target, code) in [
            ("/api/v3/trades", "400 {\"code\":-1102"), ("/api/v3/trades?symbol=BTCUSDT&limit=x", "400 {\"code\":-1100"),
            ("/api/v3/historicalTrades?symbol=BTCUSDT&fromId=-1", "400 {\"code\":-1100"), ("/api/v3/x", "404"),
            ("", "404"), ("\u{0}%%%?&&==", "404"),
        ] {
            #expect(Self.text(binance.answer(target: target, now: 0)).hasPrefix(code), "\(target)")
        }
        let coinbase = try PlayedSamples.service(.coinbase)
        for query in ["after=x", "before=x", "limit=0"] {
            let answer = coinbase.answer(target: "/products/BTC-USD/trades?\(query)", now: 0)
            #expect(answer.http.status == .badRequest, "\(query)")
        }
        let kraken = try PlayedSamples.service(.kraken)
        #expect(
            Self.text(kraken.answer(target: "/0/public/Trades?pair=XXBTZUSD&count=5000", now: 0))
                .contains("EGeneral:Invalid arguments:count")
        )
    }

    // MARK: Limits

    @Test("Binance's weight is 6,000 in a minute; a client that goes on asking is banned")
    func weight() throws {
        let service = try PlayedSamples.service(.binance)
        let target = "/api/v3/trades?symbol=BTCUSDT&limit=1"
        let second = PlayedSamples.second
        for _ in 0..<240 { #expect(service.answer(target: target, now: 61 * second).http.status == .ok) }
        let refused = service.answer(target: target, now: 90 * second)
        #expect(refused.http.status.code == 429 && String(buffer: refused.http.body).contains("-1003"))
        #expect(refused.http.headers.first(name: "Retry-After") == "30")
        #expect(refused.http.headers.first(name: "X-MBX-USED-WEIGHT-1M") == "6025")
        // One that waits goes on.
        #expect(service.answer(target: target, now: 120 * second).http.status == .ok)
        #expect(service.breaches == 1)
        for _ in 0..<239 { _ = service.answer(target: target, now: 120 * second) }
        let codes = (0..<4).map { service.answer(target: target, now: (130 + $0) * second).http.status.code }
        #expect(codes == [429, 429, 418, 418])
        let banned = service.answer(target: target, now: 200 * second)
        #expect(banned.http.headers.first(name: "Retry-After") == "52")
        #expect(service.answer(target: target, now: 252 * second).http.status == .ok)
        #expect(service.breaches == 6)
    }

    @Test("Coinbase allows ten requests in a second, Kraken about one")
    func frequency() throws {
        let coinbase = try PlayedSamples.service(.coinbase)
        let codes = (0..<12).map { _ in coinbase.answer(target: "/products/BTC-USD/trades", now: 5).http.status.code }
        #expect(codes == Array(repeating: 200, count: 10) + [429, 429])
        let kraken = try PlayedSamples.service(.kraken)
        let target = "/0/public/Trades?pair=XXBTZUSD"
        #expect(kraken.answer(target: target, now: 0).http.status == .ok)
        let early = kraken.answer(target: target, now: 500_000_000)
        #expect(Self.text(early) == #"200 {"error":["EGeneral:Too many requests"],"result":null}"#)
        #expect(PlayedSamples.ids(early.http.body, target: target, of: .kraken) == nil)
        let late = kraken.answer(target: target, now: 1_500_000_000)
        #expect(PlayedSamples.ids(late.http.body, target: target, of: .kraken)?.count == 1_000)
        #expect(kraken.breaches == 1)
    }

    @Test("Kraken's edge counts requests and connections together")
    func edge() throws {
        let attempts = AttemptCount(try #require(KrakenMock().attemptLimit))
        let service = try PlayedSamples.service(.kraken, attempts: attempts)
        let target = "/0/public/Trades?pair=XXBTZUSD"
        for number in 0..<75 {
            #expect(attempts.attempted(now: Int64(number) * PlayedSamples.second) == nil)
            #expect(service.answer(target: target, now: Int64(number) * PlayedSamples.second).http.status == .ok)
        }
        let refused = service.answer(target: target, now: 76 * PlayedSamples.second)
        #expect(Self.text(refused) == "429 error code: 1015")
        #expect(attempts.attempted(now: 77 * PlayedSamples.second) != nil)
    }

    // MARK: Faults

    @Test("a service that lags has no trade of that time, and later has it")
    func lag() throws {
        let second = PlayedSamples.second
        // The last trade was played at 4 s.
        let service = try PlayedSamples.service(.binance, faults: "rest-lag=2s")
        let known = try #require(Self.ids(service, .newest(count: 1), now: 4 * second)?.first)
        #expect((985...1_000).contains(known))
        #expect(Self.ids(service, .ids(first: 2_500, count: 10), now: 4 * second) == [])
        #expect(Self.ids(service, .newest(count: 1), now: 6 * second) == [3_000])
        let behind = try PlayedSamples.service(.binance, faults: "rest-lag=500")
        #expect(Self.ids(behind, .newest(count: 1), now: 60 * second) == [2_500])
    }

    @Test("answers of another kind come for a number of requests, or for a time")
    func numbered() throws {
        let service = try PlayedSamples.service(
            .coinbase,
            faults: "rest-status=500@1-2",
            "rest-html=403@4",
            "rest-empty@5"
        )
        let target = "/products/BTC-USD/trades?limit=2"
        let texts = (0..<6).map { Self.text(service.answer(target: target, now: PlayedSamples.second * $0)) }
        #expect(texts.map { $0.prefix(3) } == ["500", "500", "200", "403", "200", "200"])
        #expect(texts[3].contains("<html>") && texts[4] == "200 []" && texts[5].contains("3000"))
        let timed = try PlayedSamples.service(.binance, faults: "rest-status=451@2s-4s")
        let codes = (1...6).map { second in
            timed.answer(target: "/api/v3/trades?symbol=BTCUSDT", now: second * PlayedSamples.second).http.status.code
        }
        #expect(codes == [200, 200, 451, 451, 200, 200])
        #expect(timed.breaches == 0)
    }

    @Test("a client that asks on after a 429 on request is banned, too")
    func ordered() throws {
        let service = try PlayedSamples.service(.binance, faults: "rest-status=429,retry-after=30@1")
        let target = "/api/v3/trades?symbol=BTCUSDT&limit=1"
        let answer = service.answer(target: target, now: PlayedSamples.second)
        #expect(answer.http.status.code == 429 && answer.http.headers.first(name: "Retry-After") == "30")
        #expect(answer.faults == ["rest-status=429"])
        #expect(service.breaches == 0)
        let codes = [20, 21, 22].map {
            service.answer(target: target, now: $0 * PlayedSamples.second).http.status.code
        }
        #expect(codes == [429, 418, 418])
        #expect(service.breaches == 3)
    }

    @Test("an answer is late or cut, and the narrower host has only the newest trades")
    func others() throws {
        let service = try PlayedSamples.service(.binance, faults: "rest-slow=3s@1", "rest-cut@2", "rest-narrow@3-")
        let byID = "/api/v3/historicalTrades?symbol=BTCUSDT&fromId=1&limit=1"
        #expect(service.answer(target: byID, now: Self.later).delay == 3 * PlayedSamples.second)
        #expect(service.answer(target: byID, now: Self.later).isCut)
        #expect(service.answer(target: byID, now: Self.later).http.status == .notFound)
        #expect(Self.ids(service, .newest(count: 1)) == [3_000])
    }

    @Test("a fault with a share happens that often, to the same requests again with the same seed")
    func share() throws {
        func failed(_ seed: UInt64) throws -> [Int] {
            let service = try PlayedSamples.service(.coinbase, faults: "rest-status=500,share=0.3", seed: seed)
            return (0..<1_000).filter { number in
                let now = Int64(number) * PlayedSamples.second
                return service.answer(target: "/products/BTC-USD/trades?limit=1", now: now).http.status.code == 500
            }
        }
        let first = try failed(7)
        #expect((250...350).contains(first.count))
        #expect(try failed(7) == first)
        #expect(try failed(8) != first)
    }

    @Test("a fault of a REST service is read from its text")
    func syntax() throws {
        let second = PlayedSamples.second
        #expect(try Fault("rest-lag=2s") == Fault(.rest(.lag(2 * second), share: 1)))
        #expect(try Fault("rest-lag=500,share=0.5") == Fault(.rest(.behind(500), share: 0.5)))
        #expect(try Fault("rest-cut@2-3") == Fault(.rest(.cut, share: 1), connections: 2...3))
        #expect(try Fault("rest-empty@10s-20s").window == .init(from: 10 * second, to: 20 * second))
        #expect(try Fault("rest-slow=250ms") == Fault(.rest(.slow(250_000_000), share: 1)))
        #expect(try Fault("rest-narrow") == Fault(.rest(.narrow, share: 1)))
        guard case .rest(.status(let refusal), 0.1) = try Fault("rest-status=429,retry-after=5,body=x,share=0.1").kind
        else {
            Issue.record("no status")
            return
        }
        #expect(refusal == .init(status: 429, headers: [.init(name: "Retry-After", value: "5")], body: "x"))
        for wrong in [
            "rest-lag", "rest-lag=0", "rest-lag=11m", "rest-slow=2h", "rest-cut=1", "rest-status", "rest-empty=5",
            "rest-narrow,share=0", "rest-html=99", "rest-what",
        ] {
            #expect(throws: FaultSyntaxError.self, "\(wrong)") { try Fault(wrong) }
        }
    }

    @Test("faults of a REST service change no connection")
    func connections() throws {
        let plan = try FaultPlan(parsing: ["rest-lag=2s", "rest-status=429", "rest-cut", "rest-slow=1s@2s"])
        #expect(plan.connection(1).isQuiet && plan.connection(1).opening == .normal)
    }
}
