import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import Wire
@testable import Feeds

@Suite("A command's requests for earlier trades")
struct VenueTradesRequestsTests {
    private static let symbol = "BINANCE:BTCUSDT"

    /// Sends requests in virtual time, and keeps what came.
    private final class Bench {
        let loop = EmbeddedEventLoop()
        let service: PlayedTradesService
        let requests: VenueTradesRequests
        var waits: [String] { self.said.all }
        private let said = Calls()
        var results: [Result<ByteBuffer, ServiceFailure>] = []

        init(_ venue: Venue, holding: KeyHolding = .none) {
            let (loop, said) = (self.loop, self.said)
            self.service = PlayedTradesService(venue, ["api.example"], loop: loop)
            self.service.known[VenueTradesRequestsTests.symbol] = 1...5_000
            self.requests = VenueTradesRequests(
                venue,
                source: self.service,
                holding: holding,
                loop: loop,
                wallClock: { 1_700_000_000_000_000_000 + Int64(loop.now.uptimeNanoseconds) },
                waits: { said.add($0) }
            )
        }

        func ask(_ first: UInt64) {
            let request = VenueTradesRequest(
                self.service.venue,
                symbol: VenueTradesRequestsTests.symbol,
                .ids(first: first, count: 10)
            )
            self.requests.ask(request) { self.results.append($0) }
        }
    }

    @Test("give the frame of the exchange")
    func frame() throws {
        let bench = Bench(.binance)
        bench.ask(7)
        let frame = try #require(bench.results.first).get()
        var symbols = SymbolTable()
        var trades: [Trade] = []
        _ = VenueExchange.read(frame, of: .binance, symbols: &symbols, into: &trades)
        #expect(trades.map(\.id) == (7...16).map { $0 })
    }

    @Test("that were answered are no failures for the next program")
    func answered() {
        let notebook = Notebook()
        for first in [1, 11, 21] as [UInt64] {
            let bench = Bench(.binance, holding: KeyHolding(attemptStore: notebook))
            bench.ask(first)
            #expect(bench.results.count == 1 && bench.waits.isEmpty)
            #expect(notebook.load()?.failures == 0)
        }
        #expect(notebook.load()?.recent.count == 3)
    }

    @Test("do not wait for a long pause of an earlier program, but say when it ends")
    func longPause() throws {
        let notebook = Notebook()
        let limited = ServiceFailure.rateLimited(until: 1_700_000_000_000_000_000 + 2_000_000_000_000, "429")
        for answers in [[VenueTradesAnswer(.failure(limited))], []] {
            let bench = Bench(.binance, holding: KeyHolding(attemptStore: notebook))
            bench.service.answers = answers
            bench.ask(1)
            let result = try #require(bench.results.first)
            guard case .failure(let failure) = result, case .rateLimited(let until) = failure.kind else {
                Issue.record("\(result)")
                continue
            }
            #expect(until > 1_700_000_000_000_000_000 + 1_900_000_000_000)
        }
    }

    @Test("keep the venue's limit")
    func limit() {
        let bench = Bench(.coinbase)
        for place in 0..<9 { bench.ask(UInt64(place * 10 + 1)) }
        #expect(bench.results.count == 3)
        bench.loop.advanceTime(by: .seconds(1))
        bench.loop.advanceTime(by: .seconds(1))
        #expect(bench.results.count == 9)
    }

    @Test("are repeated after a failure that passes, and not after another one")
    func failures() {
        let bench = Bench(.binance)
        let down = ServiceFailure(.unreachable, "no answer")
        let limited = ServiceFailure.rateLimited(until: 1_700_000_000_000_000_000 + 40_000_000_000, "429")
        bench.service.answers = [VenueTradesAnswer(.failure(down)), VenueTradesAnswer(.failure(limited))]
        bench.ask(1)
        bench.loop.advanceTime(by: .seconds(1))
        #expect(bench.results.isEmpty && bench.waits.count == 2)
        bench.loop.advanceTime(by: .seconds(90))
        #expect(bench.results.count == 1 && (try? bench.results[0].get()) != nil)
        bench.service.answers = [VenueTradesAnswer(.failure(ServiceFailure(.notPermitted, "451")))]
        bench.ask(1)
        bench.loop.advanceTime(by: .seconds(90))
        #expect(bench.results.count == 2 && (try? bench.results[1].get()) == nil)
        bench.service.answers = Array(repeating: VenueTradesAnswer(.failure(down)), count: 9)
        bench.ask(1)
        bench.loop.advanceTime(by: .seconds(600))
        #expect(bench.results.count == 3 && (try? bench.results[2].get()) == nil && bench.service.answers.count == 4)
    }
}
