import Ingest
import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import Wire
@testable import Relay

@Suite("Clients' subscriptions and the upstream's", .timeLimit(.minutes(5 * Patience.factor)))
struct ClientSubscriptionTests {
    @Test("a client that returns within ten seconds changes nothing upstream, one that stays away does")
    func grace() throws {
        let bench = HubBench()
        let first = try bench.client()
        try first.subscribe("A")
        try first.subscribe("B")
        #expect(bench.calls.all == ["A", "B"])
        try first.leave()
        bench.loop.advanceTime(by: .seconds(9))
        #expect(bench.calls.all == ["A", "B"])
        let second = try bench.client()
        try second.subscribe("A")
        bench.loop.advanceTime(by: .seconds(1))
        #expect(bench.calls.all == ["A", "B", "-B"])
        bench.loop.advanceTime(by: .seconds(100))
        try second.unsubscribe("A")
        bench.loop.advanceTime(by: .milliseconds(9_999))
        #expect(bench.calls.all == ["A", "B", "-B"])
        bench.loop.advanceTime(by: .milliseconds(1))
        #expect(bench.calls.all == ["A", "B", "-B", "-A"])
        #expect(try second.takeTexts() == [])
        bench.stop()
    }

    @Test("a symbol that lingers still takes its place, until another one needs it")
    func placesInGrace() throws {
        let bench = HubBench(symbolLimit: 2)
        let first = try bench.client()
        let second = try bench.client()
        try first.subscribe("A")
        try first.subscribe("B")
        try first.unsubscribe("B")
        bench.loop.advanceTime(by: .seconds(1))
        try first.unsubscribe("A")
        try second.subscribe("C")
        #expect(bench.calls.all == ["A", "B", "-B", "C"])
        try second.subscribe("D")
        #expect(bench.calls.all == ["A", "B", "-B", "C", "-A", "D"])
        try first.subscribe("E")
        #expect(try first.takeTexts() == [#"{"msg":"Subscribing to too many symbols: E","type":"error"}"#])
        bench.loop.advanceTime(by: .hours(1))
        #expect(bench.calls.all == ["A", "B", "-B", "C", "-A", "D"])
        bench.stop()
    }

    @Test("symbols that were unsubscribed together go together, and none goes when the hub has stopped")
    func together() throws {
        let bench = HubBench()
        let client = try bench.client()
        for number in 0..<50 {
            try client.subscribe("S\(number)")
            try client.unsubscribe("S\(number)")
        }
        #expect(bench.calls.all.count == 50)
        bench.loop.advanceTime(by: .seconds(10))
        #expect(bench.calls.all.count == 100)
        try client.subscribe("A")
        bench.stop()
        bench.loop.advanceTime(by: .hours(1))
        #expect(bench.calls.all.last == "A")
    }

    @Test("late trades of unsubscribed symbols take no place, and their next subscription reaches the upstream")
    func lateTrades() throws {
        let bench = HubBench(symbolLimit: 3)
        let client = try bench.client()
        for number in 0..<100 {
            try client.subscribe("S\(number)")
            try client.unsubscribe("S\(number)")
        }
        bench.loop.advanceTime(by: .seconds(10))
        for number in 0..<100 { bench.play(Frames.trade("S\(number)", "1")) }
        #expect(bench.subscriptions.symbols == [])
        for symbol in ["S5", "S6", "S7"] {
            try client.subscribe(symbol)
            #expect(bench.calls.all.last == symbol)
        }
        bench.stop()
    }

    /// Reports that a feed has refused a symbol, and that the symbol was unsubscribed.
    private func say(of symbol: String, to bench: HubBench) {
        let since: Int64 = 1
        let refused = SymbolStatus.State.refused(.noSuchSymbol, retryAt: 9)
        let status = SymbolStatus(symbol: symbol, state: refused, since: since, reason: "Invalid symbol \(symbol)")
        bench.subscriptions.symbolChanged(status)
        bench.subscriptions.symbolUnsubscribed(symbol)
        bench.hub.take([
            .symbol(SymbolStatus(symbol: symbol, state: .asked, since: since)), .symbol(status), .unsubscribed(symbol),
        ])
    }

