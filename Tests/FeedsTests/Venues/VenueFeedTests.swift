import Ingest
import Market
import NIOCore
import NIOHTTP1
import Testing
import TickertapeTesting
import Wire
@testable import Feeds

/// Tests of a venue's feed in virtual time.
@Suite("A venue's own feed")
struct VenueFeedTests {
    private static func trade(_ symbol: String, _ id: Int) -> String {
        let stream = "\(symbol.lowercased())@trade"
        return #"{"stream":"\#(stream)","data":{"e":"trade","E":1723161255343,"s":"\#(symbol)","t":\#(id),"#
            + #""p":"61837.63000000","q":"0.02000000","T":1723161255342,"m":true,"M":true}}"#
    }

    private static func heartbeat(_ product: String, _ id: Int) -> String {
        #"{"type":"heartbeat","sequence":90,"last_trade_id":\#(id),"product_id":"\#(product)","#
            + #""time":"2026-11-07T08:19:28.464459Z"}"#
    }

    // MARK: Subscriptions

    @Test("subscribes to all symbols in one request, in the venue's own words, at once")
    func subscribes() throws {
        let binance = VenueBench(.binance, ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT"])
        binance.start()
        #expect(
            try binance.requests() == [#"{"method":"SUBSCRIBE","params":["btcusdt@trade","ethusdt@trade"],"id":1}"#]
        )
        binance.stop()
        let coinbase = VenueBench(.coinbase, ["COINBASE:BTC-USD"])
        coinbase.start()
        #expect(
            try coinbase.requests() == [
                #"{"type":"subscribe","product_ids":["BTC-USD"],"channels":["matches","heartbeat"]}"#
            ]
        )
        coinbase.stop()
    }

    @Test("sends requests of 100 symbols each, at most three a second, and is live with the first trade")
    func pacing() throws {
        let symbols = (100..<350).map { "BINANCE:A\($0)USDT" }
        let bench = VenueBench(.binance, symbols)
        bench.start()
        var sizes: [(at: Int64, count: Int)] = []
        for step in 0..<200 {
            for text in try bench.requests() {
                sizes.append((Int64(step) * 10, text.split(separator: "@trade").count - 1))
            }
            bench.advance(seconds: 0.01)
        }
        #expect(sizes.map(\.count) == [100, 100, 50])
        #expect(sizes.map(\.at) == [0, 340, 670])
        #expect(bench.status.word == "waiting")
        bench.connections[0].send(Self.trade("A100USDT", 1))
        #expect(bench.status.word == "live" && bench.log.contents.words(of: "BINANCE:A100USDT").last == "live")
        bench.stop()
    }

    @Test("does not connect without a symbol; connects for the first one and closes the connection after the last")
    func needsSymbol() throws {
        let bench = VenueBench(.coinbase, [], listed: ["COINBASE:BTC-USD"])
        bench.start()
        bench.advance(seconds: 100)
        #expect(bench.attempts == 0 && bench.asked == 0 && bench.status.word == "waiting")
        #expect(bench.reason.contains("no symbol of Coinbase is wanted"))
        for round in 1...2 {
            bench.feed.subscriptionsChanged([.subscribe("COINBASE:BTC-USD")])
            bench.advance(seconds: 1)
            #expect(bench.connections.count == round)
            #expect(try bench.requests().count == 1)
            bench.feed.subscriptionsChanged([.unsubscribe("COINBASE:BTC-USD")])
            #expect(try bench.connections[round - 1].takeClose())
            bench.close(1_000)
            bench.advance(seconds: 100)
            #expect(bench.connections.count == round && bench.status.word == "waiting")
            #expect(bench.reason.contains("no symbol of Coinbase is wanted"))
        }
        bench.stop()
        #expect(bench.status.word == "stopped")
    }

