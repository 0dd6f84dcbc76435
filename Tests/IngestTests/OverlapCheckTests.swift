import Market
import Testing
import TickertapeTesting
@testable import Ingest

@Suite("The comparison of trades after an interruption with those before it")
struct OverlapCheckTests {
    private func trade(_ time: Int64, _ size: Int64 = 1, symbol: UInt16 = 0) -> Trade {
        Trade(
            price: .zero,
            size: ExactDecimal("\(size)") ?? .zero,
            exchangeTime: time,
            symbol: SymbolID(index: symbol)
        )
    }

    /// Returns the finding for each trade of the reads that come after `seen`.
    private func compare(
        seen: [Trade],
        reads: [[Trade]]
    ) -> (findings: [OverlapCheck.Finding], check: OverlapCheck) {
        var tails = RecentTrades()
        tails.append(seen, symbolCount: 4)
        var check = OverlapCheck(tails)
        let findings = reads.flatMap { read in
            check.check(read) ?? [OverlapCheck.Finding](repeating: .new, count: read.count)
        }
        return (findings, check)
    }

    @Test("a late trade that equals an older one is a possible repeat, but not a certain one")
    func late() {
        let seen = [self.trade(1), self.trade(2), self.trade(3)]
        let (findings, check) = self.compare(seen: seen, reads: [[self.trade(2), self.trade(4)]])
        #expect(findings == [.likely, .new] && check.bounds == OverlapBounds(least: 0, most: 1))
    }

    @Test("two different trades of the newest millisecond that equal the end may be repeats, but none is certain")
    func border() {
        let end = [self.trade(5, 1), self.trade(5, 2)]
        let (findings, check) = self.compare(seen: [self.trade(4)] + end, reads: [end + [self.trade(6)]])
        #expect(findings == [.likely, .likely, .new] && check.bounds == OverlapBounds(least: 0, most: 2))
    }

    @Test("the newest trade that comes again alone, and equal fills of its millisecond, are possible repeats")
    func newestAlone() {
        let seen = [self.trade(4), self.trade(5)]
        let (findings, check) = self.compare(seen: seen, reads: [[self.trade(5)], [self.trade(5), self.trade(6)]])
        #expect(findings == [.possible, .possible, .new] && check.likely == 0)
        #expect(check.bounds == OverlapBounds(least: 0, most: 2))
    }

    @Test("80 trades that come again in their order are all found, and are the lower bound")
    func long() {
        let seen = (0..<100).map { self.trade(Int64($0)) }
        let again = Array(seen.suffix(80))
        let reads = [Array(again.prefix(33)), Array(again.dropFirst(33)) + [self.trade(200)]]
        let (findings, check) = self.compare(seen: seen, reads: reads)
        #expect(findings == [OverlapCheck.Finding](repeating: .likely, count: 80) + [.new])
        #expect(check.likely == 80 && check.bounds == OverlapBounds(least: 80, most: 80))
    }

    @Test("the remembered trades of a symbol are found, and no older ones")
    func bound() {
        let seen = (0..<3_000).map { self.trade(Int64($0)) }
        let (findings, check) = self.compare(seen: seen, reads: [seen + [self.trade(9_000)]])
        #expect(findings.count { $0 == .new } == 3_001 - RecentTrades.length)
        #expect(findings[2_999 - RecentTrades.length] == .new && findings[3_000 - RecentTrades.length] == .likely)
        #expect(check.bounds == OverlapBounds(least: RecentTrades.length, most: RecentTrades.length))
    }

    @Test("a repeat after a newer trade, or in another order, is only possible")
    func disorder() {
        let seen = [self.trade(1), self.trade(2), self.trade(3)]
        let behind = self.compare(seen: seen, reads: [[self.trade(4)], [self.trade(2), self.trade(3)]])
        #expect(behind.findings == [.new, .possible, .possible] && behind.check.bounds.least == 0)
        let turned = self.compare(seen: seen, reads: [[self.trade(3), self.trade(2), self.trade(1)]])
        #expect(turned.findings == [.possible, .possible, .possible] && turned.check.bounds.least == 0)
    }

    @Test("each symbol is compared separately, new ones are new, and the marks of a trade play no part")
    func symbols() {
        let seen = [self.trade(1), self.trade(2), self.trade(1, 7, symbol: 1), self.trade(3, 7, symbol: 1)]
        var marked = self.trade(2)
        marked.marks = .possibleRepeat
        let next = [
            self.trade(1), marked, self.trade(4), self.trade(4, 7, symbol: 1), self.trade(1, symbol: 3),
        ]
        let (findings, check) = self.compare(seen: seen, reads: [next])
        #expect(findings == [.likely, .likely, .new, .new, .new] && check.compared == 4)
        #expect(check.bounds == OverlapBounds(least: 2, most: 2))
    }

    /// Returns trades like a market's: several in a millisecond, many of them equal.
    private func market(_ count: Int, using generator: inout SeededGenerator) -> [Trade] {
        var time: Int64 = 1
        return (0..<count).map { _ in
            time += Int64(Int.random(in: 0...2, using: &generator) / 2)
            return self.trade(
                time,
                Int64.random(in: 1...2, using: &generator),
                symbol: UInt16.random(in: 0..<2, using: &generator)
            )
        }
    }

    private func cut(_ trades: ArraySlice<Trade>, using generator: inout SeededGenerator) -> [[Trade]] {
        var rest = trades
        var reads: [[Trade]] = []
        while !rest.isEmpty {
            let count = Int.random(in: 1...min(10, rest.count), using: &generator)
            reads.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return reads
    }

    @Test("for any overlap all repeats are found, nothing else, and their number lies in the bounds")
    func anyOverlap() {
        for seed in 0..<2_000 {
            var generator = SeededGenerator(seed: UInt64(seed))
            let all = self.market(120, using: &generator)
            let cut = Int.random(in: 40...100, using: &generator)
            let from = Int.random(in: (cut - 30)...cut, using: &generator)
            let (findings, check) = self.compare(
                seen: Array(all[..<cut]),
                reads: self.cut(all[from...], using: &generator)
            )
            #expect(findings.prefix(cut - from).allSatisfy { $0 != .new }, "seed \(seed)")
            for (trade, finding) in zip(all[from...], findings) where finding != .new {
                #expect(all[..<cut].contains(trade), "seed \(seed)")
            }
            let bounds = check.bounds
            #expect((bounds.least...bounds.most).contains(cut - from), "seed \(seed): \(bounds), \(cut - from)")
            #expect(check.likely <= bounds.most && check.likely >= 0)
        }
    }
}
