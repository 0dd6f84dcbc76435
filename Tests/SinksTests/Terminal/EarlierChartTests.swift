import Market
import Testing

@testable import Sinks

@Suite("Charts on the screen that begin with what was before")
struct EarlierChartTests {
    private func bars(_ symbol: String, endingAt wall: Int64, price: String = "100") -> EarlierBars {
        let start = BarWidth.second.start(of: wall) - 30 * oneSecond
        let value = sampleDecimal(price)
        let bars = (0..<10).map { number in
            let from = start + Int64(number) * oneSecond
            return Bar(
                start: from,
                width: .second,
                open: (value, from),
                high: value,
                low: value,
                close: (value, from),
                volume: ExactSum(),
                turnover: ExactSum(),
                count: 1,
                isIncomplete: false
            )
        }
        return EarlierBars(symbol: symbol, width: .second, bars: bars, endedAt: wall)
    }

    private func model(_ source: FeedStatus.Source = .live) -> DisplayModel {
        DisplayModel(symbols: ["A", "B"], status: sampleStatus(.live, source))
    }

    @Test("They wait for the first price of their symbol, behind which the session goes on")
    func waits() throws {
        var model = self.model()
        model.begin(with: [self.bars("A", endingAt: sampleNoon.wall)], wall: sampleNoon.wall)
        #expect(model.state.rows.isEmpty)
        let summary = sampleSummary("A", price: "200")
        model.take(PriceUpdate(summary: summary, skipped: 0), now: sampleNoon.monotonic)
        model.chart(summary, now: sampleNoon.monotonic)
        let row = try #require(model.state.rows.first)
        #expect(row.history.start.map { $0 < sampleNoon.wall - 29 * oneSecond } == true)
        #expect(row.history.newest == summary.received)
        let grid = DisplayView.frame(of: model.state, size: .init(columns: 80, rows: 24), now: sampleNoon).grid
        // The scale reaches from the earlier price to the new one.
        #expect((0..<24).contains { grid.line($0).contains("┤  150") }, "\((0..<24).map(grid.line))")
    }

    @Test("They go in front of a session that has begun already")
    func late() throws {
        var model = self.model()
        let summary = sampleSummary("B", price: "200")
        model.take(PriceUpdate(summary: summary, skipped: 0), now: sampleNoon.monotonic)
        model.chart(summary, now: sampleNoon.monotonic)
        model.begin(with: [self.bars("B", endingAt: sampleNoon.wall)], wall: sampleNoon.wall)
        let history = try #require(model.state.rows.first).history
        #expect(
            history.series(span: nil).count == 11 && history.newest.map { $0 > sampleNoon.wall - oneSecond } == true
        )
    }

    @Test("Between bars that reach into the session and the session is no hole, else there is one")
    func seam() throws {
        for (gap, isHole) in [(-5 * oneSecond, false), (0, false), (60 * oneSecond, true)] {
            var model = self.model()
            let summary = sampleSummary("B", price: "200")
            model.take(PriceUpdate(summary: summary, skipped: 0), now: sampleNoon.monotonic)
            model.chart(summary, now: sampleNoon.monotonic)
            let began = try #require(model.state.rows.first?.history.start)
            // The last of the ten bars ends twenty seconds before that.
            let bars = self.bars("B", endingAt: BarWidth.second.start(of: began) + 21 * oneSecond - gap)
            model.begin(with: [bars], wall: sampleNoon.wall)
            let series = try #require(model.state.rows.first).history.series(span: nil)
            let holes = (0..<series.count).count { series[$0].followsGap }
            #expect(holes == (isHole ? 1 : 0), "\(gap)")
            #expect(series[series.count - 1].close == sampleDecimal("200"))
        }
    }

    @Test("In a replay they go by the recording's clock, as far back as they do by ours")
    func replayed() {
        var model = self.model(.replay(file: "x.jsonl", speed: 10))
        let day = 86_400 * oneSecond
        model.begin(
            with: [
                self.bars("A", endingAt: sampleNoon.wall - 9 * day),
                self.bars("A", endingAt: sampleNoon.wall - 8 * day),
            ],
            wall: sampleNoon.wall
        )
        #expect(model.earlier["A"]?.series(span: nil).count == 10)
    }

    @Test("What is too old, or of the demo's other day, is left out")
    func old() {
        var model = self.model()
        let old = sampleNoon.wall - DisplayModel.earlierReach
        model.begin(with: [self.bars("A", endingAt: old)], wall: sampleNoon.wall)
        #expect(model.earlier.isEmpty)
        var demo = self.model(.demo)
        demo.begin(with: [self.bars("A", endingAt: sampleNoon.wall)], wall: sampleNoon.wall)
        #expect(demo.earlier.isEmpty)
    }
}
