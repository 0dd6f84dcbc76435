import Ingest
import NIOCore
import Testing
import Wire
@testable import Feeds

/// Transcripts of the requests for missing trades, each line with its time in ms.
@Suite("The backfill of missing trades")
struct VenueBackfillTests {
    static let symbol = "BINANCE:BTCUSDT"

    static func symbol(of venue: Venue) -> String {
        switch venue {
        case .binance: Self.symbol
        case .coinbase: "COINBASE:BTC-USD"
        case .kraken: "KRAKEN:XXBTZUSD"
        }
    }

    static func failure(_ kind: ServiceFailure.Kind, _ status: UInt?, _ reason: String = "no") -> VenueTradesAnswer {
        VenueTradesAnswer(.failure(ServiceFailure(kind, reason, status: status)))
    }

    // MARK: Pages

    @Test("asks 300 ms after a hole shows, for its ids alone")
    func page() {
        let bench = BackfillBench(.binance)
        bench.service.known[Self.symbol] = 1...1_000
        bench.miss(Self.symbol, 101...350)
        bench.advance(seconds: 10)
        #expect(bench.transcript() == ["300 BINANCE:BTCUSDT ids 101+250"])
        #expect(bench.tape.missing.isEmpty && bench.backfill.problem == nil)
        let target = "/api/v3/historicalTrades?symbol=BTCUSDT&fromId=101&limit=250\n["
        #expect(bench.tape.frames.map { String(buffer: $0).hasPrefix(target) } == [true])
    }

    @Test("does not read an answer that comes while the program may not use the venue")
    func forbidden() {
        let bench = BackfillBench(.binance)
        bench.service.known[Self.symbol] = 1...1_000
        bench.service.delay = 2_000_000_000
        bench.miss(Self.symbol, 101...350)
        bench.advance(seconds: 1)
        bench.permission.isAllowed = false
        bench.advance(seconds: 10)
        #expect(bench.transcript() == ["300 BINANCE:BTCUSDT ids 101+250"])
        #expect(bench.tape.missing.count == 1 && bench.tape.frames.isEmpty)
    }

    @Test("asks for nothing if late frames fill the hole meanwhile")
    func lateFrames() {
        let bench = BackfillBench(.binance)
        bench.service.known[Self.symbol] = 1...1_000
        bench.miss(Self.symbol, 101...102)
        bench.advance(seconds: 0.2)
        bench.tape.remove(101...102, of: Self.symbol)
        bench.advance(seconds: 10)
        #expect(bench.transcript().isEmpty)
    }

    @Test("asks for pages of 1,000, the oldest first, and joins the small holes of one page", arguments: Venue.allCases)
    func pages(venue: Venue) {
        let symbol = Self.symbol(of: venue)
        let bench = BackfillBench(venue)
        bench.service.known[symbol] = 1...10_000
        bench.miss(symbol, 101...2_350)
        bench.miss(symbol, 2_400...2_410)
        bench.miss(symbol, 2_420...2_420)
        bench.advance(seconds: 10)
        // Kraken's trades are found by time, and other trades may have the time of the last one.
        let requests =
            venue == .kraken
            ? ["since 99999 us", "since 1098999 us", "since 2097999 us"]
            : ["ids 101+1000", "ids 1101+1000", venue == .coinbase ? "ids 2101+321" : "ids 2101+320"]
        #expect(bench.texts() == requests.map { "\(symbol) \($0)" })
        #expect(bench.tape.missing.isEmpty)
    }

