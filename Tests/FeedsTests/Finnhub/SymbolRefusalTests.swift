import Feeds
import Market
import Testing

@Suite("Refused symbols")
struct SymbolRefusalTests {
    private let tooMany = "Subscribing to too many symbols"

    @Test(
        "a named symbol is refused with the service's text, requested again slowly, and live when it trades"
    )
    func named() {
        var bench = WatchBench(["A", "OANDA:EUR_USD"])
        bench.now = 0.1
        bench.error("Invalid symbol OANDA:EUR_USD")
        #expect(bench.status("OANDA:EUR_USD")?.reason == "Invalid symbol OANDA:EUR_USD")
        #expect(bench.word("OANDA:EUR_USD") == "no-such-symbol")
        guard case .refused(.noSuchSymbol, let retryAt) = bench.status("OANDA:EUR_USD")?.state else {
            Issue.record("not refused")
            return
        }
        #expect(retryAt == 1_300_100_000_000)
        _ = bench.takeSent()
        // No step is taken for a refused symbol.
        bench.pass(to: 299, trading: ["A"], every: 1)
        #expect(bench.takeSent() == [])
        bench.pass(to: 301, trading: ["A"], every: 1)
        #expect(bench.takeSent() == ["+OANDA:EUR_USD"])
        bench.error("Invalid symbol OANDA:EUR_USD")
        bench.pass(to: 900, trading: ["A"], every: 1)
        #expect(bench.takeSent() == [])
        bench.pass(to: 902, trading: ["A"], every: 1)
        #expect(bench.takeSent() == ["+OANDA:EUR_USD"])
        bench.trade("OANDA:EUR_USD")
        #expect(bench.word("OANDA:EUR_USD") == "live")
    }

    @Test("a repeated refusal counts once, and does not make the wait longer")
    func repeated() {
        var bench = WatchBench(["A", "B"])
        for _ in 0..<20 { bench.error("Invalid symbol B") }
        guard case .refused(.noSuchSymbol, let retryAt) = bench.status("B")?.state else {
            Issue.record("not refused")
            return
        }
        #expect(retryAt == 1_300_000_000_000)
        _ = bench.takeSent()
        bench.pass(to: 301, trading: ["A"], every: 1)
        #expect(bench.takeSent() == ["+B"])
        bench.error("Invalid symbol B")
        bench.error("Invalid symbol B")
        bench.pass(to: 902, trading: ["A"], every: 1)
        #expect(bench.takeSent() == ["+B"])
    }

    @Test("a symbol that is requested again and not refused counts as requested, though it does not trade yet")
    func effective() {
        var bench = WatchBench(["A", "B"])
        bench.error("Invalid symbol B")
        bench.pass(to: 300.5, trading: ["A"], every: 1)
        #expect(bench.word("B") == "no-such-symbol")
        bench.pass(to: 311, trading: ["A"], every: 1)
        #expect(bench.word("B") == "asked")
    }

    @Test("an error without a name is the answer to the oldest request that is still open")
    func unnamed() {
        var bench = WatchBench(["A", "B", "C"])
        bench.now = 0.2
        bench.trade("A")
        bench.error("Invalid symbol")
        #expect(bench.word("B") == "no-such-symbol" && bench.word("C") == "asked")
        bench.error("You don't have access to this resource.")
        #expect(bench.word("C") == "not-permitted")
        // B trades, so the error meant C. But C is refused already, so no other symbol is suspected.
        bench.trade("B")
        #expect(bench.word("B") == "live" && bench.word("A") == "live")
        // Long after every request the error concerns none of them.
        bench.pass(to: 100, trading: ["A", "B"], every: 1)
        bench.error("You don't have access to this resource.")
        #expect(bench.word("A") == "live" && bench.word("B") == "live")
    }

