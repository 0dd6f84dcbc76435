import Testing
@testable import Market

@Suite("Bars and what becomes of gaps with ids")
struct SettledGapBarsTests {
    private static let second: Int64 = 1_000_000_000

    private var samples = Samples()
    private var bars = SymbolBars(capacity: 10)

    private mutating func take(at seconds: Int64, isFilled: Bool = false) {
        var trade = self.samples.trade("1", size: "1", time: seconds * 1_000)
        if isFilled { trade.marks = [.filled] }
        self.bars.take(trade)
    }

    private mutating func gap(_ from: Int64, _ to: Int64, _ ids: ClosedRange<UInt64>?) {
        self.bars.gapFound(from: from * Self.second, to: to * Self.second, missing: ids)
    }

    private mutating func marks(_ width: BarWidth = .minute) -> [Bool] {
        self.bars.settle()
        return self.bars[width].bars.map(\.isIncomplete)
    }

    @Test("bars are complete again when all trades of their gap have come, and the very first bar never is")
    mutating func filled() {
        for time in [61, 121, 181] { self.take(at: Int64(time)) }
        self.gap(130, 240, 7...9)
        self.take(at: 241)
        #expect(self.marks() == [true, true, true, true])
        self.take(at: 200, isFilled: true)
        #expect(self.marks() == [true, true, true, true])
        self.bars.gapSettled(7...9, isComplete: true)
        #expect(self.marks() == [true, false, false, false])
        #expect(self.marks(.hour) == [true])
        // Told twice, or of a gap that nobody knows.
        self.bars.gapSettled(7...9, isComplete: false)
        self.bars.gapSettled(1...2, isComplete: false)
        #expect(self.marks() == [true, false, false, false])
    }

    @Test(
        "the bars of a gap without ids are complete with the first outcome whose times contain it, unless trades are lost"
    )
    mutating func filledWithoutIDs() {
        for time in [61, 121, 181] { self.take(at: Int64(time)) }
        self.gap(130, 240, nil)
        self.take(at: 241)
        self.take(at: 200, isFilled: true)
        #expect(self.marks() == [true, true, true, true])
        // Another gap's.
        let second = Self.second
        self.bars.gapSettled(7...9, published: 131 * second...240 * second, isComplete: true)
        self.bars.gapSettled(nil, published: 131 * second...240 * second, isComplete: true)
        self.bars.gapSettled(7...9, isComplete: true)
        #expect(self.marks() == [true, true, true, true])
        self.bars.gapSettled(nil, published: 130 * second...240 * second, isComplete: true)
        #expect(self.marks() == [true, false, false, false])
        self.gap(250, 260, nil)
        self.gap(270, 280, nil)
        self.take(at: 301)
        self.bars.gapSettled(10...11, published: 250 * second...280 * second, isComplete: false)
        self.bars.gapSettled(20...21, published: 250 * second...280 * second, isComplete: true)
        #expect(self.marks() == [true, false, false, true, false])
    }

    @Test("of gaps without ids the newest eight are awaited, and the others stay")
    mutating func manyWithoutIDs() {
        for minute in 0..<10 { self.take(at: Int64(minute) * 60 + 1) }
        for minute in 1..<10 { self.gap(Int64(minute) * 60 + 10, Int64(minute) * 60 + 20, nil) }
        for minute in 1..<10 {
            let times = (Int64(minute) * 60 + 10) * Self.second...(Int64(minute) * 60 + 20) * Self.second
            self.bars.gapSettled(7...9, published: times, isComplete: true)
        }
        #expect(self.marks() == [true, true] + [Bool](repeating: false, count: 8))
        self.bars.interrupted(published: 5...6)
        self.take(at: 601)
        #expect(self.marks().suffix(2) == [true, true])
        self.bars.gapSettled(7...9, published: 5...6, isComplete: true)
        #expect(self.marks().suffix(2) == [false, false])
    }

    @Test("a bar of two gaps is complete when the second is, in either order", arguments: [[1, 2], [2, 1]])
    mutating func two(order: [Int]) {
        for time in [1, 121, 181] { self.take(at: Int64(time)) }
        self.gap(130, 140, 7...9)
        self.gap(150, 200, 20...29)
        self.take(at: 241)
        let ids: [Int: ClosedRange<UInt64>] = [1: 7...9, 2: 20...29]
        let first = ids[order[0]] ?? 0...0
        self.bars.gapSettled(first, isComplete: true)
        #expect(self.marks() == (order[0] == 1 ? [true, true, true, false] : [true, true, false, false]))
        self.bars.gapSettled(ids[order[1]] ?? 0...0, isComplete: true)
        #expect(self.marks() == [true, false, false, false])
    }

    @Test("bars of a gap of which a trade is lost stay incomplete, also those that begin later within it")
    mutating func lost() {
        for time in [1, 121] { self.take(at: Int64(time)) }
        self.gap(130, 300, 7...9)
        self.bars.gapSettled(7...9, isComplete: false)
        self.take(at: 190, isFilled: true)
        self.take(at: 301)
        self.take(at: 361)
        #expect(self.marks() == [true, true, true, true, false])
    }

    @Test("a gap without ids marks for good, also where a filled one is")
    mutating func withoutIDs() {
        for time in [1, 121] { self.take(at: Int64(time)) }
        self.gap(130, 150, 7...9)
        self.gap(160, 170, nil)
        self.bars.gapSettled(7...9, isComplete: true)
        self.take(at: 241)
        #expect(self.marks() == [true, true, false])
    }

    @Test("filled trades of a gap that is not settled yet make incomplete bars, which are complete with it")
    mutating func between() {
        self.take(at: 1)
        self.take(at: 61)
        self.gap(62, 239, 7...9)
        self.take(at: 241)
        self.take(at: 130, isFilled: true)
        #expect(self.marks() == [true, true, true, false])
        self.bars.gapSettled(7...9, isComplete: true)
        #expect(self.marks() == [true, false, false, false])
    }

    @Test(
        "a gap whose times are of another clock marks the bars around it, until it is filled",
        arguments: [true, false]
    )
    mutating func foreign(isComplete: Bool) {
        self.take(at: 1)
        self.take(at: 61)
        self.bars.settle()
        self.bars.interrupted(missing: 7...9)
        self.take(at: 130, isFilled: true)
        self.take(at: 181)
        self.take(at: 241)
        #expect(self.marks() == [true, true, true, true, false])
        self.bars.gapSettled(7...9, isComplete: isComplete)
        #expect(self.marks() == [true, !isComplete, !isComplete, !isComplete, false])
    }

    @Test("of very many gaps the oldest are not waited for, and their bars stay incomplete")
    mutating func bounded() {
        self.take(at: 1)
        self.take(at: 61)
        self.take(at: 121)
        self.gap(70, 80, 1...1)
        let others = (1...UInt64(AwaitedGaps.limit)).map { $0 * 10...$0 * 10 }
        for ids in others { self.gap(130, 140, ids) }
        self.take(at: 181)
        for ids in [1...1] + others { self.bars.gapSettled(ids, isComplete: true) }
        #expect(self.marks() == [true, true, false, false])
    }
}
