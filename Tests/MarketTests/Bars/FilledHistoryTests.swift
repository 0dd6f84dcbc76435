import Testing
import TickertapeTesting
@testable import Market

@Suite("A chart's holes and filled trades")
struct FilledHistoryTests {
    private static let second: Int64 = 1_000_000_000

    private var history = PriceHistory()

    private mutating func take(_ price: String, at seconds: Int64) {
        self.history.take(sampleDecimal(price), at: seconds * Self.second, arrived: seconds * Self.second)
    }

    private mutating func fill(_ price: String, at seconds: Int64) {
        self.history.filled(sampleDecimal(price), at: seconds * Self.second)
    }

    /// The points as text: the second, the price, and a bar before one that follows a hole.
    private func points(span: Int64? = 300_000_000_000) -> [String] {
        let series = self.history.series(span: span)
        return (0..<series.count).map { index in
            let point = series[index]
            return "\(point.followsGap ? "|" : "")\(point.start / Self.second):\(point.close)"
        }
    }

    @Test("a hole has the prices of its trades when all of them have come, in every series")
    mutating func filled() {
        self.take("1", at: 100)
        self.history.interrupted(missing: 7...9)
        self.take("5", at: 140)
        self.fill("2", at: 110)
        self.fill("3", at: 120)
        self.fill("4", at: 120)
        self.take("6", at: 150)
        #expect(self.points() == ["100:1", "|140:5", "150:6"])
        #expect(self.history.price(at: 125 * Self.second) == nil)
        self.history.gapSettled(7...9, isComplete: true)
        #expect(self.points() == ["100:1", "110:2", "120:4", "140:5", "150:6"])
        #expect(self.points(span: 600_000_000_000) == ["100:1", "110:2", "120:4", "140:5", "150:6"])
        #expect(self.points(span: nil) == ["100:1", "110:2", "120:4", "140:5", "150:6"])
        #expect(self.history.price(at: 125 * Self.second) == sampleDecimal("4"))
    }

    @Test("a hole of which trades are lost stays, and so does one without ids", arguments: [true, false])
    mutating func lost(hasIDs: Bool) {
        self.take("1", at: 100)
        self.history.interrupted(missing: hasIDs ? 7...9 : nil)
        self.take("5", at: 140)
        self.fill("2", at: 110)
        self.history.gapSettled(7...9, isComplete: !hasIDs)
        #expect(self.points() == ["100:1", "|140:5"])
    }

    @Test("of two holes each waits for its own trades, also where both end in one point")
    mutating func two() {
        self.take("1", at: 100)
        self.history.interrupted(missing: 7...9)
        self.take("3", at: 120)
        self.history.interrupted(missing: 20...21)
        self.take("5", at: 140)
        self.fill("2", at: 110)
        self.fill("4", at: 130)
        self.history.gapSettled(20...21, isComplete: true)
        #expect(self.points() == ["100:1", "|120:3", "130:4", "140:5"])
        #expect(self.points(span: nil).count { $0.hasPrefix("|") } == 1)
        self.history.gapSettled(7...9, isComplete: true)
        #expect(self.points() == ["100:1", "110:2", "120:3", "130:4", "140:5"])
    }

    @Test("the price of a period in which the hole ends is the newer one, with all extremes")
    mutating func extremes() {
        self.take("10", at: 101)
        self.history.interrupted(missing: 7...9)
        self.take("11", at: 108)
        self.fill("99", at: 105)
        self.history.gapSettled(7...9, isComplete: true)
        let tens = self.history.series(span: 600_000_000_000)
        #expect(tens.count == 1 && tens[0].close == sampleDecimal("11") && tens[0].high == 99 && tens[0].low == 10)
    }

    @Test("a price from before or behind the hole by another clock counts at its edge")
    mutating func edges() {
        self.take("1", at: 100)
        self.history.interrupted(missing: 7...9)
        self.take("5", at: 140)
        self.fill("2", at: 99)
        self.fill("4", at: 141)
        self.history.gapSettled(7...9, isComplete: true)
        #expect(self.points() == ["100:2", "140:5"])
        #expect(self.history.newest == 140 * Self.second)
    }

    @Test("a hole that is filled before the next price is no hole, and a lost one is")
    mutating func beforeNext() {
        self.take("1", at: 100)
        self.history.interrupted(missing: 7...9)
        self.fill("2", at: 110)
        self.history.gapSettled(7...9, isComplete: true)
        self.take("3", at: 120)
        self.history.interrupted(missing: 20...20)
        self.history.gapSettled(20...20, isComplete: false)
        self.take("4", at: 130)
        #expect(self.points() == ["100:1", "110:2", "120:3", "|130:4"])
    }

    @Test("a long hole's prices stay within the bounds of each series")
    mutating func bounded() {
        self.take("1", at: 0)
        self.history.interrupted(missing: 7...9)
        self.take("2", at: 4_000)
        for second in 1..<4_000 { self.fill("3", at: Int64(second)) }
        self.history.gapSettled(7...9, isComplete: true)
        for span: Int64? in [300_000_000_000, 600_000_000_000, nil] {
            let series = self.history.series(span: span)
            #expect((64...512).contains(series.count))
            #expect((1..<series.count).allSatisfy { series[$0 - 1].start < series[$0].start && !series[$0].followsGap })
        }
        // Beyond these the hole stays.
        self.history.interrupted(missing: 20...29)
        self.take("2", at: 20_000)
        for second in 4_001..<20_000 { self.fill("3", at: Int64(second)) }
        self.history.gapSettled(20...29, isComplete: true)
        #expect(self.points().last == "|20000:2")
    }
}
