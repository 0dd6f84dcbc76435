import Feeds
import Market
import Testing

@Suite("The symbol monitor")
struct SymbolMonitorTests {
    @Test("subscribes to all symbols in order on each connection, a few at once and then with a pause")
    func asks() {
        let symbols = (1...13).map { "S\($0)" }
        var bench = WatchBench(symbols)
        #expect(bench.takeSent() == symbols.prefix(10).map { "+\($0)" })
        bench.pass(to: 0.029)
        #expect(bench.takeSent() == [])
        bench.pass(to: 0.031)
        #expect(bench.takeSent() == ["+S11"])
        bench.close()
        bench.pass(to: 5)
        #expect(bench.takeSent() == [])
        bench.open()
        bench.pass(to: 5.1)
        #expect(bench.takeSent() == symbols.map { "+\($0)" })
        #expect(bench.reported.prefix(2) == ["S1 asked", "S2 asked"])
    }

    @Test("drops a request that was not sent yet, and unsubscribes from a symbol that was requested")
    func unsubscribes() {
        var bench = WatchBench(["A", "B"]) { settings in settings.subscribeBurst = 1 }
        #expect(bench.takeSent() == ["+A"])
        bench.watch.unsubscribed("B", now: bench.moment)
        bench.watch.unsubscribed("A", now: bench.moment)
        bench.watch.unsubscribed("A", now: bench.moment)
        bench.pass(to: 1)
        #expect(bench.takeSent() == ["-A"])
        #expect(bench.reported.suffix(2) == ["B gone", "A gone"])
        #expect(bench.watch.symbols == [])
    }

    @Test("counts no symbol as live before it trades, and finds quiet ones by their own threshold")
    func states() {
        var bench = WatchBench(["A", "B"])
        #expect(bench.condition == .waiting)
        bench.now = 1
        bench.trade("A")
        #expect(bench.condition == .live)
        #expect(bench.word("A") == "live" && bench.word("B") == "asked")
        bench.pass(to: 29, trading: ["A"], every: 1)
        #expect(bench.word("B") == "asked")
        bench.pass(to: 31, trading: ["A"], every: 1)
        #expect(bench.word("B") == "quiet" && bench.condition == .live)
        #expect(bench.status("B")?.since == 1_030 * WatchBench.second)
        #expect(bench.status("B")?.reason == "no trade for 30 s")
        bench.trade("B")
        #expect(bench.word("B") == "live")
        #expect(bench.reported == ["A asked", "B asked", "A live", "B quiet", "B live"])
    }

    @Test("is late after five seconds without any trade, and stale when every symbol is quiet")
    func condition() {
        var bench = WatchBench(["A", "B"])
        bench.pass(to: 4)
        #expect(bench.condition == .waiting)
        bench.pass(to: 5)
        #expect(bench.condition == .late)
        bench.trade("A")
        #expect(bench.condition == .live)
        bench.pass(to: 31)
        #expect(bench.condition == .late)
        bench.pass(to: 36)
        #expect(bench.condition == .stale)
        bench.trade("B")
        #expect(bench.condition == .live)
    }

    @Test("waits three times as long as a symbol's longest recent gap, and never longer than the limit")
    func threshold() {
        var bench = WatchBench(["A"])
        bench.pass(to: 29)
        bench.trade("A")
        bench.pass(to: 29 + 86)
        #expect(bench.word("A") == "live")
        bench.pass(to: 29 + 88)
        #expect(bench.word("A") == "quiet")
        bench.trade("A")
        // The longest gap is 88 s now. After an hour without such a gap it no longer counts.
        bench.pass(to: 117 + 260)
        #expect(bench.word("A") == "live")
        bench.pass(to: 117 + 7_600, trading: ["A"], every: 1)
        let last = bench.now
        bench.pass(to: last + 31)
        #expect(bench.word("A") == "quiet")
    }

