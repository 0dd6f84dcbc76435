import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import Wire
@testable import Feeds

@Suite("The limits of requests for missing trades")
struct BackfillBudgetTests {
    private static let second: Int64 = 1_000_000_000
    private static let symbol = VenueBackfillTests.symbol

    private static func limited(_ bench: BackfillBench, seconds: Int64) -> VenueTradesAnswer {
        let now = FeedBench.epoch + Int64(bench.loop.now.uptimeNanoseconds)
        let failure = ServiceFailure.rateLimited(until: now + seconds * Self.second, "the limit is reached (HTTP 429)")
        return VenueTradesAnswer(.failure(failure))
    }

    /// Lacks one trade of each of 500 pages.
    private static func missEachPage(_ bench: BackfillBench, _ symbol: String) {
        for page: UInt64 in 1...500 { bench.miss(symbol, page * 2_000...page * 2_000) }
    }

    @Test(
        "no span has more requests than the venue's budget, also across restarts",
        arguments: [(Venue.binance, 120, 60.0), (.coinbase, 3, 1.0), (.kraken, 80, 600.0)]
    )
    func budget(venue: Venue, most: Int, span: Double) {
        let symbol = VenueBackfillTests.symbol(of: venue)
        let notebook = Notebook()
        let bench = BackfillBench(venue, holding: KeyHolding(attemptStore: notebook))
        bench.service.known[symbol] = 1...2_000_000
        bench.service.most = 3
        bench.service.delay = 10_000_000
        Self.missEachPage(bench, symbol)
        for step in 1...40 {
            bench.advance(seconds: span / 20)
            if step.isMultiple(of: 7) { bench.restart() }
        }
        let times = bench.service.times
        #expect(times.count > most)
        for (first, last) in zip(times, times.dropFirst(most)) {
            #expect(last - first >= Int64(span) * Self.second)
        }
        let shortest: Int64 = venue == .kraken ? 1_100_000_000 : 0
        for (first, last) in zip(times, times.dropFirst()) { #expect(last - first >= shortest) }
        let memory = notebook.load()
        #expect(memory?.recent.count == most && memory.flatMap { SavedBackoff(text: $0.text) } == memory)
        bench.backfill.stop()
    }

    @Test("says when it asks again if the budget is used up")
    func usedUp() {
        let bench = BackfillBench(.binance)
        bench.service.known[Self.symbol] = 1...2_000_000
        Self.missEachPage(bench, Self.symbol)
        bench.advance(seconds: 1)
        #expect(bench.service.times.count == 120)
        #expect(bench.problem.hasPrefix("missing trades are requested again at "))
        #expect(bench.problem.contains("120 requests were made within 60 s"))
        bench.advance(seconds: 59.5)
        #expect(bench.service.times.count > 120)
        bench.backfill.stop()
    }

    @Test("connections and requests to Kraken stay below its limit together")
    func kraken() {
        let connections = FeedSettings.venue(.kraken, symbols: []).backoff.budget
        let requests = ReconnectBackoff.Settings.requests(to: .kraken).budget
        #expect(connections.span == requests.span && requests.span == 600 * Self.second)
        #expect(connections.attempts + requests.attempts <= 145 && connections.attempts >= 30)
    }

    @Test("obeys Retry-After, says why nothing comes, and is well after the next answer")
    func retryAfter() {
        let bench = BackfillBench(.binance)
        bench.service.known[Self.symbol] = 1...1_000
        bench.service.answers = [Self.limited(bench, seconds: 17)]
        bench.miss(Self.symbol, 101...110)
        bench.advance(seconds: 10)
        #expect(bench.problem.hasPrefix("missing trades do not come: the limit is reached (HTTP 429): wait until "))
        bench.backfill.connectionOpened()
        bench.advance(seconds: 20)
        #expect(bench.transcript() == ["300 \(Self.symbol) ids 101+10", "17000 \(Self.symbol) ids 101+10"])
        #expect(bench.backfill.problem == nil)
    }

    @Test("obeys a ban of a day, also after a restart")
    func ban() {
        let notebook = Notebook()
        let bench = BackfillBench(.binance, holding: KeyHolding(attemptStore: notebook))
        bench.service.known[Self.symbol] = 1...1_000
        bench.service.answers = [Self.limited(bench, seconds: 86_400)]
        bench.miss(Self.symbol, 101...110)
        bench.advance(seconds: 100)
        #expect(bench.transcript().count == 1)
        bench.restart()
        bench.advance(seconds: 1)
        #expect(bench.problem.contains("waiting as before the restart: the limit is reached (HTTP 429)"))
        bench.advance(seconds: 86_200)
        #expect(bench.transcript().isEmpty)
        bench.advance(seconds: 200)
        #expect(bench.transcript().count == 1 && bench.tape.missing.isEmpty)
    }

    @Test("waits longer after each failure, at most a minute, for ever, and no longer once the venue is connected")
    func unreachable() {
        let bench = BackfillBench(.coinbase)
        bench.service.known["COINBASE:BTC-USD"] = 1...1_000
        bench.service.refusals[0] = VenueBackfillTests.failure(.unreachable, 503, "Coinbase is down (HTTP 503)")
        bench.miss("COINBASE:BTC-USD", 101...110)
        bench.advance(seconds: 7_200)
        let times = bench.service.times.map { $0 / Self.second }
        #expect(zip(times, times.dropFirst()).map { $1 - $0 }.prefix(8) == [1, 2, 4, 8, 16, 32, 60, 60])
        #expect(times.count > 100 && !bench.tape.missing.isEmpty)
        #expect(bench.problem == "missing trades do not come: Coinbase is down (HTTP 503)")
        bench.service.refusals = [:]
        bench.backfill.connectionOpened()
        bench.advance(seconds: 0.1)
        #expect(bench.tape.missing.isEmpty && bench.backfill.problem == nil)
    }

    @Test("asks the second address after 10 minutes without an answer of the first")
    func detour() {
        let bench = BackfillBench(.binance, addresses: ["a", "b"])
        bench.service.known[Self.symbol] = 1...1_000
        bench.service.refusals[0] = VenueBackfillTests.failure(.unreachable, nil, "no route")
        bench.miss(Self.symbol, 101...110)
        bench.advance(seconds: 590)
        #expect(!bench.texts().contains { $0.contains("at b") })
        bench.advance(seconds: 90)
        #expect(bench.texts().last == "\(Self.symbol) newest at b" && bench.tape.missing.isEmpty)
    }

    @Test("returns to the first address if the second one does not answer either, and gives nothing up")
    func outage() {
        let bench = BackfillBench(.binance, addresses: ["a", "b"])
        bench.service.known[Self.symbol] = 1...10_000
        for address in 0...1 {
            bench.service.refusals[address] = VenueBackfillTests.failure(.unreachable, nil, "no route")
        }
        bench.miss(Self.symbol, 101...110)
        bench.advance(seconds: 1_500)
        bench.service.refusals = [:]
        bench.backfill.connectionOpened()
        bench.advance(seconds: 70)
        let texts = bench.texts()
        #expect(texts.contains { $0.hasSuffix("at b") } && !texts.contains { $0.contains("lost") })
        #expect(bench.tape.missing.isEmpty && bench.backfill.problem == nil)
    }

    @Test("waits a minute if other programs at the address use up Binance's limit")
    func weight() {
        let bench = BackfillBench(.binance)
        bench.service.known[Self.symbol] = 1...5_000
        bench.miss(Self.symbol, 101...2_100)
        let request = VenueTradesRequest(.binance, symbol: Self.symbol, .ids(first: 101, count: 1_000))
        var answer = bench.service.list(Array(101...1_100), request)
        answer.usedWeight = 5_990
        bench.service.answers = [answer]
        bench.advance(seconds: 30)
        #expect(bench.problem.contains("programs at this address have used 5990 of the 6,000"))
        bench.advance(seconds: 70)
        #expect(bench.transcript() == ["300 \(Self.symbol) ids 101+1000", "60300 \(Self.symbol) ids 1101+1000"])
    }

    @Test("takes no answer after its end")
    func stop() {
        let bench = BackfillBench(.binance)
        bench.service.known[Self.symbol] = 1...5_000
        bench.service.delay = Self.second
        bench.miss(Self.symbol, 101...110)
        bench.advance(seconds: 0.5)
        bench.backfill.stop()
        bench.advance(seconds: 100)
        #expect(bench.transcript().count == 1 && bench.tape.frames.isEmpty)
    }
}
