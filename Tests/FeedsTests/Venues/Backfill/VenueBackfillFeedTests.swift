import Ingest
import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import Wire
@testable import Feeds

/// Tests of a venue's feed that fills its holes, in virtual time.
@Suite("A venue's feed with a REST service")
struct VenueBackfillFeedTests {
    private static let symbol = "BINANCE:BTCUSDT"

    private static func trade(_ id: Int) -> String {
        #"{"stream":"btcusdt@trade","data":{"e":"trade","E":1723161255343,"s":"BTCUSDT","t":\#(id),"#
            + #""p":"61837.63000000","q":"0.02000000","T":1723161255342,"m":true,"M":true}}"#
    }

    private static func bench(
        _ addresses: [String] = ["main"],
        change: (inout VenueSettings) -> Void = { _ in }
    ) -> (VenueBench, PlayedTradesService) {
        let loop = EmbeddedEventLoop()
        let service = PlayedTradesService(.binance, addresses, loop: loop)
        service.known[Self.symbol] = 1...10_000
        return (VenueBench(.binance, [Self.symbol], loop: loop, trades: service, change: change), service)
    }

    @Test("fills a hole with trades that are marked, and the gap is settled, without a change of the status")
    func fills() throws {
        let (bench, service) = Self.bench()
        bench.start()
        bench.connections[0].send(Self.trade(100))
        bench.connections[0].send(Self.trade(106))
        let statuses = bench.log.contents.statuses.count
        bench.advance(seconds: 3)
        #expect(service.lines.map(\.text) == ["\(Self.symbol) ids 101+5"])
        let contents = bench.log.contents
        #expect(contents.trades.map(\.id) == [100, 106, 101, 102, 103, 104, 105])
        #expect(contents.trades.map { $0.marks.contains(.filled) } == [false, false, true, true, true, true, true])
        #expect(contents.outcomes.map(\.missing) == [101...105] && contents.outcomes.allSatisfy(\.isComplete))
        #expect(contents.statuses.count == statuses)
        bench.stop()
    }

    @Test("fills what a reconnect has missed within a second of the next trade")
    func reconnect() throws {
        let (bench, service) = Self.bench()
        bench.start()
        bench.connections[0].send(Self.trade(100))
        bench.close(1_006)
        bench.advance(seconds: 2)
        bench.connections[1].send(Self.trade(2_500))
        bench.advance(seconds: 1)
        #expect(service.times.count == 3)
        #expect(bench.log.contents.trades.compactMap(\.id).sorted() == Array(100...2_500))
        bench.stop()
    }

    @Test("says in the status and at the gap what cannot be had, and why")
    func narrow() throws {
        let (bench, service) = Self.bench(["api.binance.com", "data-api.binance.vision"])
        service.refusals[0] = VenueBackfillTests.failure(.notPermitted, 451, "Binance refuses this location")
        bench.start()
        bench.connections[0].send(Self.trade(5_000))
        bench.connections[0].send(Self.trade(9_990))
        bench.advance(seconds: 0.4)
        let outcome = try #require(bench.log.contents.outcomes.first)
        #expect(outcome.lost == [5_001...9_000])
        #expect(outcome.reason?.hasPrefix("data-api.binance.vision has the newest 1,000 trades only; set") == true)
        #expect(bench.status.word == "live" && bench.log.contents.statuses.last?.reason == nil)
        #expect(
            bench.log.contents.statuses.contains {
                $0.reason?.contains("missing trades") == true && $0.reason?.contains("refuses this location") == true
            }
        )
        bench.stop()
    }

    @Test("asks for nothing in a replay, if the setting says so, and after its end")
    func asksNothing() throws {
        let changes: [(inout VenueSettings) -> Void] = [
            { $0.source = .replay(file: "x", speed: 1) }, { $0.backfill = false },
        ]
        for change in changes {
            let (bench, service) = Self.bench(change: change)
            bench.start()
            bench.connections[0].send(Self.trade(100))
            bench.connections[0].send(Self.trade(106))
            bench.advance(seconds: 60)
            #expect(service.times.isEmpty)
            bench.stop()
        }
        let (bench, service) = Self.bench()
        bench.start()
        bench.connections[0].send(Self.trade(100))
        bench.connections[0].send(Self.trade(106))
        bench.feed.stop()
        bench.advance(seconds: 60)
        #expect(service.times.isEmpty)
    }

    @Test("takes the symbol on the screen first, by whichever name")
    func prefers() throws {
        let loop = EmbeddedEventLoop()
        let service = PlayedTradesService(.kraken, ["main"], loop: loop)
        let symbols = ["KRAKEN:XXBTZUSD", "KRAKEN:XETHZUSD"]
        for symbol in symbols { service.known[symbol] = 1...10_000 }
        let bench = VenueBench(.kraken, symbols, loop: loop, trades: service)
        bench.start()
        bench.feed.prefer("KRAKEN:ETH/USD")
        for pair in ["BTC/USD", "ETH/USD"] {
            for id in [100, 106] {
                bench.connections[0].send(
                    #"{"channel":"trade","type":"update","data":[{"symbol":"\#(pair)","side":"buy","price":1.5,"#
                        + #""qty":0.5,"ord_type":"limit","trade_id":\#(id),"timestamp":"2023-11-14T22:13:20.1Z"}]}"#
                )
            }
        }
        bench.advance(seconds: 10)
        #expect(service.lines.map { $0.text.split(separator: " ")[0] } == ["KRAKEN:XETHZUSD", "KRAKEN:XXBTZUSD"])
        bench.stop()
    }
}
