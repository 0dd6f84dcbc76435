import Market
import Testing

@Suite struct PricePipelineTests {
    private static let millisecond: Int64 = 1_000_000
    private var samples = Samples()
    private var pipeline = PricePipeline()
    private var shown: [String] = []
    private var sequence: UInt64 = 1

    private mutating func take(_ trades: [Trade], at milliseconds: Int64) {
        self.pipeline.take(
            trades: trades,
            firstSequence: self.sequence,
            received: 0,
            symbols: self.samples.symbols,
            now: milliseconds * Self.millisecond
        ) { self.shown.append(Self.line($0)) }
        self.sequence += UInt64(trades.count)
    }

    private mutating func fire(at milliseconds: Int64) {
        self.pipeline.fire(now: milliseconds * Self.millisecond) { self.shown.append(Self.line($0)) }
    }

    private static func line(_ update: PriceUpdate) -> String {
        "\(update.summary.symbol) \(update.summary.price) #\(update.summary.sequence) -\(update.skipped)"
    }

    private var deadline: Int64? { self.pipeline.deadline.map { $0 / Self.millisecond } }

    @Test("each symbol has its own first price, quiet and limit; the earliest deadline is the pipeline's")
    mutating func symbols() {
        self.take([self.samples.trade("1", symbol: "A"), self.samples.trade("5", symbol: "B")], at: 0)
        #expect(self.shown == ["A 1 #1 -0", "B 5 #2 -0"])
        #expect(self.deadline == nil)
        self.take([self.samples.trade("2", symbol: "A")], at: 10)
        self.take([self.samples.trade("6", symbol: "B"), self.samples.trade("6", symbol: "B")], at: 50)
        #expect(self.deadline == 110)
        self.fire(at: 109)
        #expect(self.shown.count == 2)
        self.fire(at: 110)
        #expect(self.shown.dropFirst(2) == ["A 2 #3 -0"])
        #expect(self.deadline == 150)
        self.fire(at: 150)
        #expect(self.shown.dropFirst(3) == ["B 6 #5 -1"])
        #expect(self.deadline == nil)
    }

    @Test("what was due is shown with the state of before the batch that came too late")
    mutating func lateTimer() {
        self.take([self.samples.trade("1")], at: 0)
        self.take([self.samples.trade("2")], at: 10)
        self.take([self.samples.trade("3"), self.samples.trade("3")], at: 200)
        #expect(self.shown == ["X 1 #1 -0", "X 2 #2 -0"])
        #expect(self.deadline == 300)
        self.pipeline.flush { self.shown.append(Self.line($0)) }
        #expect(self.shown.last == "X 3 #4 -1")
        #expect(self.deadline == nil)
    }

    @Test("late trades and unchanged prices are counted as left out")
    mutating func leftOut() {
        self.take([self.samples.trade("1", time: 9_000)], at: 0)
        self.take([self.samples.trade("7", time: 8_000), self.samples.trade("1", time: 9_000)], at: 5)
        #expect(self.deadline == nil)
        self.take([self.samples.trade("2", time: 9_001)], at: 6)
        self.fire(at: 106)
        #expect(self.shown == ["X 1 #1 -0", "X 2 #4 -2"])
        #expect(self.pipeline.board.rows[0].high == ExactDecimal("7"))
    }

    @Test("a price that never rests is shown every half second")
    mutating func limit() {
        for tick in 0..<200 {
            let now = Int64(tick) * 10
            if let deadline = self.deadline, deadline <= now { self.fire(at: deadline) }
            self.take([self.samples.trade("\(tick + 1)")], at: now)
        }
        // The first price at once, and then one 500 ms after each first change not yet shown.
        #expect(self.shown == ["X 1 #1 -0", "X 51 #51 -49", "X 101 #101 -49", "X 151 #151 -49"])
    }
}
