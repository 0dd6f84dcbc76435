import Market
import NIOCore
import Testing
import TickertapeTesting
import Wire
@testable import Relay

@Suite("Finnhub's protocol on the relay", .timeLimit(.minutes(1 * Patience.factor)))
struct TradesEndpointTests {
    @Test("a frame in which every trade is wanted is passed on byte for byte")
    func passesBytes() async throws {
        try await RelayFixture.run { fixture in
            let client = try await fixture.tradesClient(Frames.btc)
            // Spaces, an unknown key and an odd number survive only if the bytes are the upstream's own.
            let odd =
                #"{ "data":[{"c":["1"],"p":61837.630,"s":"BINANCE:BTCUSDT","t":1723161255342,"v":2e-2}],"x":1,"type":"trade"}"#
            fixture.feed(odd, Frames.trade(Frames.btc, "61837.64"))
            #expect(try await client.frame() == RawClient.Frame(opcode: 1, payload: ByteBuffer(string: odd)))
            #expect(try await client.frame().text == Frames.trade(Frames.btc, "61837.64"))
        }
    }

    @Test("on the feed's own loop, too, every read reaches the client in order, around what else happens")
    func livesOnFeedLoop() async throws {
        try await RelayFixture.run { fixture in
            let client = try await fixture.tradesClient(Frames.btc)
            try await fixture.onFeedLoop { fixture in
                fixture.feed(Frames.trade(Frames.btc, "1"))
                fixture.symbolChanged(
                    SymbolStatus(
                        symbol: Frames.btc,
                        state: .refused(.noSuchSymbol, retryAt: 1),
                        since: 0,
                        reason: "no such symbol"
                    )
                )
                fixture.feed(Frames.trade(Frames.btc, "2"), Frames.trade(Frames.btc, "3"))
            }
            #expect(try await client.frame().text == Frames.trade(Frames.btc, "1"))
            #expect(try await client.frame().text.contains("no such symbol"))
            for price in ["2", "3"] {
                #expect(try await client.frame().text == Frames.trade(Frames.btc, price))
            }
        }
    }

