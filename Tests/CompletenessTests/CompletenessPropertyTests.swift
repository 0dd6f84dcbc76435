import Completeness
import Market
import Testing

@Suite("The book of completeness, with anything that a tape may do")
struct CompletenessPropertyTests {
    /// One made-up tape of a symbol: its book and its truth.
    private struct Run {
        var test: TestBook
        var truth = TapeTruth(symbol: "COINBASE:BTC-USD")
        var random: SeededGenerator
        let isByIDsAlone: Bool
        /// The trades that are held back, in no order, and the gaps that name them.
        var withheld: [Trade] = []
        var gaps: [ClosedRange<UInt64>] = []

        init(seed: UInt64, isByIDsAlone: Bool) {
            self.random = SeededGenerator(seed: seed)
            self.isByIDsAlone = isByIDsAlone
            self.test = TestBook(byIDsAlone: isByIDsAlone)
        }

        mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self.random) < percent }

        /// The venue's trades: times that go on by up to half a minute and now and then back over an hour's edge.
        mutating func venue() -> [Trade] {
            var time: Int64 = 3_400_000_000_000
            var id = UInt64.random(in: 1...1_000_000_000_000, using: &self.random)
            return (0..<Int.random(in: 50...700, using: &self.random)).map { _ in
                time += Int64.random(in: 0...30_000_000_000, using: &self.random)
                id += 1
                let back = self.chance(5) ? Int64.random(in: 0...40_000_000_000, using: &self.random) : 0
                return self.test.trade(self.truth.symbol, id, at: time - back)
            }
        }

        mutating func play() {
            let all = self.venue()
            var place = 0
            var seen: [Trade] = []
            while place < all.count {
                let end = min(all.count, place + Int.random(in: 1...20, using: &self.random))
                let chunk = all[place..<end]
                if place > 0, end < all.count, self.chance(25) {
                    self.hide(Array(chunk))
                } else {
                    let repeated = self.chance(20) ? seen.suffix(5).filter { _ in self.chance(50) } : []
                    self.deliver(Array(chunk), repeated: repeated)
                    seen += chunk
                }
                if self.chance(30) { self.fill(Int.random(in: 1...12, using: &self.random)) }
                if self.chance(5) { self.lose() }
                place = end
            }
            if self.chance(50) { self.fill(.max) }
            self.test.book.finish()
        }

        /// Leaves trades out with a gap, which the next one shows.
        private mutating func hide(_ trades: [Trade]) {
            guard let first = trades.first?.id, let last = trades.last?.id else { return }
            self.withheld += trades
            if !self.isByIDsAlone {
                self.gaps.append(first...last)
                self.test.gap(self.truth.symbol, first...last)
            }
            for id in first...last { self.truth.missing[id] = 0 }
        }

        private mutating func deliver(_ trades: [Trade], repeated: [Trade] = []) {
            // The ids that were missing before these trades count in their hour.
            if let first = trades.first {
                for id in self.truth.missing.keys where id >= self.placed && id < first.id ?? 0 {
                    self.truth.missing[id] = CompletenessHour.start(of: first.exchangeTime)
                }
            }
            self.placed = max(self.placed, trades.last?.id ?? 0)
            self.truth.onTape += trades
            self.truth.repeated += repeated
            if self.isByIDsAlone {
                self.test.read(trades + repeated)
            } else {
                self.test.read(trades, repeated: repeated)
            }
        }

        /// The newest live id: lower missing ids have their hour.
        private var placed: UInt64 = 0

        private mutating func fill(_ limit: Int) {
            self.withheld.shuffle(using: &self.random)
            var filled = Array(self.withheld.prefix(limit))
            self.withheld.removeFirst(filled.count)
            for place in filled.indices {
                // A trade beyond the newest one that is known by its ids alone is not late.
                let isLate = !self.isByIDsAlone || filled[place].id ?? 0 < self.placed
                if isLate { filled[place].marks.insert(.filled) }
                self.truth.missing[filled[place].id ?? 0] = nil
            }
            if self.isByIDsAlone {
                let (late, beyond) = (filled.filter(\.isFilled), filled.filter { !$0.isFilled })
                self.withheld += beyond
                for trade in beyond { self.truth.missing[trade.id ?? 0] = 0 }
                filled = late
            }
            self.truth.onTape += filled
            self.test.read(filled)
        }

        private mutating func lose() {
            guard !self.gaps.isEmpty else { return }
            let gap = self.gaps.removeFirst()
            self.withheld.removeAll { gap.contains($0.id ?? 0) }
            self.test.settle(self.truth.symbol, gap)
        }
    }

    @Test("equals the plain truth", arguments: [false, true])
    func truth(isByIDsAlone: Bool) {
        for seed in 1...400 as ClosedRange<UInt64> {
            var run = Run(seed: seed, isByIDsAlone: isByIDsAlone)
            run.play()
            let reported = run.test.book.hours()
            let expected = run.truth.hours(like: reported)
            #expect(reported == expected, "seed \(seed)")
            guard reported == expected else { return }
            let totals = run.test.book.totals.first?.counts
            #expect(totals?.trades == UInt64(run.truth.onTape.count), "seed \(seed)")
            #expect(totals?.missing == UInt64(run.truth.missing.count), "seed \(seed)")
        }
    }
}
