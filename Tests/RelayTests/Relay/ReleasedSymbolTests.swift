import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
@testable import Relay

@Suite("Symbols that are released upstream")
struct ReleasedSymbolTests {
    /// Returns the states of a symbol among these messages.
    private func states(_ texts: [String], of symbol: String) -> [String] {
        texts.filter { $0.hasPrefix(#"{"type":"symbol","#) && $0.contains(#""symbol":"\#(symbol)","#) }
            .compactMap { $0.components(behind: #""state":""#) }
    }

    @Test("followers of all symbols get a release, also later ones, until a new subscription; subscribers do not")
    func reported() throws {
        let bench = HubBench()
        let all = try bench.pipedStream("?symbols=*")
        bench.play(Frames.trade(Frames.btc, "1"))
        bench.hub.take(.symbol(SymbolStatus(symbol: Frames.btc, state: .live, since: 0)))
        #expect(self.states(try all.takeTexts(), of: Frames.btc) == ["live"])
        bench.hub.take(.unsubscribed(Frames.btc))
        #expect(self.states(try all.takeTexts(), of: Frames.btc) == ["released"])
        let later = try bench.pipedStream("?symbols=*")
        let texts = try later.takeTexts()
        #expect(texts.first?.hasSuffix(#""state":"released"}]}"#) == true, "\(texts)")
        // Its price is sent first, since it is known.
        let snapshot = try #require(texts.firstIndex { $0.hasPrefix(#"{"type":"snapshot","#) })
        let state = try #require(texts.firstIndex { $0.hasPrefix(#"{"type":"symbol","#) })
        #expect(snapshot < state && self.states(texts, of: Frames.btc) == ["released"])
        let named = try bench.pipedStream("?symbol=\(Frames.btc)")
        #expect(self.states(try named.takeTexts(), of: Frames.btc) == [])
        #expect(bench.calls.all == [Frames.btc])
        bench.hub.take(.symbol(SymbolStatus(symbol: Frames.btc, state: .asked, since: 0)))
        for client in [all, later, named] {
            #expect(self.states(try client.takeTexts(), of: Frames.btc) == ["asked"])
        }
        let last = try bench.pipedStream()
        #expect(try last.takeTexts().first?.hasSuffix(#""state":"asked"}]}"#) == true)
        bench.stop()
    }

    /// Returns a client that follows all symbols, has got a price, and then the release of its symbol.
    private func follower(on bench: HubBench) throws -> PipedClient {
        let client = try bench.pipedStream("?symbols=*")
        bench.play(Frames.trade(Frames.btc, "1"))
        bench.hub.take(.unsubscribed(Frames.btc))
        _ = try client.takeTexts()
        return client
    }

    @Test("a follower of all symbols that names one subscribes it again, and gets its price once more")
    func namedAgain() throws {
        let bench = HubBench()
        let all = try self.follower(on: bench)
        try all.send(#"{"type":"subscribe","symbol":"\#(Frames.btc)"}"#)
        let texts = try all.takeTexts()
        #expect(texts.count == 2 && texts[0].hasPrefix(#"{"type":"subscribed","#), "\(texts)")
        #expect(texts.last?.hasPrefix(#"{"type":"snapshot","#) == true && texts.last?.contains(#""age":"#) == true)
        #expect(bench.calls.all == [Frames.btc])
        // It has a subscription to the symbol now, until it unsubscribes.
        try all.send(#"{"type":"unsubscribe","symbol":"\#(Frames.btc)"}"#)
        bench.loop.advanceTime(by: .seconds(10))
        #expect(bench.calls.all == [Frames.btc, "-\(Frames.btc)"])
        bench.stop()
    }

    @Test("another delivery of a subscribed symbol adds no subscription, that of a released one does")
    func lookedAt() throws {
        let bench = HubBench()
        let named = try bench.pipedStream("?symbol=\(Frames.btc)")
        let page = try bench.pipedStream("?symbols=*")
        bench.play(Frames.trade(Frames.btc, "1"))
        _ = try page.takeTexts()
        for delivery in ["all", "latest", "all"] {
            try page.send(#"{"type":"subscribe","symbol":"\#(Frames.btc)","delivery":"\#(delivery)"}"#)
            let texts = try page.takeTexts()
            #expect(texts.count == 1 && texts[0].contains(#""delivery":"\#(delivery)""#), "\(texts)")
        }
        bench.play(Frames.trade(Frames.btc, "2"))
        #expect(try page.takeTexts().contains { $0.hasPrefix(#"{"type":"trade","#) })
        // The last subscription by name ends it, even if other clients follow the symbol.
        try named.send(#"{"type":"unsubscribe"}"#)
        bench.loop.advanceTime(by: .seconds(10))
        #expect(bench.calls.all == [Frames.btc, "-\(Frames.btc)"])
        bench.hub.take(.unsubscribed(Frames.btc))
        _ = try page.takeTexts()
        try page.send(#"{"type":"subscribe","symbol":"\#(Frames.btc)","delivery":"latest"}"#)
        #expect(bench.calls.all == [Frames.btc, "-\(Frames.btc)", Frames.btc])
        bench.stop()
    }

    @Test("a client that got the release gets the price again on a new subscription, though it is unchanged")
    func recalled() throws {
        let bench = HubBench()
        let all = try self.follower(on: bench)
        let named = try bench.pipedStream("?symbol=\(Frames.btc)")
        #expect(try all.takeTexts() == [])
        _ = try named.takeTexts()
        bench.hub.take(.symbol(SymbolStatus(symbol: Frames.btc, state: .asked, since: 0)))
        let texts = try all.takeTexts()
        // Before the status: an earlier price must not make a symbol live that was just subscribed.
        #expect(texts.count == 2 && texts[0].hasPrefix(#"{"type":"snapshot","#), "\(texts)")
        #expect(self.states(texts, of: Frames.btc) == ["asked"])
        // The subscriber has the price.
        let answer = try named.takeTexts()
        #expect(answer.count == 1 && self.states(answer, of: Frames.btc) == ["asked"], "\(answer)")
        // Only once: the client has that price now.
        bench.hub.take(.symbol(SymbolStatus(symbol: Frames.btc, state: .live, since: 0)))
        bench.play(Frames.trade(Frames.btc, "1"))
        #expect(!(try all.takeTexts().contains { $0.hasPrefix(#"{"type":"snapshot","#) }))
        bench.stop()
    }

    @Test("a client that is behind gets the price again when it reads, and the state after an earlier price")
    func behind() throws {
        let bench = HubBench()
        let all = try bench.pipedStream("?symbols=*&overflow=latest")
        let later = try bench.pipedStream("?overflow=latest")
        bench.play(Frames.trade(Frames.btc, "1"))
        bench.hub.take(.unsubscribed(Frames.btc))
        for client in [all, later] {
            _ = try client.takeTexts()
            client.stopReading(fillsChannel: true)
        }
        try later.send(#"{"type":"subscribe"}"#)
        later.goOnReading()
        let reported = try later.takeTexts().filter { !$0.hasPrefix(#"{"type":"subscribed","#) }
        #expect(
            reported.contains { $0.hasPrefix(#"{"type":"snapshot","#) } && reported.last?.contains("released") == true,
            "\(reported)"
        )
        bench.hub.take(.symbol(SymbolStatus(symbol: Frames.btc, state: .asked, since: 0)))
        all.goOnReading()
        let texts = try all.takeTexts()
        #expect(texts.contains { $0.hasPrefix(#"{"type":"snapshot","#) }, "\(texts)")
        #expect(self.states(texts, of: Frames.btc) == ["asked"])
        bench.stop()
    }

    @Test("nothing is left of a symbol that never traded, and followers of all get its release, too")
    func neverTraded() throws {
        let bench = HubBench()
        let all = try bench.pipedStream("?symbols=*")
        for number in 0..<10 {
            bench.hub.take(.symbol(SymbolStatus(symbol: "X:\(number)", state: .asked, since: 0)))
            bench.hub.take(.unsubscribed("X:\(number)"))
            #expect(self.states(try all.takeTexts(), of: "X:\(number)") == ["asked", "released"])
        }
        #expect(bench.hub.releasedSince.isEmpty && bench.hub.prices.liveRows.isEmpty)
        bench.stop()
    }
}

extension String {
    /// Returns the text between a beginning and the next quotation mark.
    fileprivate func components(behind beginning: String) -> String? {
        self.firstRange(of: beginning).map { String(self[$0.upperBound...].prefix { $0 != "\"" }) }
    }
}