    @Test("closes a connection that opens after the last symbol was unsubscribed")
    func lateConnection() throws {
        let bench = VenueBench(.coinbase, ["COINBASE:BTC-USD"])
        bench.failures = [UpstreamFailure("it is down")]
        bench.start()
        #expect(bench.status.word == "reconnecting" && bench.attempts == 1)
        bench.feed.subscriptionsChanged([.unsubscribe("COINBASE:BTC-USD")])
        bench.advance(seconds: 1)
        #expect(bench.attempts == 2)
        #expect(try bench.connections[0].takeClose())
        bench.close(1_000)
        bench.advance(seconds: 100)
        #expect(bench.attempts == 2 && bench.status.word == "waiting")
        bench.stop()
    }

    @Test("knows a pair of Kraken by the key and by the pair, and asks for the pair")
    func kraken() throws {
        let bench = VenueBench(
            .kraken,
            ["KRAKEN:XXBTZUSD", "KRAKEN:BTC/USD", "KRAKEN:SOLUSD"],
            listed: ["KRAKEN:SOL/USD", "KRAKEN:XXBTZUSD"]
        )
        bench.start()
        let request = try #require(try bench.requests().first)
        #expect(request.contains(#""symbol":["BTC/USD","SOL/USD"]"#))
        // It is wanted under the other name.
        bench.feed.subscriptionsChanged([.unsubscribe("KRAKEN:BTC/USD")])
        bench.advance(seconds: 1)
        #expect(try bench.requests() == [])
        bench.feed.subscriptionsChanged([.unsubscribe("KRAKEN:XXBTZUSD")])
        bench.advance(seconds: 1)
        #expect(try bench.requests().first?.contains("unsubscribe") == true)
        #expect(bench.feed.client.watch.symbols == ["KRAKEN:SOLUSD"])
        bench.stop()
    }

    @Test("sends Kraken a ping after 30 s without a request, and the others none")
    func keepalive() throws {
        let bench = VenueBench(.kraken, ["KRAKEN:XXBTZUSD"]) { $0.rotation = nil }
        bench.start()
        #expect(try bench.requests().count == 1)
        for _ in 0..<3 {
            bench.advance(seconds: 29)
            bench.connections[0].send(#"{"channel":"heartbeat"}"#)
            #expect(try bench.requests() == [])
            bench.advance(seconds: 1)
            #expect(try bench.requests().first?.contains(#""method":"ping""#) == true)
        }
        bench.stop()
    }

    // MARK: Names

    @Test("refuses a name that the venue does not list without a request, and says what was probably meant")
    func unlisted() throws {
        let bench = VenueBench(
            .binance,
            ["BINANCE:btcusdt", "BINANCE:ETHUSDT", "BINANCE:SOL-USDT", "BINANCE:XYZ"],
            listed: ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT", "BINANCE:SOLUSDT"]
        )
        bench.start()
        #expect(try bench.requests() == [#"{"method":"SUBSCRIBE","params":["ethusdt@trade"],"id":1}"#])
        let states = bench.log.contents.symbolStates
        func reason(_ symbol: String) -> String { states.last { $0.symbol == symbol }?.reason ?? "" }
        #expect(reason("BINANCE:btcusdt") == "Binance lists no such symbol: did you mean BINANCE:BTCUSDT?")
        #expect(reason("BINANCE:SOL-USDT") == "Binance lists no such symbol: did you mean BINANCE:SOLUSDT?")
        #expect(reason("BINANCE:XYZ").hasSuffix("write it as Binance does, such as BINANCE:BTCUSDT"))
        #expect(states.filter(\.isRefused).count == 3)
        bench.stop()
    }

    @Test("does not connect if the venue lists none of the symbols, until it lists one")
    func noneListed() throws {
        let bench = VenueBench(.binance, ["BINANCE:NEWUSDT"], listed: ["BINANCE:BTCUSDT"])
        bench.start()
        #expect(
            bench.attempts == 0 && bench.status.word == "no-such-symbol" && bench.reason.contains("BINANCE:BTCUSDT")
        )
        bench.names = .success(VenueNames(.binance, VenueBench.listings(.binance, ["BINANCE:NEWUSDT"])))
        bench.advance(seconds: 3_601)
        #expect(bench.asked == 2 && bench.connections.count == 1)
        #expect(try bench.requests().count == 1)
        bench.stop()
    }