    @Test(
        "more names invented by one client than the feed can number take no place of others, however late the answers"
    )
    func inventedNames() throws {
        let bench = HubBench()
        let hostile = try bench.client()
        let other = try bench.client()
        try other.subscribe(Frames.btc)
        var unanswered: [String] = []
        // Twice the capacity of every table here: symbol numbers, rows, unsubscribed names.
        let rounds = 2
        let namesPerRound = SymbolTable.capacity + 1_000
        for number in 0..<rounds * namesPerRound {
            let name = "INVENTED:\(number)"
            try hostile.subscribe(name)
            try hostile.unsubscribe(name)
            unanswered.append(name)
            guard unanswered.count == namesPerRound else { continue }
            for name in unanswered.prefix(SymbolTable.capacity) { self.say(of: name, to: bench) }
            unanswered = []
            _ = try hostile.takeTexts()
        }
        #expect(bench.subscriptions.symbols.count <= 50)
        #expect(bench.hub.symbolStates.count <= 50)
        bench.loop.advanceTime(by: .seconds(10))
        #expect(bench.subscriptions.symbols == [Frames.btc])
        // All 49 other places are free for symbols that trade.
        for number in 1...49 {
            try other.subscribe("NEW:\(number)")
            #expect(bench.calls.all.last == "NEW:\(number)")
        }
        bench.play(Frames.trade("NEW:1", "1"), Frames.trade("NEW:49", "2"))
        #expect(try other.takeTexts() == [Frames.trade("NEW:1", "1"), Frames.trade("NEW:49", "2")])
        #expect(bench.calls.all.filter { $0 == Frames.btc } == [Frames.btc])
        bench.stop()
    }

    @Test(
        "5,000 symbols that trade without a subscription take no place, no row and no bars from the subscribed ones"
    )
    func unaskedTrades() throws {
        let bench = HubBench()
        func names(_ round: Int) -> [String] { (0..<3_000).map { Frames.trade("R\(round):\($0)", "1") } }
        bench.play(names(0), anew: names(1))
        bench.play([], anew: names(2))
        #expect(bench.hub.prices.liveRows.count <= 3_000)
        let client = try bench.pipedStream("?symbols=NEW:1")
        #expect(bench.calls.all.last == "NEW:1")
        #expect(bench.subscriptions.symbols == ["NEW:1"])
        bench.play(Frames.trade("NEW:1", "7"))
        #expect(try client.takeTexts().contains { $0.contains("NEW:1") && $0.contains("\"price\":\"7\"") })
        #expect(bench.hub.bars.series(of: "NEW:1", .second) != nil)
        bench.stop()
    }

    @Test("names that cannot be symbols are refused by both protocols, and never reach the upstream")
    func impossibleNames() throws {
        let bench = HubBench()
        let client = try bench.client()
        let names = [
            " A", "A ", "A\u{200B}B", "A\u{202E}B", "A\u{9B}B", "A\u{FFFD}", String(repeating: "A", count: 65),
        ]
        for name in names {
            try client.subscribe(name)
            #expect(try client.takeTexts().last?.contains("Invalid symbol") == true, "\(name.debugDescription)")
        }
        #expect(bench.calls.all.isEmpty)
        try client.subscribe("IC MARKETS:1")
        #expect(bench.calls.all == ["IC MARKETS:1"])
        bench.stop()
    }

    @Test(
        "5,000 names of one client are refused beyond its limit, each by name, and 50 reach the upstream"
    )
    func heldNames() throws {
        let bench = HubBench()
        let hostile = try bench.client()
        for number in 0..<5_000 { try hostile.subscribe("INVENTED:\(number)") }
        #expect(bench.calls.all.count == 50)
        let answers = try hostile.takeTexts()
        #expect(answers.count == 4_950)
        #expect(
            answers.last == #"{"msg":"Subscribing to too many symbols: INVENTED:4999","type":"error"}"#
        )
        try hostile.leave()
        let other = try bench.client()
        try other.subscribe("REAL")
        #expect(bench.calls.all.count == 52 && bench.calls.all[50].hasPrefix("-INVENTED:"))
        #expect(bench.calls.all.last == "REAL")
        bench.stop()
    }
}
