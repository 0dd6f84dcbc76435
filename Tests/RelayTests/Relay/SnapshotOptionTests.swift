import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
@testable import Relay

@Suite("The newest trade for a late subscriber (snapshot=1)", .timeLimit(.minutes(1 * Patience.factor)))
struct SnapshotOptionTests {
    private static let target = "/?token=any&snapshot=1"

    @Test("a late subscriber gets the symbol's newest trade at once, in Finnhub's bytes, and then live ones")
    func newestAtOnce() throws {
        let bench = HubBench()
        let early = try bench.client()
        try early.subscribe(Frames.btc)
        // Conditions are left out, and numbers are written as Finnhub's encoder writes them.
        bench.play(
            #"{"data":[{"c":["1"],"p":61837.630,"s":"BINANCE:BTCUSDT","t":1723161255342,"v":0.0000007}],"type":"trade"}"#
        )
        let late = try bench.client(Self.target)
        try late.subscribe(Frames.btc)
        #expect(try late.takeTexts() == [Frames.trade(Frames.btc, "61837.63", size: "7e-7")])
        bench.play(Frames.trade(Frames.btc, "61838", time: 1))
        #expect(try late.takeTexts() == [Frames.trade(Frames.btc, "61838", time: 1)])
        bench.stop()
    }

    @Test("of several trades in one batch it is the last one, and a price update counts as well")
    func lastOfMany() throws {
        let bench = HubBench()
        bench.play(
            Frames.trades(
                Frames.element(Frames.btc, "1"),
                Frames.element(Frames.eth, "2"),
                Frames.element(Frames.btc, "3")
            ),
            Frames.trade(Frames.eth, "4", size: "0")
        )
        let client = try bench.client(Self.target)
        try client.subscribe(Frames.btc)
        try client.subscribe(Frames.eth)
        #expect(try client.takeTexts() == [Frames.trade(Frames.btc, "3"), Frames.trade(Frames.eth, "4", size: "0")])
        bench.stop()
    }

    @Test("a symbol that has not traded has no newest trade, and its first one comes once")
    func notTraded() throws {
        let bench = HubBench()
        let client = try bench.client(Self.target)
        try client.subscribe(Frames.btc)
        #expect(try client.takeTexts() == [])
        bench.play(Frames.trade(Frames.btc, "1"))
        #expect(try client.takeTexts() == [Frames.trade(Frames.btc, "1")])
        bench.stop()
    }

    @Test("a client written for Finnhub never sees it")
    func notAskedFor() throws {
        let bench = HubBench()
        bench.play(Frames.trade(Frames.btc, "1"))
        for target in ["/", "/?token=abc", "/?token=snapshot=1x", "/?token=a&snapshot=0", "/?token=a&snapshots=1"] {
            let client = try bench.client(target)
            try client.subscribe(Frames.btc)
            #expect(try client.takeTexts() == [], "\(target)")
        }
        bench.stop()
    }

    @Test("no trade comes twice over one connection, however often the client subscribes")
    func onceOnly() throws {
        let bench = HubBench()
        bench.play(Frames.trade(Frames.btc, "1"))
        let client = try bench.client(Self.target)
        try client.subscribe(Frames.btc)
        try client.subscribe(Frames.btc)
        #expect(try client.takeTexts() == [Frames.trade(Frames.btc, "1")])
        try client.unsubscribe(Frames.btc)
        try client.subscribe(Frames.btc)
        #expect(try client.takeTexts() == [])
        bench.play(Frames.trade(Frames.btc, "2"))
        try client.unsubscribe(Frames.btc)
        try client.subscribe(Frames.btc)
        #expect(try client.takeTexts() == [Frames.trade(Frames.btc, "2")])
        try client.unsubscribe(Frames.btc)
        bench.play(Frames.trade(Frames.btc, "3"), Frames.trade(Frames.btc, "4"))
        #expect(try client.takeTexts() == [])
        try client.subscribe(Frames.btc)
        #expect(try client.takeTexts() == [Frames.trade(Frames.btc, "4")])
        bench.stop()
    }

    @Test("whenever a client comes, it sees a run of trades without a hole and without a repeat")
    func anyMoment() throws {
        let bench = HubBench()
        for moment in 0..<50 {
            bench.play(Frames.trade(Frames.btc, "\(moment + 1)"), Frames.trade(Frames.btc, "\(moment + 1).5"))
            let client = try bench.client(Self.target)
            try client.subscribe(Frames.btc)
            bench.play(Frames.trade(Frames.btc, "\(moment + 1).7"))
            #expect(
                try client.takeTexts()
                    == [Frames.trade(Frames.btc, "\(moment + 1).5"), Frames.trade(Frames.btc, "\(moment + 1).7")]
            )
            try client.leave()
        }
        bench.stop()
    }

    @Test("over a socket: the answer to the subscribe, then the live trades")
    func overSocket() async throws {
        try await RelayFixture.run { fixture in
            let early = try await fixture.tradesClient(Frames.btc)
            fixture.feed(Frames.trade(Frames.btc, "1"))
            #expect(try await early.frame().text == Frames.trade(Frames.btc, "1"))
            let late = try await RawClient.open("/?snapshot=1&token=any", at: fixture.address)
            try await late.subscribe(Frames.btc)
            #expect(try await late.frame().text == Frames.trade(Frames.btc, "1"))
            fixture.feed(Frames.trade(Frames.btc, "2"))
            #expect(try await late.frame().text == Frames.trade(Frames.btc, "2"))
            #expect(try await early.frame().text == Frames.trade(Frames.btc, "2"))
        }
    }

    @Test("the options of the URL are parsed, and unknown ones ignored, as Finnhub does")
    func options() {
        #expect(TradesOptions(target: "/") == TradesOptions())
        #expect(TradesOptions(target: "/?") == TradesOptions())
        #expect(TradesOptions(target: "/?&&=&x&snapshot&snapshot=") == TradesOptions())
        #expect(TradesOptions(target: "/?snapshot=1").snapshot)
        #expect(TradesOptions(target: "/?token=a&snapshot=true&x=%ZZ").snapshot)
        #expect(!TradesOptions(target: "/?snapshot=1&snapshot=0").snapshot)
        #expect(TradesOptions(target: "/?overflow=latest&snapshot=1").overflow == .latest)
        #expect(TradesOptions(target: "/?overflow=never").overflow == .close)
    }
}