    @Test("connects after 3 s without the list, says so, and refuses a wrong name when the list comes")
    func lateNames() throws {
        let bench = VenueBench(.binance, ["BINANCE:BTCUSDT", "BINANCE:BTCUSD"])
        bench.names = nil
        bench.start()
        bench.advance(seconds: 2.9)
        #expect(bench.attempts == 0 && bench.status.word == "connecting")
        #expect(bench.reason == "asking Binance for its list of symbols")
        bench.advance(seconds: 0.2)
        #expect(bench.connections.count == 1 && bench.reason.contains("names are not checked yet"))
        let attempt = bench.log.contents.statuses.last { $0.word == "connecting" }
        #expect(attempt?.reason?.contains("list has not come") == true)
        bench.answer(.success(VenueNames(.binance, VenueBench.listings(.binance, ["BINANCE:BTCUSDT"]))))
        #expect(bench.status.reason == nil && bench.status.word == "waiting")
        #expect(bench.log.contents.words(of: "BINANCE:BTCUSD") == ["asked", "no-such-symbol"])
        bench.stop()
    }

    @Test("subscribes without the list if it cannot be had, and says so in every status")
    func noNames() throws {
        let failure = ServiceFailure(.unreachable, "Binance is down", cure: "try again later")
        let bench = VenueBench(.binance, ["BINANCE:BTCUSDT"], names: .failure(failure))
        bench.start()
        #expect(try bench.requests().count == 1)
        #expect(bench.reason == "the symbols' names could not be checked: Binance is down: try again later")
        bench.connections[0].send(Self.trade("BTCUSDT", 5))
        #expect(bench.status.word == "live" && bench.reason.contains("could not be checked"))
        bench.names = .success(VenueNames(.binance, VenueBench.listings(.binance, ["BINANCE:BTCUSDT"])))
        for second in 0..<90 {
            bench.advance(seconds: 11)
            bench.connections[0].send(Self.trade("BTCUSDT", 6 + second))
        }
        #expect(bench.asked == 2 && bench.status.reason == nil)
        bench.stop()
    }

    @Test("asks for the list again 1, 2, 4, 8 and 15 min after failures, and after 15 min where the venue may ban")
    func namesRetries() {
        let failures: [(failure: ServiceFailure, minutes: [Int])] = [
            (ServiceFailure(.unreachable, "Binance is down"), [0, 1, 3, 7, 15, 30, 45]),
            (ServiceFailure(.notPermitted, "Binance refuses this location"), [0, 15, 30, 45]),
            (.rateLimited(until: 0, "Binance has banned this address for a time"), [0, 15, 30, 45]),
        ]
        for (failure, minutes) in failures {
            let bench = VenueBench(.binance, ["BINANCE:BTCUSDT"], names: .failure(failure)) { $0.rotation = nil }
            bench.start()
            var asked: [Int] = []
            for minute in 0..<50 {
                if bench.asked > asked.count { asked.append(minute) }
                bench.advance(seconds: 60)
            }
            // The first request is made at the start, the others within the minute before.
            #expect(asked == minutes)
            bench.stop()
        }
    }

