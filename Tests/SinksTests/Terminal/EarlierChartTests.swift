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
        #expect((0..<24).contains { grid.line($0).contains("120") }, "\((0..<24).map(grid.line))")
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