    @Test("a symbol too many is the newest that has not traded; a trade clears it, and another one is suspected")
    func overLimit() {
        let symbols = (1...55).map { "S\($0)" }
        // The plan gives 51 places, though the limit is 55.
        var bench = WatchBench(symbols, limit: 55)
        bench.pass(to: 2)
        for _ in 52...55 { bench.error(tooMany) }
        let refused = bench.watch.states.filter { $0.word == "over-limit" }.map(\.symbol)
        #expect(refused == ["S52", "S53", "S54", "S55"])
        #expect(bench.status("S52")?.reason == tooMany)
        // The service counts otherwise: it had a place for the 55th symbol and not for the 51st.
        bench.trade("S55")
        #expect(bench.word("S55") == "live" && bench.word("S51") == "over-limit")
        for number in 1...50 { bench.trade("S\(number)") }
        #expect(bench.watch.states.count { $0.word == "live" } == 51)
        _ = bench.takeSent()
        // A place becomes free, and the first refused symbol gets it at once.
        bench.watch.unsubscribed("S7", now: bench.moment)
        bench.take()
        bench.pass(to: 2.1)
        #expect(bench.takeSent() == ["-S7", "+S51"])
        bench.trade("S51")
        #expect(bench.word("S51") == "live")
    }

    @Test("errors that come while requests are queued refuse as many symbols as there are errors")
    func pacedOverLimit() {
        var bench = WatchBench((1...60).map { "S\($0)" }, limit: 60)
        // Each request after the 51st is answered 100 ms later.
        var answered = 51
        while bench.now < 4 {
            let reached = bench.sent.count
            bench.pass(to: bench.now + 0.1)
            while answered < reached {
                bench.error(tooMany)
                answered += 1
            }
        }
        let refused = bench.watch.states.filter { $0.word == "over-limit" }.map(\.symbol)
        #expect(refused == (52...60).map { "S\($0)" })
    }

    @Test("the place of an unknown symbol goes to one that waits, and is not given twice")
    func placeOfRefused() {
        var bench = WatchBench(["A", "B", "C"], limit: 2)
        #expect(bench.word("C") == "over-limit")
        bench.error("Invalid symbol B")
        #expect(bench.word("C") == "asked")
        _ = bench.takeSent()
        bench.trade("A")
        bench.trade("C")
        // When B is due again, both places are taken: it waits for one.
        bench.pass(to: 400, trading: ["A", "C"], every: 1)
        #expect(bench.takeSent() == [])
        #expect(bench.word("B") == "over-limit")
    }

    @Test("a symbol beyond the limit is not requested, is named, and gets the first free place")
    func localLimit() {
        var bench = WatchBench(["A", "B", "C"], limit: 2)
        #expect(bench.takeSent() == ["+A", "+B"])
        #expect(bench.word("C") == "over-limit")
        #expect(bench.status("C")?.reason == "C is one more than the 2 symbols of upstream.max-symbols")
        bench.pass(to: 50_000, trading: ["A", "B"], every: 5)
        #expect(bench.takeSent() == [])
        bench.watch.unsubscribed("B", now: bench.moment)
        bench.take()
        #expect(bench.takeSent() == ["-B", "+C"])
        #expect(bench.word("C") == "asked")
        // A refused symbol takes no place either.
        bench.error("Invalid symbol C")
        bench.watch.subscribed(for: "D", now: bench.moment)
        bench.take()
        #expect(bench.takeSent() == ["+D"])
    }

    @Test("a feed whose every symbol is refused says so, on the next connection, too, and requests them last")
    func allRefused() {
        var bench = WatchBench(["TYPO"])
        bench.error("Invalid symbol TYPO")
        #expect(bench.condition == .noSuchSymbol)
        bench.close()
        bench.open()
        #expect(bench.condition == .noSuchSymbol)
        bench.watch.subscribed(for: "A", now: bench.moment)
        bench.take()
        #expect(bench.condition == .waiting)
        bench.close()
        _ = bench.takeSent()
        bench.open()
        #expect(bench.takeSent() == ["+A", "+TYPO"])
        var plan = WatchBench(["AAPL"])
        plan.error("You don't have access to this resource.")
        #expect(plan.condition == .notPermitted)
    }

    @Test("an error about something else, or about an unwanted symbol, refuses none")
    func unrelated() {
        var bench = WatchBench(["A"])
        for text in ["", "API limit reached.", "Invalid symbol B", "no such key"] { bench.error(text) }
        #expect(bench.word("A") == "asked")
    }
}