    @Test("says that the venue lists a symbol as halted, and subscribes to it all the same")
    func halted() throws {
        let bench = VenueBench(.binance, ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT"])
        var listings = VenueBench.listings(.binance, ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT"])
        listings[1].isTrading = false
        bench.names = .success(VenueNames(.binance, listings))
        bench.start()
        #expect(try bench.requests().first?.contains("ethusdt@trade") == true)
        func state(_ symbol: String) -> SymbolStatus? { bench.log.contents.symbolStates.last { $0.symbol == symbol } }
        #expect(state("BINANCE:ETHUSDT")?.word == "asked")
        #expect(state("BINANCE:ETHUSDT")?.reason == "Binance lists it as halted")
        #expect(state("BINANCE:BTCUSDT")?.reason == nil)
        for id in 1..<10 {
            bench.connections[0].send(Self.trade("BTCUSDT", id))
            bench.advance(seconds: 5)
        }
        #expect(state("BINANCE:ETHUSDT")?.word == "quiet")
        #expect(state("BINANCE:ETHUSDT")?.reason?.hasSuffix(" s; Binance lists it as halted") == true)
        bench.connections[0].send(Self.trade("ETHUSDT", 1))
        #expect(state("BINANCE:ETHUSDT")?.word == "live" && state("BINANCE:ETHUSDT")?.reason == nil)
        bench.stop()
    }

    @Test("says whose limit a symbol exceeds")
    func limit() throws {
        let symbols = ["BINANCE:A", "BINANCE:B", "BINANCE:C"]
        let bench = VenueBench(.binance, symbols) { $0.subscriptions.limit = 2 }
        bench.start()
        #expect(
            bench.log.contents.symbolStates.last?.reason
                == "BINANCE:C is one more than the 2 symbols of one connection to Binance"
        )
        bench.stop()
    }

    @Test("obeys a ban of Binance for three days, and one of another venue for an hour")
    func bans() throws {
        for (venue, symbol, hours) in [(Venue.binance, "BINANCE:BTCUSDT", 72), (.coinbase, "COINBASE:BTC-USD", 1)] {
            let bench = VenueBench(venue, [symbol])
            bench.failures = [
                UpstreamFailure(
                    venue,
                    status: .init(statusCode: 418),
                    headers: ["Retry-After": "999999"],
                    body: "",
                    now: FeedBench.epoch
                )
            ]
            bench.start()
            #expect(bench.status.word == "rate-limited" && bench.reason.contains("has banned this address"))
            for _ in 0..<(hours * 60 - 1) { bench.advance(seconds: 60) }
            #expect(bench.attempts == 1)
            bench.advance(seconds: 61)
            #expect(bench.attempts == 2)
            bench.stop()
        }
    }

    @Test("a symbol that the venue refuses is refused, with its words and the cure; the socket stays")
    func refused() throws {
        let bench = VenueBench(.coinbase, ["COINBASE:ETH-USD"], asks: false)
        bench.start()
        _ = try bench.requests()
        bench.connections[0].send(
            #"{"type":"error","message":"Failed to subscribe","reason":"ETH-USD is not a valid product"}"#
        )
        let state = try #require(bench.log.contents.symbolStates.last)
        #expect(state.word == "no-such-symbol" && state.reason?.contains("ETH-USD is not a valid product") == true)
        #expect(state.reason?.hasSuffix("write it as Coinbase does, such as COINBASE:BTC-USD") == true)
        #expect(bench.status.word == "no-such-symbol" && bench.connections[0].isOpen)
        bench.stop()
    }

    // MARK: Ends

    @Test("reconnects at once after an announced end, with the reason, and subscribes again")
    func announcedEnd() throws {
        let bench = VenueBench(.binance, ["BINANCE:BTCUSDT"])
        bench.start()
        _ = try bench.requests()
        for number in 0..<10 {
            bench.connections[0].send(Self.trade("BTCUSDT", number))
            bench.advance(seconds: 10)
        }
        bench.connections[0].send(
            #"{"stream":"!serverShutdown","data":{"e":"serverShutdown","E":1770123456789}}"#
        )
        #expect(bench.connections[0].isOpen)
        bench.close(1_001)
        #expect(bench.status.word == "reconnecting" && bench.reason.contains("has announced to close its connections"))
        bench.advance(seconds: 0.5)
        #expect(bench.connections.count == 2)
        #expect(try bench.requests().count == 1)
        bench.stop()
    }

    @Test("names the planned end of a connection to Binance after 24 hours, and reconnects at once")
    func plannedEnd() throws {
        let bench = VenueBench(.binance, ["BINANCE:BTCUSDT"]) { $0.rotation = nil }
        bench.start()
        for number in 0..<(24 * 60 * 3) {
            bench.connections[0].send(Self.trade("BTCUSDT", number))
            bench.advance(seconds: 20)
        }
        bench.connections[0].reset()
        #expect(bench.reason.hasPrefix("Binance ends each connection after 24 hours: "))
        bench.advance(seconds: 0.5)
        #expect(bench.connections.count == 2)
        bench.stop()
    }

    @Test("waits 5 s after a restart of Kraken's service")
    func repair() throws {
        let bench = VenueBench(.kraken, ["KRAKEN:XXBTZUSD"])
        bench.start()
        bench.close(1_012, "service restart")
        bench.advance(seconds: 4.9)
        #expect(bench.connections.count == 1)
        bench.advance(seconds: 0.2)
        #expect(bench.connections.count == 2)
        bench.stop()
    }

    @Test("gives a connection up 10 s after the last heartbeat, and one without heartbeats much later")
    func silence() throws {
        let bench = VenueBench(.coinbase, ["COINBASE:BTC-USD"])
        bench.start()
        bench.advance(seconds: 30)
        #expect(bench.connections[0].isOpen)
        bench.connections[0].send(Self.heartbeat("BTC-USD", 0))
        bench.advance(seconds: 9)
        bench.connections[0].send(Self.heartbeat("BTC-USD", 20))
        bench.advance(seconds: 9)
        #expect(bench.connections[0].isOpen)
        bench.advance(seconds: 1.5)
        #expect(
            !bench.connections[0].isOpen && bench.log.contents.statuses.contains { $0.reason?.contains("10 s") == true }
        )
        bench.stop()
    }