    @Test("has one request under way, and takes what was found missing meanwhile with the next")
    func grows() {
        let bench = BackfillBench(.binance)
        bench.service.known[Self.symbol] = 1...10_000
        bench.service.known["BINANCE:ETHUSDT"] = 1...100
        bench.service.delay = 2_000_000_000
        bench.miss(Self.symbol, 101...110)
        bench.advance(seconds: 1)
        bench.miss(Self.symbol, 200...210)
        bench.miss("BINANCE:ETHUSDT", 5...6)
        bench.advance(seconds: 20)
        #expect(
            bench.transcript() == [
                "300 BINANCE:BTCUSDT ids 101+10", "2300 BINANCE:BTCUSDT ids 200+11", "4300 BINANCE:ETHUSDT ids 5+2",
            ]
        )
        #expect(bench.tape.missing.isEmpty)
    }

    @Test("takes the symbol on the screen before the others, and another one from the next page on")
    func preferred() {
        let bench = BackfillBench(.binance, preferred: "BINANCE:B")
        for name in ["A", "B", "C"] {
            bench.service.known["BINANCE:\(name)"] = 1...10_000
            bench.miss("BINANCE:\(name)", 101...2_100)
        }
        bench.service.delay = 100_000_000
        bench.advance(seconds: 0.35)
        bench.backfill.prefer("BINANCE:C")
        bench.advance(seconds: 10)
        #expect(
            bench.texts() == [
                "BINANCE:B ids 101+1000", "BINANCE:C ids 101+1000", "BINANCE:C ids 1101+1000", "BINANCE:A ids 101+1000",
                "BINANCE:A ids 1101+1000", "BINANCE:B ids 1101+1000",
            ]
        )
    }

    @Test("names at once what is too much to be fetched, and fetches the rest")
    func huge() {
        let bench = BackfillBench(.binance)
        bench.service.delay = 2_000_000_000
        bench.service.known[Self.symbol] = 1...2_000_000_000_000
        bench.miss(Self.symbol, 101...1_000_000_000_100)
        bench.advance(seconds: 1)
        let lines = bench.transcript()
        let words = "more than 1,000,000 trades are missing at once, and only the"
        #expect(
            lines.first == "0 \(Self.symbol) lost 101...999999000100: \(words) newest of them are requested"
        )
        #expect(lines.dropFirst().first == "300 \(Self.symbol) ids 999999000101+1000")
        // Only the time before the first trade is known to Kraken.
        let kraken = BackfillBench(.kraken)
        kraken.service.known["KRAKEN:XXBTZUSD"] = 1...5_000
        kraken.miss("KRAKEN:XXBTZUSD", 101...1_000_000_000_100)
        kraken.advance(seconds: 1)
        #expect(
            kraken.texts().first
                == "KRAKEN:XXBTZUSD lost 1000101...1000000000100: \(words) oldest of them are requested"
        )
        #expect(kraken.tape.missing.first?.ids == [1_100...1_000_100])
    }

    // MARK: Answers that lack trades

    @Test("asks again after 1, 2, 4 s while the service lags behind, and goes on from what has come")
    func lag() {
        let bench = BackfillBench(.binance)
        bench.service.known[Self.symbol] = 1...104
        bench.miss(Self.symbol, 101...110)
        bench.advance(seconds: 4)
        #expect(
            bench.transcript() == [
                "300 BINANCE:BTCUSDT ids 101+10", "1300 BINANCE:BTCUSDT ids 105+6", "3300 BINANCE:BTCUSDT ids 105+6",
            ]
        )
        bench.service.known[Self.symbol] = 1...200
        bench.advance(seconds: 10)
        #expect(bench.transcript() == ["7300 BINANCE:BTCUSDT ids 105+6"])
        #expect(bench.tape.missing.isEmpty)
    }

    @Test("goes on with other symbols while the answers of one lag behind, and names it lost after 10 minutes")
    func lagsForEver() {
        let bench = BackfillBench(.binance)
        bench.service.known["BINANCE:BTCUSDT"] = 1...100
        bench.service.known["BINANCE:ETHUSDT"] = 1...100
        bench.miss("BINANCE:BTCUSDT", 101...5_000)
        bench.miss("BINANCE:ETHUSDT", 51...60)
        bench.advance(seconds: 900)
        let lines = bench.transcript()
        #expect(lines.prefix(2) == ["300 BINANCE:BTCUSDT ids 101+1000", "300 BINANCE:ETHUSDT ids 51+10"])
        let requests = lines.compactMap { Int64($0.prefix { $0 != " " }) }.dropFirst().dropLast()
        let steps = zip(requests, requests.dropFirst()).map { ($1 - $0) / 1_000 }
        #expect(steps == [1, 2, 4, 8, 16, 32] + Array(repeating: 60, count: 9))
        #expect(
            lines.last == "603300 BINANCE:BTCUSDT lost 101...5000: Binance has not delivered them within 10 minutes"
        )
        #expect(bench.tape.missing.isEmpty)
    }

    @Test("names the trades that two answers leave out as lost for good", arguments: Venue.allCases)
    func leftOut(venue: Venue) {
        let symbol = Self.symbol(of: venue)
        let bench = BackfillBench(venue)
        bench.service.known[symbol] = 1...10_000
        bench.service.withheld = [103, 104, 107]
        bench.miss(symbol, 101...110)
        bench.advance(seconds: 60)
        let reason = "\(venue.name) does not have them: its answers leave them out"
        let lines = bench.texts()
        #expect(lines.count == 4)
        #expect(lines.suffix(2) == ["\(symbol) lost 103...104: \(reason)", "\(symbol) lost 107...107: \(reason)"])
        #expect(bench.tape.missing.isEmpty)
        // One that comes with the second answer is not lost.
        bench.service.withheld = [203]
        bench.miss(symbol, 201...205)
        bench.advance(seconds: 3)
        bench.service.withheld = []
        bench.advance(seconds: 60)
        #expect(!bench.texts().contains { $0.contains("lost") } && bench.tape.missing.isEmpty)
    }

    @Test("needs two answers to learn that a venue has no trades for a whole hole")
    func renumbered() {
        let bench = BackfillBench(.binance)
        bench.service.known[Self.symbol] = 500_000...500_100
        bench.miss(Self.symbol, 101...499_999)
        bench.advance(seconds: 60)
        let lines = bench.texts()
        #expect(lines.prefix(2) == ["\(Self.symbol) ids 101+1000", "\(Self.symbol) ids 101+1000"])
        #expect(lines.count == 3 && lines[2].hasPrefix("\(Self.symbol) lost 101...499999: Binance does not have them"))
    }

    @Test("goes on before the oldest trade of Coinbase's answers that have fewer trades than were requested")
    func short() {
        let symbol = Self.symbol(of: .coinbase)
        let bench = BackfillBench(.coinbase)
        bench.service.known[symbol] = 1...10_000
        bench.service.most = 300
        bench.service.withheld = [950]
        bench.miss(symbol, 101...1_100)
        bench.advance(seconds: 60)
        let reason = "Coinbase does not have them: its answers leave them out"
        let lines = bench.texts()
        #expect(lines.filter { $0.contains("lost") } == ["\(symbol) lost 950...950: \(reason)"])
        #expect(lines.count < 12 && bench.tape.missing.isEmpty)
    }

    @Test("names what Coinbase's answers never reach as lost after 10 minutes, without a storm of requests")
    func tooShort() {
        let symbol = Self.symbol(of: .coinbase)
        let bench = BackfillBench(.coinbase)
        bench.service.known[symbol] = 1...10_000
        bench.service.most = 1
        bench.miss(symbol, 101...110)
        bench.advance(seconds: 700)
        let lines = bench.texts()
        #expect(lines.count < 25 && bench.tape.missing.isEmpty)
        #expect(lines.last == "\(symbol) lost 101...110: Coinbase has not delivered them within 10 minutes")
    }

    @Test("names what Kraken's pages cannot reach, since more than 1,000 trades have one time, and fills the rest")
    func oneTime() {
        let symbol = Self.symbol(of: .kraken)
        let bench = BackfillBench(.kraken)
        bench.service.known[symbol] = 1...10_000
        bench.service.sharesTime = 1_001...2_300
        bench.miss(symbol, 901...2_500)
        bench.advance(seconds: 60)
        let reason =
            "Kraken's answers begin after a time and have 1,000 trades, and more than those have one time"
        let lines = bench.texts()
        #expect(lines.filter { $0.contains("lost") } == ["\(symbol) lost 2001...2300: \(reason)"])
        #expect(lines.count < 12 && bench.tape.missing.isEmpty)
    }

    @Test("takes Kraken's newest trades for a hole without a known time")
    func undated() {
        let symbol = "KRAKEN:XXBTZUSD"
        let bench = BackfillBench(.kraken)
        bench.service.known[symbol] = 5_001...10_000
        bench.miss(symbol, 8_990...9_010, isDated: false)
        bench.advance(seconds: 60)
        let reason = "Kraken finds trades by time only, and the time of the trade before these is unknown"
        #expect(bench.texts() == ["\(symbol) newest", "\(symbol) lost 8990...9000: \(reason)"])
        #expect(bench.tape.missing.isEmpty)
    }

    // MARK: Addresses

    @Test("takes the newest 1,000 from the address without trades by id, and names the cure for the rest")
    func narrow() {
        let bench = BackfillBench(.binance, addresses: ["api.binance.com", "data-api.binance.vision"])
        bench.service.known[Self.symbol] = 1...5_000
        bench.service.refusals[0] = Self.failure(.notPermitted, 451, "Binance refuses this location (HTTP 451)")
        bench.miss(Self.symbol, 3_500...4_500)
        bench.advance(seconds: 10)
        #expect(
            bench.texts() == [
                "\(Self.symbol) ids 3500+1000", "\(Self.symbol) newest at data-api.binance.vision",
                "\(Self.symbol) lost 3500...4000: data-api.binance.vision has the newest 1,000 trades only; set "
                    + "venues.binance-service to an address that has historicalTrades",
            ]
        )
        #expect(bench.tape.missing.isEmpty)
        // The first address is tried again after an hour only.
        bench.miss(Self.symbol, 4_900...4_910)
        bench.advance(seconds: 0.5)
        #expect(bench.texts() == ["\(Self.symbol) newest at data-api.binance.vision"])
        bench.advance(seconds: 3_600)
        bench.service.refusals = [:]
        bench.miss(Self.symbol, 4_920...4_930)
        bench.advance(seconds: 1)
        #expect(bench.texts() == ["\(Self.symbol) ids 4920+11"])
    }

    @Test("asks the only address for the newest trades if it has no trades by id, and says so")
    func narrowOnly() {
        let bench = BackfillBench(.binance, addresses: ["data-api.binance.vision"])
        bench.service.known[Self.symbol] = 1...5_000
        bench.service.withoutIDs[0] = Self.failure(.unreadableAnswer, 404)
        bench.miss(Self.symbol, 4_400...4_500)
        bench.miss("BINANCE:ETHUSDT", 1...2)
        bench.advance(seconds: 1)
        #expect(bench.texts().prefix(2) == ["\(Self.symbol) ids 4400+101", "\(Self.symbol) newest"])
        #expect(bench.tape.missing.map(\.symbol) == ["BINANCE:ETHUSDT"])
        #expect(bench.problem.hasPrefix("missing trades: data-api.binance.vision has the newest 1,000 trades only"))
    }

    @Test("gives up after 10 minutes if every address refuses")
    func refusedEverywhere() {
        let bench = BackfillBench(.binance, addresses: ["a", "b"])
        bench.service.refusals[0] = Self.failure(.notPermitted, 451, "Binance refuses this location (HTTP 451)")
        bench.service.refusals[1] = Self.failure(.notPermitted, 403, "Binance refuses this network (HTTP 403)")
        bench.miss(Self.symbol, 101...110)
        bench.advance(seconds: 100)
        #expect(bench.problem == "missing trades do not come: Binance refuses this network (HTTP 403)")
        bench.advance(seconds: 900)
        let lines = bench.texts()
        #expect(lines.last == "\(Self.symbol) lost 101...110: Binance refuses this network (HTTP 403)")
        #expect(lines.count < 40 && bench.tape.missing.isEmpty)
    }

    // MARK: Hostile answers

    @Test(
        "gives up after 10 minutes of answers that cannot be used, and says what they are",
        arguments: ["", "null", "<html>captive portal</html>", "[{\"id\":", "{\"code\":-1121}", "[[[["]
    )
    func unusable(body: String) {
        let bench = BackfillBench(.binance)
        bench.service.answers = Array(repeating: VenueTradesAnswer(.success(ByteBuffer(string: body))), count: 100)
        bench.miss(Self.symbol, 101...110)
        bench.advance(seconds: 20)
        #expect(bench.problem.contains("the answer is not a list of trades"))
        bench.advance(seconds: 570)
        #expect(!bench.tape.missing.isEmpty)
        bench.advance(seconds: 100)
        let lines = bench.texts()
        #expect(lines.count < 25 && bench.tape.frames.isEmpty)
        #expect(lines.last?.contains("lost 101...110: Binance's answers cannot be used: the answer is not") == true)
        #expect(bench.tape.missing.isEmpty)
    }

    @Test("loses nothing to a page that stands in for the answers for nine minutes", arguments: Venue.allCases)
    func captivePortal(venue: Venue) {
        let symbol = Self.symbol(of: venue)
        let bench = BackfillBench(venue)
        bench.service.known[symbol] = 1...1_000
        let page = VenueTradesAnswer(.success(ByteBuffer(string: "<html>Log in to this network</html>")))
        bench.service.refusals[0] = page
        bench.miss(symbol, 101...110)
        bench.advance(seconds: 540)
        bench.service.refusals = [:]
        bench.advance(seconds: 70)
        #expect(!bench.texts().contains { $0.contains("lost") } && bench.tape.missing.isEmpty)
        // Each page of another time begins a new count.
        bench.service.refusals[0] = page
        bench.miss(symbol, 201...210)
        bench.advance(seconds: 540)
        bench.service.refusals = [:]
        bench.advance(seconds: 70)
        #expect(!bench.texts().contains { $0.contains("lost") } && bench.tape.missing.isEmpty)
    }

    @Test("loses nothing to two answers that cannot be used with a pause of an hour between them")
    func pausedBetween() {
        let bench = BackfillBench(.binance)
        bench.service.known[Self.symbol] = 1...1_000
        let page = VenueTradesAnswer(.success(ByteBuffer(string: "<html></html>")))
        let pause = ServiceFailure.rateLimited(until: FeedBench.epoch + 3_600_000_000_000, "HTTP 429")
        bench.service.answers = [page, VenueTradesAnswer(.failure(pause)), page]
        bench.miss(Self.symbol, 101...110)
        bench.advance(seconds: 3_700)
        #expect(!bench.texts().contains { $0.contains("lost") } && bench.tape.missing.isEmpty)
    }

    @Test(
        "survives answers with the largest ids and with those of other trades, and does not ask in a storm",
        arguments: [[UInt64.max - 1], [1, 2, 3], [105, UInt64.max - 1], [0], [UInt64.max]]
    )
    func hostile(ids: [UInt64]) {
        let bench = BackfillBench(.binance)
        let entries = ids.map { #"{"id":\#($0),"price":"1","qty":"1","time":1,"isBuyerMaker":true}"# }
        let body = ByteBuffer(string: "[\(entries.joined(separator: ","))]")
        bench.service.answers = Array(repeating: VenueTradesAnswer(.success(body), usedWeight: .max), count: 100)
        bench.miss(Self.symbol, 101...110)
        bench.advance(seconds: 3_000)
        #expect(bench.tape.missing.isEmpty)
        #expect(bench.transcript().count < 25)
    }
}
