import Market
import Testing
import TickertapeTesting
import Wire
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