    @Test("a socket of Kraken without subscriptions may be silent for longer than one with heartbeats")
    func silentKraken() throws {
        let bench = VenueBench(.kraken, ["KRAKEN:XXBTZUSD"])
        bench.start()
        bench.advance(seconds: 20)
        #expect(bench.connections[0].isOpen)
        bench.connections[0].send(
            #"{"method":"subscribe","result":{"channel":"trade","snapshot":true,"symbol":"BTC/USD"},"success":true,"#
                + #""time_in":"2026-09-25T17:48:24.745996Z","time_out":"2026-09-25T17:48:24.746032Z"}"#
        )
        bench.advance(seconds: 11)
        #expect(!bench.connections[0].isOpen)
        bench.stop()
    }

    @Test("knows the pairs of the first years without the list")
    func oldPairs() throws {
        let bench = VenueBench(.kraken, ["KRAKEN:XETHZEUR", "KRAKEN:ADA/USD"], asks: false)
        bench.start()
        #expect(try bench.requests().first?.contains(#""symbol":["ETH/EUR","ADA/USD"]"#) == true)
        #expect(bench.feed.client.watch.symbols == ["KRAKEN:XETHZEUR", "KRAKEN:ADAUSD"])
        bench.stop()
    }

    @Test("counts a hole by a heartbeat, without waiting for the next trade")
    func heartbeatOfHole() throws {
        let bench = VenueBench(.coinbase, ["COINBASE:BTC-USD"])
        bench.start()
        let match =
            #"{"type":"match","trade_id":7,"maker_order_id":"f07e510f-4edf-469d-b844-4f670f1e93f1","taker_order_id":"#
            + #""55c8b85c-75ae-4cd5-9775-eba950fc4605","side":"sell","size":"0.5","price":"80691.53","product_id":"#
            + #""BTC-USD","sequence":134905859981,"time":"2026-08-25T03:35:57.096368Z"}"#
        bench.connections[0].send(match, Self.heartbeat("BTC-USD", 7))
        for _ in 0..<3 {
            bench.advance(seconds: 1)
            bench.connections[0].send(Self.heartbeat("BTC-USD", 7))
        }
        #expect(bench.log.contents.gaps.isEmpty && bench.log.contents.trades.map(\.id) == [7])
        bench.connections[0].send(Self.heartbeat("BTC-USD", 9))
        for _ in 0..<3 {
            bench.advance(seconds: 1)
            bench.connections[0].send(Self.heartbeat("BTC-USD", 9))
        }
        let gap = try #require(bench.log.contents.gaps.first)
        #expect(gap.missing == 8...9 && gap.symbol == "COINBASE:BTC-USD" && bench.log.contents.gaps.count == 1)
        bench.stop()
    }
}
