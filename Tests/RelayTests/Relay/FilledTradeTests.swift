import Foundation
import Market
import Testing
import TickertapeTesting
import Wire
@testable import Measurements
@testable import Relay

@Suite("Filled trades at the relay", .timeLimit(.minutes(1 * Patience.factor)))
struct FilledTradeTests {
    /// A filled trade between two others, of another minute than theirs.
    private func feed(_ fixture: RelayFixture) {
        fixture.feed(Frames.trade(Frames.btc, "100", size: "2"))
        fixture.feed(Frames.trade(Frames.btc, "101", size: "1", time: 60_000))
        fixture.feedFilled(Frames.trade(Frames.btc, "250.50", size: "4", time: 100))
        fixture.feed(Frames.trade(Frames.btc, "102", size: "1", time: 60_001))
    }

    @Test("Finnhub's protocol leaves them out unless the client asks for them, and has their digits then")
    func finnhub() async throws {
        try await RelayFixture.run { fixture in
            let plain = try await fixture.tradesClient(Frames.btc)
            let asking = try await RawClient.open("/?filled=1", at: fixture.address)
            try await asking.subscribe(Frames.btc)
            try await fixture.settle(asking)
            self.feed(fixture)
            for price in ["100", "101", "102"] {
                let text = try await plain.frame().text
                #expect(text.contains("\"p\":\(price),"), "\(text)")
            }
            var prices: [String] = []
            while prices.count < 4 { prices.append(try await asking.frame().text) }
            #expect(prices[2].contains(#""p":250.5,"s":"BINANCE:BTCUSDT""#), "\(prices[2])")
        }
    }

