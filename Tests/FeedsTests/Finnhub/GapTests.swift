import Feeds
import Market
import Testing

@Suite("Gaps")
struct GapWatchTests {
    private let second: Int64 = 1_000_000_000

    private func moment(_ seconds: Int64) -> FeedMoment {
        FeedMoment(monotonic: seconds * second, wall: (1_000 + seconds) * second)
    }

    @Test("every interruption becomes one gap, from the last frame to the first trade")
    func oneGap() {
        var gaps = GapWatch()
        gaps.attempted()
        gaps.asked(moment(0))
        #expect(gaps.traded(received: 1, nextSequence: 1, epoch: 7, overlap: nil) == nil)
        gaps.interrupted(from: 5, reason: "lost")
        gaps.attempted()
        gaps.asked(moment(1))
        let gap = gaps.traded(received: 9, nextSequence: 4, epoch: 7, overlap: 2)
        #expect(gap == Gap(from: 5, to: 9, reason: "lost", nextSequence: 4, epoch: 7, overlap: 2))
        #expect(gaps.traded(received: 10, nextSequence: 5, epoch: 7, overlap: nil) == nil)
    }

    @Test("a gap stays open while connections die without a trade, keeps its first reason, and counts them")
    func flapping() {
        var gaps = GapWatch()
        gaps.interrupted(from: 5, reason: "lost")
        for number in 1...3 {
            gaps.attempted()
            gaps.asked(moment(Int64(number)))
            gaps.interrupted(from: 100, reason: "lost again")
            #expect(gaps.deadline(patience: 5 * second) == nil)
        }
        gaps.attempted()
        #expect(
            gaps.traded(received: 900, nextSequence: 4, epoch: 7, overlap: nil)
                == Gap(from: 5, to: 900, reason: "lost, 4 attempts", nextSequence: 4, epoch: 7)
        )
    }

    @Test("where no trade comes the gap ends with the request for the symbols, and is told then")
    func noTrade() {
        var gaps = GapWatch()
        gaps.interrupted(from: 5, reason: "lost")
        gaps.asked(moment(10))
        #expect(gaps.deadline(patience: 5 * second) == 15 * second)
        #expect(gaps.deadlineReached(now: 14 * second, patience: 5 * second, nextSequence: 4, epoch: 7) == nil)
        let gap = gaps.deadlineReached(now: 15 * second, patience: 5 * second, nextSequence: 4, epoch: 7)
        #expect(gap?.to == 1_010 * second)
        #expect(!gaps.isOpen)
    }

    @Test("no stretch is told twice, and a silence that is noticed late widens the gap")
    func toldOnce() {
        var gaps = GapWatch()
        gaps.interrupted(from: 5, reason: "slept")
        #expect(gaps.traded(received: 9, nextSequence: 1, epoch: 7, overlap: nil)?.from == 5)
        // The connection was dead all the while.
        gaps.interrupted(from: 5, reason: "our ping was not answered")
        let second = gaps.traded(received: 20, nextSequence: 1, epoch: 7, overlap: nil)
        #expect(second?.from == 9 && second?.to == 20)
        // A symbol that has been silent since then, and another one behind it.
        gaps.interrupted(from: 5, reason: "silent")
        #expect(gaps.traded(received: 30, nextSequence: 1, epoch: 7, overlap: nil)?.from == 20)
        gaps.interrupted(from: 50, reason: "lost")
        gaps.interrupted(from: 40, reason: "silent before it")
        let last = gaps.traded(received: 60, nextSequence: 1, epoch: 7, overlap: nil)
        #expect(last?.from == 40 && last?.reason == "lost")
    }

    @Test("a machine that slept is noticed by its clocks, a clock that is set right is not")
    func sleep() {
        var watch = SleepWatch()
        #expect(watch.looked(FeedMoment(monotonic: 0, wall: 0)) == nil)
        #expect(watch.looked(FeedMoment(monotonic: 600 * second, wall: 605 * second)) == nil)
        #expect(watch.looked(FeedMoment(monotonic: 601 * second, wall: 4_206 * second)) == 3_600 * second)
        #expect(watch.looked(FeedMoment(monotonic: 602 * second, wall: 4_207 * second)) == nil)
        // Set back: nobody slept.
        #expect(watch.looked(FeedMoment(monotonic: 603 * second, wall: 7 * second)) == nil)
    }

    @Test("what cannot be used is told once a minute at most, and nothing of it is forgotten")
    func losses() {
        var report = LossReport()
        var counts = LossReport.Counts()
        #expect(report.take(counts, now: 0) == nil && report.deadline(counts) == nil)
        counts.malformedFrames = 1
        #expect(report.take(counts, now: 0)?.malformedFrames == 1)
        counts.malformedFrames = 1_000
        counts.repeatedFrames = 3
        #expect(report.take(counts, now: 59 * second) == nil)
        #expect(report.deadline(counts) == 60 * second)
        let news = report.take(counts, now: 60 * second)
        #expect(news?.malformedFrames == 999 && news?.repeatedFrames == 3)
        counts.malformedElements = 2
        #expect(report.takeAll(counts, now: 61 * second)?.malformedElements == 2)
        #expect(report.takeAll(counts, now: 61 * second) == nil)
    }
}