    @Test("of a frame with some wanted trades, these come in order, each with the upstream's own bytes")
    func cutsSome() async throws {
        try await RelayFixture.run { fixture in
            let client = try await fixture.tradesClient(Frames.eth)
            fixture.feed(
                Frames.trade(Frames.btc, "1"),
                Frames.trades(
                    Frames.element(Frames.eth, "2530.1", size: "0.0000007", time: 1),
                    Frames.element(Frames.btc, "61837.63"),
                    Frames.element(Frames.eth, "2530", size: "0", time: 2)
                )
            )
            #expect(
                try await client.frame().text
                    == Frames.trades(
                        Frames.element(Frames.eth, "2530.1", size: "0.0000007", time: 1),
                        Frames.element(Frames.eth, "2530", size: "0", time: 2)
                    )
            )
        }
    }

    @Test("conditions, spellings and unknown keys of a trade survive in a frame of several symbols")
    func keepsConditions() async throws {
        try await RelayFixture.run { fixture in
            let stock = try await fixture.tradesClient("AAPL")
            let coin = try await fixture.tradesClient(Frames.btc)
            let first = #"{"c":["1","24","12"],"p":261.740,"s":"AAPL","t":1582641180600,"v":100}"#
            let second = #"{ "p": 2.6175e2, "s": "AAPL", "t": 1582641180601, "v": 1E+2, "x": {"c":[1,"]}"]} }"#
            let other = Frames.element(Frames.btc, "1")
            fixture.feed(#"{"type":"trade","data":[ \#(first), \#(other) ,\#(second)]}"#)
            #expect(try await stock.frame().text == Frames.trades(first, second))
            #expect(try await coin.frame().text == Frames.trades(other))
        }
    }

    @Test("of a frame with repeats from before an interruption, only the other trades are cut out")
    func leavesOutRepeats() throws {
        var feed = BatchSource()
        let elements = (1...4).map { #"{"c":["\#($0)"],"p":\#($0),"s":"\#($0 % 2 == 0 ? "A" : "B")","t":1,"v":1}"# }
        var batch = feed.batch([Frames.trades(elements[0], elements[1], elements[2], elements[3])])
        // As the feed does it: the second trade is not on the tape, and the others keep their order.
        batch.trades.remove(at: 1)
        batch.frames[0].trades = 0..<3
        batch.frames[0].isWhole = false
        batch.frames[0].leftOut = [1]
        var wanted = SymbolSet()
        // The frame is parsed once for both.
        var cuts = FinnhubTradeEncoder.CutFrames()
        func encoded() -> String {
            var room = ByteBuffer()
            var bytes = FinnhubTradeEncoder.encode([batch], wanted: wanted, isAll: false, cuts: &cuts, into: &room)
                .bytes
            bytes.moveReaderIndex(forwardBy: bytes.readableBytes < 128 ? 2 : 4)
            return String(buffer: bytes)
        }
        for (name, places) in [("A", [3]), ("B", [0, 2])] {
            wanted = SymbolSet()
            wanted.insert(try #require(batch.symbols.id(of: name)))
            let texts = places.map { elements[$0] }
            #expect(encoded() == #"{"data":[\#(texts.joined(separator: ","))],"type":"trade"}"#)
        }
        // If a part of it could not be parsed, the trades cannot be matched with its elements, so they are encoded
        // anew.
        batch.frames[0].isMalformed = true
        #expect(encoded().contains(#"{"c":null,"p":3,"#))
    }

    @Test("a malformed trade is not passed on, its siblings are")
    func leavesOutMalformed() async throws {
        try await RelayFixture.run { fixture in
            let client = try await fixture.tradesClient(Frames.btc)
            let good = Frames.element(Frames.btc, "5")
            fixture.feed(#"{"data":[{"s":"BINANCE:BTCUSDT","p":"x"},\#(good)],"type":"trade"}"#)
            #expect(try await client.frame().text == Frames.trades(good))
        }
    }

    @Test("clients with different subscriptions each get theirs, until they unsubscribe")
    func separatesGroups() async throws {
        try await RelayFixture.run { fixture in
            let both = try await fixture.tradesClient(Frames.btc, Frames.eth)
            let one = try await fixture.tradesClient(Frames.eth)
            let none = try await fixture.tradesClient()
            fixture.feed(Frames.trade(Frames.btc, "1"), Frames.trade(Frames.eth, "2"))
            #expect(try await both.frame().text == Frames.trade(Frames.btc, "1"))
            #expect(try await both.frame().text == Frames.trade(Frames.eth, "2"))
            #expect(try await one.frame().text == Frames.trade(Frames.eth, "2"))

            try await both.unsubscribe(Frames.eth)
            try await fixture.settle(both)
            fixture.feed(Frames.trade(Frames.eth, "3"), Frames.trade(Frames.btc, "4"))
            #expect(try await both.frame().text == Frames.trade(Frames.btc, "4"))
            #expect(try await one.frame().text == Frames.trade(Frames.eth, "3"))
            try await fixture.settle(none)
        }
    }

    @Test("every trade after the subscribe comes once and in order, however the feed's reads are cut")
    func losesNothing() async throws {
        try await RelayFixture.run { fixture in
            let client = try await fixture.tradesClient(Frames.btc)
            var next = 0
            for size in [1, 7, 100, 3, 1_000, 1, 889] {
                fixture.feed((next..<next + size).map { Frames.trade(Frames.btc, "\($0 + 1)") })
                next += size
            }
            for number in 1...next {
                let text = try await client.frame().text
                try #require(text == Frames.trade(Frames.btc, "\(number)"))
            }
        }
    }

    @Test("a symbol that the feed lacks is subscribed upstream once, and an invalid one is refused here")
    func demandsOnce() async throws {
        try await RelayFixture.run(ownSymbols: [Frames.eth]) { fixture in
            let first = try await fixture.tradesClient(Frames.btc)
            _ = try await fixture.tradesClient(Frames.btc, Frames.btc)
            fixture.feed(Frames.trade(Frames.eth, "1"))
            try await fixture.settle(first)
            _ = try await fixture.tradesClient(Frames.eth)
            #expect(fixture.calls.all == [Frames.btc])

            for wrong in ["", "A\\u0000B", String(repeating: "X", count: 65)] {
                try await first.send(#"{"type":"subscribe","symbol":"\#(wrong)"}"#)
                let text = try await first.frame().text
                #expect(text.hasPrefix(#"{"msg":"Invalid symbol"#) && text.hasSuffix(#","type":"error"}"#), "\(text)")
            }
            #expect(fixture.calls.all == [Frames.btc])
        }
    }

    @Test(
        "the symbol beyond the limit is refused here in Finnhub's words with its name, and the others stay"
    )
    func limitsSymbols() async throws {
        try await RelayFixture.run { fixture in
            let client = try await RawClient.open(at: fixture.address)
            for number in 1...51 { try await client.subscribe("S\(number)") }
            #expect(try await client.frame().text == #"{"msg":"Subscribing to too many symbols: S51","type":"error"}"#)
            #expect(fixture.calls.all.count == 50)
            fixture.feed(Frames.trade("S50", "1"), Frames.trade("S51", "1"))
            #expect(try await client.frame().text == Frames.trade("S50", "1"))
            try await client.unsubscribe("S50")
            try await fixture.settle(client)
        }
    }

    @Test("a symbol is released with its last client, by its request or by its end")
    func givesUpPlaces() async throws {
        try await RelayFixture.run(ownSymbols: ["OWN"], symbolLimit: 3) { fixture in
            let first = try await fixture.tradesClient("OWN", "A", "B")
            let second = try await fixture.tradesClient("A")
            let stream = try await fixture.streamClient()
            try await second.subscribe("C")
            #expect(try await second.frame().text.contains("too many symbols"))
            try await first.unsubscribe("A")
            try await first.unsubscribe("B")
            try await first.unsubscribe("OWN")
            try await fixture.settle(first)
            // The second client still wants `A`, and no client can unsubscribe the feed's own symbol.
            #expect(fixture.calls.all == ["A", "B", "-B"])
            try await stream.subscribe("C")
            try await fixture.settle(stream)
            try await second.close()
            try await stream.close()
            let third = try await RawClient.open(at: fixture.address)
            // Both ends must arrive first.
            for _ in 0..<200 where fixture.calls.all.count < 6 { try await fixture.settle(third) }
            #expect(Set(fixture.calls.all.suffix(2)) == ["-A", "-C"])
            try await third.subscribe("D")
            try await third.subscribe("E")
            try await fixture.settle(third)
            #expect(fixture.calls.all.suffix(2) == ["D", "E"])
        }
    }

    private static func state(_ symbol: String, _ state: SymbolStatus.State, _ reason: String? = nil) -> SymbolStatus {
        SymbolStatus(symbol: symbol, state: state, since: 1, reason: reason)
    }

    @Test("a client gets an upstream's refusal of its symbol once, and the symbol when it comes after all")
    func passesRefusals() async throws {
        try await RelayFixture.run { fixture in
            let client = try await fixture.tradesClient(Frames.btc)
            let other = try await fixture.tradesClient(Frames.eth)
            let words = "Invalid symbol \(Frames.btc)"
            fixture.symbolChanged(Self.state(Frames.btc, .refused(.noSuchSymbol, retryAt: 9), words))
            fixture.symbolChanged(Self.state(Frames.btc, .refused(.noSuchSymbol, retryAt: 99), words))
            #expect(try await client.frame().text == #"{"msg":"\#(words)","type":"error"}"#)
            try await fixture.settle(client)
            try await fixture.settle(other)
            // A later subscriber gets the refusal too. The feed is not asked again, since it retries by itself.
            let late = try await RawClient.open(at: fixture.address)
            try await late.subscribe(Frames.btc)
            #expect(try await late.frame().text == #"{"msg":"\#(words)","type":"error"}"#)
            #expect(fixture.calls.all == [Frames.btc, Frames.eth])
            fixture.symbolChanged(Self.state(Frames.btc, .live))
            let trade = Frames.trade(Frames.btc, "1")
            fixture.feed(trade)
            #expect(try await client.frame().text == trade)
            #expect(try await late.frame().text == trade)
            try await fixture.settle(other)
        }
    }

    @Test("a refused symbol takes no place from the others, and hostile subscriptions stay bounded")
    func refusedPlaces() async throws {
        try await RelayFixture.run(symbolLimit: 2) { fixture in
            let client = try await fixture.tradesClient("A", "B")
            fixture.symbolChanged(Self.state("A", .refused(.noSuchSymbol, retryAt: 9), "Invalid symbol A"))
            _ = try await client.frame()
            let other = try await fixture.tradesClient("C")
            let third = try await RawClient.open(at: fixture.address)
            try await third.subscribe("D")
            #expect(try await third.frame().text == #"{"msg":"Subscribing to too many symbols: D","type":"error"}"#)
            fixture.symbolChanged(Self.state("A", .live))
            try await client.unsubscribe("A")
            try await client.unsubscribe("B")
            try await fixture.settle(client)
            try await third.subscribe("D")
            try await fixture.settle(third)
            #expect(fixture.calls.all == ["A", "B", "C", "-A", "-B", "D"])
            try await fixture.settle(other)
        }
    }

    @Test("text pings are sent at their interval")
    func pings() async throws {
        try await RelayFixture.run {
            $0.textPingInterval = .milliseconds(20)
        } body: { fixture in
            let client = try await RawClient.open(at: fixture.address)
            for _ in 1...3 { #expect(try await client.frame().text == #"{"type":"ping"}"#) }
        }
    }

    @Test("a message that is too large ends the connection with 1009, a binary one with 1003")
    func refusesMessages() async throws {
        try await RelayFixture.run { fixture in
            let large = try await RawClient.open(at: fixture.address)
            var frame = ByteBuffer()
            frame.writeMultipleIntegers(UInt8(0x81), UInt8(0x80 | 127), UInt64(64 << 10) + 1)
            try await large.channel.writeAndFlush(frame)
            #expect(try await large.frame().closure?.hasPrefix("1009 ") == true)

            let binary = try await RawClient.open(at: fixture.address)
            try await binary.channel.writeAndFlush(RawClient.masked(opcode: 2, "x"))
            #expect(try await binary.frame().closure == "1003 text messages only")
        }
    }
}