    @Test("/v1/stream sends them with all trades, marked, and never as a price")
    func stream() async throws {
        try await RelayFixture.run { fixture in
            let all = try await fixture.streamClient("?symbols=*&delivery=all")
            let latest = try await fixture.streamClient("?symbols=*")
            self.feed(fixture)
            var text = ""
            while !text.contains(#""seq":3,"#) { text = try await all.frame().text }
            #expect(text.contains(#""price":"250.5","#) && text.hasSuffix(#""id":"70","filled":true}"#), "\(text)")
            var seen = ""
            while !text.contains(#""price":"102""#) {
                text = try await latest.frame().text
                seen += text
            }
            #expect(!seen.contains(#""price":"250"#) && !seen.contains("filled"), "\(seen)")
        }
    }

    @Test(
        "a closed bar is complete, as revised, when the last missing trades of its gap have come",
        arguments: [true, false]
    )
    func settled(isComplete: Bool) async throws {
        try await RelayFixture.run { fixture in
            let bars = try await fixture.streamClient()
            try await bars.send(#"{"type":"subscribe","symbols":["BINANCE:BTCUSDT"],"bars":"1m"}"#)
            var text = ""
            while !text.contains(#""type":"subscribed""#) { text = try await bars.frame().text }
            for minute in 0...3 { fixture.feed(Frames.trade(Frames.btc, "100", time: minute * 60_000)) }
            while !text.contains(#""closed":true,"incomplete":false"#) { text = try await bars.frame().text }
            let time: Int64 = 1_723_161_255_342_000_000
            let minute: Int64 = 60_000_000_000
            let gap = Gap(
                from: time + minute,
                to: time + minute + 1_000_000_000,
                reason: "r",
                nextSequence: 5,
                symbol: Frames.btc,
                missing: 7...9
            )
            fixture.relay.gapFound(gap)
            while !text.contains(#""closed":true,"incomplete":true,"revised":true"#) {
                text = try await bars.frame().text
            }
            let lost: [ClosedRange<UInt64>] = isComplete ? [] : [8...8]
            fixture.relay.gapSettled(
                GapOutcome(symbol: Frames.btc, missing: 7...9, from: gap.from, to: gap.to, lost: lost, reason: "r")
            )
            fixture.feedFilled(Frames.trade(Frames.btc, "250", time: 60_100))
            while !text.contains(#""revised":true"#) || !text.contains(#""high":"250""#) {
                text = try await bars.frame().text
            }
            #expect(text.contains(#""closed":true,"incomplete":\#(!isComplete),"revised":true"#), "\(text)")
        }
    }

    private static func status(_ fixture: RelayFixture) async throws -> String {
        let client = try await RawClient.connect(to: fixture.address)
        _ = try await client.request("GET /v1/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return try await client.rest()
    }

    @Test("what became of a gap goes to the clients of /v1/stream that follow the symbol, and into /v1/status")
    func outcomes() async throws {
        let instruments = Instruments()
        try await RelayFixture.run(instruments: instruments) { fixture in
            let all = try await fixture.streamClient("?symbols=*")
            let other = try await fixture.streamClient("?symbol=X:Y")
            let every = try await fixture.streamClient("?symbols=*&delivery=all")
            fixture.feed(Frames.trade(Frames.btc, "100"))
            let gap = Gap(
                from: 1_000_000_000,
                to: 2_000_000_000,
                reason: "r",
                nextSequence: 2,
                epoch: 7,
                symbol: Frames.btc,
                missing: 7...9
            )
            fixture.relay.gapFound(gap)
            let outcome = GapOutcome(
                symbol: Frames.btc,
                missing: 7...9,
                from: gap.from,
                to: gap.to,
                lost: [8...8],
                reason: "the venue has it no more"
            )
            fixture.relay.gapSettled(outcome)
            let words =
                #""symbol":"BINANCE:BTCUSDT","from":1000,"to":2000,"missing":{"first":"7","last":"9","count":"3"},"#
                + #""lost":[{"first":"8","last":"8","count":"1"}],"reason":"the venue has it no more"}"#
            for client in [all, every] {
                var text = ""
                while !text.contains(#""type":"gap""#) { text = try await client.frame().text }
                text = try await client.frame().text
                #expect(text.hasPrefix(#"{"type":"settled","n":"#) && text.hasSuffix(",\(words)"), "\(text)")
            }
            instruments.changeHistory { history in
                history.gapFound(gap)
                history.gapSettled(outcome)
                history.gapFound(gap)
            }
            let status = try await Self.status(fixture)
            let missing = #""missing":{"first":"7","last":"9","count":"3"}"#
            #expect(status.contains(#"\#(missing)},{"type":"gap","from":1000"#), "\(status)")
            #expect(status.contains(#"\#(missing),"settled":[{\#(words)]}]"#), "\(status)")
            fixture.relay.statusChanged(FeedStatus(source: .live, phase: .stale, since: 5))
            var text = ""
            while !text.contains(#""state":"stale""#) {
                text = try await other.frame().text
                #expect(!text.contains("settled"), "\(text)")
            }
        }
    }

    @Test("a venue's own 24 hours come with the subscription and at each change, and are left out once they are old")
    func days() async throws {
        try await RelayFixture.run { fixture in
            fixture.feed(Frames.trade(Frames.btc, "100"))
            let early = try await fixture.streamClient("?symbols=*")
            var day = VenueDay(
                symbol: Frames.btc,
                open: ExactDecimal("90"),
                high: try #require(ExactDecimal("110")),
                low: try #require(ExactDecimal("80.5")),
                last: try #require(ExactDecimal("100")),
                volume: try #require(ExactDecimal("12")),
                received: Int64(Date().timeIntervalSince1970 * 1e9)
            )
            fixture.relay.dayChanged(day)
            let words = #""open":"90","high":"110","low":"80.5","last":"100","change":"10","volume":"12","received":"#
            var text = ""
            while !text.contains("venueDay") { text = try await early.frame().text }
            #expect(text.hasPrefix(#"{"type":"venueDay","n":"#) && text.contains(words), "\(text)")
            let late = try await fixture.streamClient("?symbol=\(Frames.btc)&delivery=all")
            text = ""
            while !text.contains("venueDay") { text = try await late.frame().text }
            #expect(text.contains(words))
            let status = try await Self.status(fixture)
            #expect(status.contains(#""venueDay":{\#(words)"#), "\(status)")
            day.received -= VenueDay.goodFor
            fixture.relay.dayChanged(day)
            let old = try await Self.status(fixture)
            #expect(!old.contains("venueDay"), "\(old)")
        }
    }

    @Test("the session's figures take them, and a closed bar that they change comes again as revised")
    func figures() async throws {
        try await RelayFixture.run { fixture in
            let bars = try await fixture.streamClient()
            try await bars.send(#"{"type":"subscribe","symbols":["BINANCE:BTCUSDT"],"bars":"1m"}"#)
            var text = ""
            while !text.contains(#""type":"subscribed""#) { text = try await bars.frame().text }
            self.feed(fixture)
            while !text.contains(#""revised":true"#) { text = try await bars.frame().text }
            #expect(text.contains(#""high":"250.5","low":"100","close":"250.5","volume":"6""#), "\(text)")
            #expect(text.contains(#""closed":true"#))
            let client = try await RawClient.connect(to: fixture.address)
            let request = "GET /v1/snapshot/BINANCE:BTCUSDT HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            _ = try await client.request(request)
            let snapshot = try await client.rest()
            #expect(snapshot.contains(#""price":"102""#) && snapshot.contains(#""high":"250.5""#), "\(snapshot)")
            #expect(snapshot.contains(#""volume":"8""#) && snapshot.contains(#""trades":4"#), "\(snapshot)")
        }
    }
}
