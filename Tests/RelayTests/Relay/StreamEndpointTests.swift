import Market
import NIOCore
import Relay
import Testing
import TickertapeTesting
import Wire

@Suite("The relay's own stream", .timeLimit(.minutes(1 * Patience.factor)))
struct StreamEndpointTests {
    @Test("hello comes at once with the status, a snapshot first after a subscribe, then prices")
    func order() async throws {
        try await RelayFixture.run { fixture in
            fixture.feed(Frames.trade(Frames.btc, "61837.63"))
            let client = try await RawClient.open("/v1/stream", at: fixture.address)
            #expect(
                try await client.frame().text
                    .contains(
                        #""status":{"state":"live","since":1723161255342,"reason":null,"source":"live","file":null,"speed":null,"certificateChecked":true,"cause":null}"#
                    )
            )
            try await client.subscribe(Frames.btc)
            #expect(
                try await client.reported()
                    == #"{"type":"snapshot","symbol":"BINANCE:BTCUSDT","price":"61837.63","size":"0.02","time":1723161255342,"received":1723161255342123,"seq":1,"skipped":0,"open":"61837.63","high":"61837.63","low":"61837.63","volume":"0.02","trades":1}"#
            )
            fixture.feed(Frames.trade(Frames.btc, "61837.5", time: 1))
            #expect(
                try await client.reported()
                    == #"{"type":"price","symbol":"BINANCE:BTCUSDT","price":"61837.5","size":"0.02","time":1723161255343,"received":1723161255342123,"seq":2,"skipped":0,"open":"61837.63","high":"61837.63","low":"61837.5","volume":"0.04","trades":2}"#
            )
        }
    }

    @Test("a symbol without a price has its snapshot with its first trade")
    func lateSnapshot() async throws {
        try await RelayFixture.run { fixture in
            let client = try await fixture.streamClient()
            try await client.subscribe(Frames.eth)
            try await fixture.settle(client)
            #expect(fixture.calls.all == [Frames.eth])
            fixture.feed(Frames.trade(Frames.btc, "1"), Frames.trade(Frames.eth, "2"), Frames.trade(Frames.eth, "3"))
            #expect(try await client.update() == Update("snapshot", Frames.eth, "2", skipped: 0))
            #expect(try await client.update() == Update("price", Frames.eth, "3", skipped: 0))
        }
    }

    @Test("trades without a new price are reported now and then, so that a constant price does not look silent")
    func activity() async throws {
        try await RelayFixture.run {
            $0.activityInterval = .milliseconds(20)
        } body: { fixture in
            let client = try await fixture.streamClient()
            try await client.subscribe(Frames.btc)
            try await fixture.settle(client)
            fixture.feed(Frames.trade(Frames.btc, "5"))
            #expect(try await client.update() == Update("snapshot", Frames.btc, "5", skipped: 0))
            fixture.feed(Frames.trade(Frames.btc, "5", time: 1), Frames.trade(Frames.btc, "5", time: 2))
            #expect(try await client.update() == Update("trades", Frames.btc, "5", skipped: 0))
            // Not sent again, since no trade came.
            fixture.feed(Frames.trade(Frames.btc, "6", time: 3))
            #expect(try await client.update() == Update("price", Frames.btc, "6", skipped: 2))
        }
    }

    @Test("no price comes twice in a row, and skipped trades are counted")
    func neverRepeats() async throws {
        try await RelayFixture.run { fixture in
            let client = try await fixture.streamClient()
            try await client.send(#"{"type":"subscribe"}"#)
            try await fixture.settle(client)
            let prices = ["5", "5", "5", "6", "6", "5", "5", "5", "5", "7"]
            for (time, price) in prices.enumerated() { fixture.feed(Frames.trade(Frames.btc, price, time: time)) }
            #expect(try await client.update() == Update("snapshot", Frames.btc, "5", skipped: 0))
            #expect(try await client.update() == Update("price", Frames.btc, "6", skipped: 2))
            #expect(try await client.update() == Update("price", Frames.btc, "5", skipped: 1))
            #expect(try await client.update() == Update("price", Frames.btc, "7", skipped: 3))
        }
    }

    @Test("a client that subscribes between two prices gets the newest at once, and not again by the debounce")
    func snapshotAheadOfDebounce() async throws {
        try await RelayFixture.run {
            $0.pipeline = PricePipeline.Settings(quiet: 200_000_000, atMost: nil)
        } body: { fixture in
            let early = try await fixture.streamClient()
            try await early.subscribe(Frames.btc)
            try await fixture.settle(early)
            fixture.feed(Frames.trade(Frames.btc, "1"), Frames.trade(Frames.btc, "2"), Frames.trade(Frames.btc, "3"))
            #expect(try await early.update() == Update("snapshot", Frames.btc, "1", skipped: 0))
            let late = try await fixture.streamClient()
            try await late.subscribe(Frames.btc)
            #expect(try await late.update() == Update("snapshot", Frames.btc, "3", skipped: 0))
            // Sent by the timer, without another trade.
            #expect(try await early.update() == Update("price", Frames.btc, "3", skipped: 1))
            try await fixture.settle(late)
            fixture.feed(Frames.trade(Frames.btc, "4"))
            #expect(try await early.update() == Update("price", Frames.btc, "4", skipped: 0))
            #expect(try await late.update() == Update("price", Frames.btc, "4", skipped: 0))
        }
    }

    @Test("subscribing to all includes symbols that appear later, except those that were unsubscribed")
    func followsAll() async throws {
        try await RelayFixture.run { fixture in
            let client = try await fixture.streamClient()
            fixture.feed(Frames.trade(Frames.btc, "1"))
            try await client.send(#"{"type":"subscribe"}"#)
            #expect(try await client.update() == Update("snapshot", Frames.btc, "1", skipped: 0))
            try await client.send(#"{"type":"unsubscribe","symbols":["BINANCE:BTCUSDT"]}"#)
            try await fixture.settle(client)
            fixture.feed(Frames.trade(Frames.btc, "2"), Frames.trade(Frames.eth, "3"))
            #expect(try await client.update() == Update("snapshot", Frames.eth, "3", skipped: 0))
            try await client.send(#"{"type":"unsubscribe"}"#)
            try await fixture.settle(client)
            fixture.feed(Frames.trade(Frames.btc, "4"), Frames.trade(Frames.eth, "5"))
            // Events handed over to the loop and input of a socket have no defined order.
            try await fixture.settle(client)
            try await client.send(#"{"type":"subscribe","symbols":["BINANCE:BTCUSDT","BINANCE:ETHUSDT"]}"#)
            #expect(try await client.update() == Update("snapshot", Frames.btc, "4", skipped: 0))
            #expect(try await client.update() == Update("snapshot", Frames.eth, "5", skipped: 0))
        }
    }

    @Test("a follower of all symbols gets one that another client was the first to subscribe to")
    func followsAllThatOthersWant() async throws {
        try await RelayFixture.run { fixture in
            let all = try await fixture.streamClient()
            try await all.send(#"{"type":"subscribe"}"#)
            try await fixture.settle(all)
            let one = try await fixture.streamClient()
            try await one.subscribe(Frames.eth)
            try await fixture.settle(one)
            fixture.feed(Frames.trade(Frames.eth, "3"))
            #expect(try await one.update() == Update("snapshot", Frames.eth, "3", skipped: 0))
            #expect(try await all.update() == Update("snapshot", Frames.eth, "3", skipped: 0))
        }
    }

    @Test("followers of all symbols get the refusal of one that never trades, also later ones")
    func refusedSymbol() async throws {
        try await RelayFixture.run(ownSymbols: ["X:Y"]) { fixture in
            let all = try await fixture.streamClient()
            try await all.send(#"{"type":"subscribe"}"#)
            try await fixture.settle(all)
            fixture.symbolChanged(
                SymbolStatus(
                    symbol: "X:Y",
                    state: .refused(.noSuchSymbol, retryAt: 9_000_000),
                    since: 5_000_000,
                    reason: "Invalid symbol X:Y"
                )
            )
            let reported =
                #"{"type":"symbol","symbol":"X:Y","state":"no-such-symbol","since":5,"#
                + #""reason":"Invalid symbol X:Y","retryAt":9}"#
            #expect(try await all.reported() == reported)
            let later = try await fixture.streamClient()
            try await later.send(#"{"type":"subscribe"}"#)
            #expect(try await later.reported() == reported)
        }
    }

    @Test("changes of the status and gaps are sent, between the prices where they belong")
    func tellsStatusAndGaps() async throws {
        try await RelayFixture.run { fixture in
            let client = try await fixture.streamClient()
            try await client.send(#"{"type":"subscribe"}"#)
            try await fixture.settle(client)
            fixture.feed(Frames.trade(Frames.btc, "1"))
            let lost = FeedStatus(source: .live, phase: .connecting, since: 2_000_000, reason: "connection lost")
            fixture.relay.statusChanged(lost)
            fixture.relay.statusChanged(lost)
            fixture.relay.gapFound(Gap(from: 1_000_000, to: 9_000_000, reason: "connection lost", nextSequence: 2))
            fixture.feed(Frames.trade(Frames.btc, "2"))
            #expect(try await client.update() == Update("snapshot", Frames.btc, "1", skipped: 0))
            let status = try await client.reported()
            #expect(status.hasPrefix(#"{"type":"status","state":"connecting","since":2,"reason":"connection lost","#))
            #expect(
                try await client.reported()
                    == #"{"type":"gap","from":1,"to":9,"reason":"connection lost","nextSeq":2,"epoch":0,"overlap":null,"cause":null}"#
            )
            #expect(try await client.update() == Update("price", Frames.btc, "2", skipped: 0))
        }
    }

    @Test("an invalid or excessive request is answered with an error")
    func answersErrors() async throws {
        try await RelayFixture.run(symbolLimit: 2) { fixture in
            let client = try await fixture.streamClient()
            try await client.send(#"{"type":"subscribe","symbols":["A","B","C"]}"#)
            #expect(
                try await client.reported()
                    == #"{"type":"error","msg":"Subscribing to too many symbols: C","code":"too-many-symbols"}"#
            )
            try await client.send(#"{"type":"subscribe","symbol":""}"#)
            #expect(
                try await client.reported()
                    == #"{"type":"error","msg":"Subscribing to too many symbols: ","code":"too-many-symbols"}"#
            )
            try await client.send(#"{"type":"dance"}"#)
            #expect(
                try await client.reported()
                    == #"{"type":"error","msg":"Unknown type dance; use subscribe, unsubscribe, overflow, ping or replay","code":"unknown-type"}"#
            )
            for wrong in ["", "[]", #"{"type":1}"#, #"{"type":"subscribe","symbols":"A"}"#] {
                try await client.send(wrong)
                #expect(try await client.reported().hasPrefix(#"{"type":"error","msg":"Invalid message"#))
            }
            #expect(fixture.calls.all == ["A", "B"])
        }
    }
}

/// The parts of a price that most tests check.
struct Update: Equatable {
    var type: String
    var symbol: String
    var price: String
    var skipped: UInt64

    init(_ type: String, _ symbol: String, _ price: String, skipped: UInt64) {
        (self.type, self.symbol, self.price, self.skipped) = (type, symbol, price, skipped)
    }
}

extension RawClient {
    /// Returns the next message except answers to subscribing, without its number and its age, which vary.
    func reported() async throws -> String {
        while true {
            let text = try await self.frame().text
            if text.hasPrefix(#"{"type":"subscribed","#) { continue }
            return text.replacing(/"n":[0-9]+,/, with: "").replacing(/,"age":[0-9]+/, with: "")
        }
    }

    /// Returns the next message, which must be a price or a snapshot.
    func update() async throws -> Update {
        let text = try await self.reported()
        switch StreamMessage.parse(ByteBuffer(string: text)) {
        case .snapshot(let update, _):
            return Update("snapshot", update.summary.symbol, "\(update.summary.price)", skipped: update.skipped)
        case .price(let update):
            return Update("price", update.summary.symbol, "\(update.summary.price)", skipped: update.skipped)
        case .trades(let summary):
            return Update("trades", summary.symbol, "\(summary.price)", skipped: 0)
        case let other:
            Issue.record("\(other) instead of a price")
            throw RawClient.Ended()
        }
    }
}