@Suite("Trades that come again after an interruption")
struct OverlapTests {
    private func trade(_ time: Int64, _ size: Int64, symbol: UInt16 = 0) -> Trade {
        Trade(
            price: .zero,
            size: ExactDecimal("\(size)") ?? .zero,
            exchangeTime: time,
            symbol: SymbolID(index: symbol)
        )
    }

    /// What is put onto the tape after `seen`, when `reads` come.
    private func kept(seen: [Trade], reads: [[Trade]], symbols: Int = 4) -> [Trade] {
        var tails = TradeTails()
        tails.append(seen, symbolCount: symbols)
        var check = OverlapCheck(tails)
        return reads.flatMap { read in zip(read, check.check(read)).filter { !$0.1 }.map(\.0) }
    }

    /// Trades as a market makes them: several in a millisecond, many alike.
    private func market(_ count: Int, symbols: Int, using generator: inout SeededGenerator) -> [Trade] {
        var time: Int64 = 1
        return (0..<count).map { _ in
            time += Int64(Int.random(in: 0...2, using: &generator) / 2)
            return self.trade(
                time,
                Int64.random(in: 1...2, using: &generator),
                symbol: UInt16.random(in: 0..<UInt16(symbols), using: &generator)
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

    @Test("for any cut with an overlap that begins before the newest millisecond, the tape is the original")
    func overlapping() {
        for seed in 0..<2_000 {
            var generator = SeededGenerator(seed: UInt64(seed))
            let all = self.market(120, symbols: 2, using: &generator)
            let cut = Int.random(in: 40...100, using: &generator)
            var from = Int.random(in: (cut - 30)..<cut, using: &generator)
            // Each symbol's repeats must begin with one that is older than its newest.
            while from > 0,
                (0..<2).contains(where: { symbol in
                    let newest = all[..<cut].last { $0.symbol.index == UInt16(symbol) }
                    let first = all[from...].first { $0.symbol.index == UInt16(symbol) }
                    guard let newest, let first else { return false }
                    return first.exchangeTime == newest.exchangeTime
                        && all[from..<cut].contains { $0.symbol == first.symbol }
                })
            { from -= 1 }
            let reads = self.cut(all[from...], using: &generator)
            #expect(Array(all[..<cut]) + self.kept(seen: Array(all[..<cut]), reads: reads) == all, "seed \(seed)")
        }
    }

    @Test("without an overlap nothing is lost but what repeats two different trades of the newest millisecond")
    func continuing() {
        var ambiguous = 0
        for seed in 0..<2_000 {
            var generator = SeededGenerator(seed: UInt64(seed))
            let all = self.market(80, symbols: 1, using: &generator)
            let cut = Int.random(in: 20...60, using: &generator)
            let next = Array(all[cut...])
            let kept = self.kept(seen: Array(all[..<cut]), reads: self.cut(next[...], using: &generator))
            guard kept != next else { continue }
            ambiguous += 1
            // What was lost is what the rule says: the same run, of more than one kind, at the border.
            let lost = next.count - kept.count
            let run = next.prefix(lost)
            #expect(lost >= 2 && Set(run).count >= 2 && Array(next.dropFirst(lost)) == kept, "seed \(seed)")
            #expect(Array(all[..<cut].suffix(lost)) == Array(run), "seed \(seed)")
        }
        #expect(ambiguous < 200)
    }

    @Test("equal trades at the border are kept: an order may be filled in equal parts")
    func equalParts() {
        let fills = (0..<3).map { _ in self.trade(5, 1) }
        #expect(self.kept(seen: [self.trade(4, 1)] + fills, reads: [fills]) == fills)
    }

    @Test("a trade that is older than all that is remembered cannot be proven a repeat, and is kept")
    func olderThanMemory() {
        let all = (0..<100).map { self.trade(Int64($0), 1) }
        let kept = self.kept(seen: all, reads: [all + [self.trade(200, 1)]])
        #expect(kept == Array(all.prefix(100 - TradeTails.length)) + [self.trade(200, 1)])
    }

    @Test("symbols are compared each by itself, and new ones are new")
    func symbols() {
        let seen = [self.trade(1, 1), self.trade(2, 1), self.trade(1, 7, symbol: 1), self.trade(3, 7, symbol: 1)]
        let next = [
            self.trade(1, 1), self.trade(2, 1), self.trade(4, 1), self.trade(4, 7, symbol: 1),
            self.trade(1, 1, symbol: 3),
        ]
        #expect(self.kept(seen: seen, reads: [next]) == Array(next.suffix(3)))
    }
}