    @Test("first resubscribes, then reconnects, and then leaves a dead symbol alone while others trade")
    func escalation() {
        var bench = WatchBench(["A", "DEAD"])
        _ = bench.takeSent()
        bench.pass(to: 59, trading: ["A"], every: 1)
        #expect(bench.takeSent() == ["-DEAD", "+DEAD"])
        #expect(bench.reconnects == [])
        bench.pass(to: 61, trading: ["A"], every: 1)
        #expect(bench.reconnects == [60])
        #expect(
            bench.silences.first
                == SymbolSilence(symbol: "DEAD", others: 0, nanoseconds: 60_000_000_000, from: 1_000_000_000_000)
        )
        #expect(bench.takeSent() == ["+A", "+DEAD"])
        // A day later: resubscribed now and then, without another reconnect.
        bench.pass(to: 86_400, trading: ["A"], every: 1)
        #expect(bench.reconnects == [60])
        let rounds = bench.takeSent().count / 2
        #expect((120...150).contains(rounds), "\(rounds)")
        // It trades and falls silent again: a new silence.
        bench.trade("DEAD")
        bench.pass(to: bench.now + 13_000, trading: ["A"], every: 1)
        #expect(bench.reconnects.count == 2)
    }

    @Test("a connection without trades is replaced, with growing pauses")
    func mute() {
        var bench = WatchBench(["A", "B"])
        bench.pass(to: 2)
        bench.trade("A", "B")
        bench.pass(to: 29 * 3_600)
        let pauses = zip(bench.reconnects.dropFirst(), bench.reconnects).map { Int(($0 - $1).rounded()) }
        #expect(bench.reconnects.first == 62)
        #expect(
            pauses.prefix(2).allSatisfy { $0 >= 60 } && pauses.suffix(10).allSatisfy { (600...700).contains($0) },
            "\(pauses)"
        )
        #expect(bench.condition == .stale)
    }

    @Test("symbols that are quiet together share one reconnect")
    func sharing() {
        var bench = WatchBench((1...20).map { "S\($0)" } + ["A"])
        bench.pass(to: 600, trading: ["A"], every: 1)
        #expect(bench.reconnects.count == 1)
        #expect(bench.silences.first?.others == 19)
    }

    @Test("a replay takes no step, however long it is silent, and yet says how old it is")
    func replay() {
        var bench = WatchBench(["A"]) { $0.takesSteps = false }
        bench.trade("A")
        _ = bench.takeSent()
        bench.pass(to: 100_000)
        #expect(bench.reconnects == [] && bench.takeSent() == [])
        #expect(bench.condition == .stale && bench.word("A") == "quiet")
    }

    @Test("for any trades, reconnects stay within what the cool-downs allow, and a busy connection is never dropped")
    func property() {
        var total = 0
        for seed in 0..<24 {
            var generator = SeededGenerator(seed: UInt64(seed))
            let count = Int.random(in: 1...8, using: &generator)
            let symbols = (0..<count).map { "S\($0)" }
            let isRegular = seed % 3 == 0
            let means = symbols.map { _ in
                isRegular ? 2 : exp10(Double.random(in: 1...4.3, using: &generator))
            }
            var bench = WatchBench(symbols)
            var next = means.map { Double.random(in: 0...1, using: &generator) * $0 }
            let end = isRegular ? 600 : 3 * 3_600.0
            while let soonest = next.indices.min(by: { next[$0] < next[$1] }), next[soonest] < end {
                bench.pass(to: max(next[soonest], bench.now))
                bench.trade(symbols[soonest])
                // The regular symbols trade within nine seconds; the others in bursts between long pauses.
                let isBurst = !isRegular && Int.random(in: 0..<4, using: &generator) > 0
                let span = isBurst ? 1 : means[soonest] * Double.random(in: 0.5...4, using: &generator)
                next[soonest] = bench.now + max(span, 0.5)
            }
            bench.pass(to: end)
            if isRegular { #expect(bench.reconnects == [], "seed \(seed)") }
            // At 0, 60, 180 and 420 s, and again after a calm of 1,200 s: never more than 12 in an hour.
            for first in bench.reconnects {
                let hour = bench.reconnects.count { $0 >= first && $0 < first + 3_600 }
                #expect(hour <= 12, "seed \(seed): \(bench.reconnects)")
            }
            for (before, after) in zip(bench.reconnects, bench.reconnects.dropFirst()) {
                #expect(after - before >= 59.9, "seed \(seed)")
            }
            total += bench.reconnects.count
        }
        // Without this check a monitor that never reconnects would pass.
        #expect(total > 16, "\(total)")
    }

    private func exp10(_ exponent: Double) -> Double {
        var value = 1.0
        var left = exponent
        while left >= 1 {
            value *= 10
            left -= 1
        }
        return value * (1 + left * 9)
    }

    @Test("a symbol that trades again after a silence reports once since when trades may be missing")
    func silenceEnds() {
        var bench = WatchBench(["A", "B"])
        bench.trade("A", "B")
        bench.pass(to: 29, trading: ["B"], every: 5)
        bench.trade("A")
        #expect(bench.watch.takeEndedSilence() == nil)
        bench.pass(to: 200, trading: ["B"], every: 5)
        #expect(bench.word("A") == "quiet")
        let since = bench.watch.quietSince(bench.moment)
        bench.trade("A")
        let silence = bench.watch.takeEndedSilence()
        #expect(silence?.symbol == "A" && silence?.others == 0 && silence?.from == since)
        #expect(bench.watch.takeEndedSilence() == nil && bench.watch.quietSince(bench.moment) == nil)
        // The gap between two connections covers a silence that a new connection ends.
        var other = WatchBench(["A", "B"])
        other.trade("A", "B")
        other.pass(to: 200, trading: ["B"], every: 5)
        #expect(other.word("A") == "quiet")
        other.close()
        other.open()
        other.pass(to: 201)
        other.trade("A")
        #expect(other.word("A") == "live" && other.watch.takeEndedSilence() == nil)
    }
}
