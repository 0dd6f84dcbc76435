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

    /// Bars of a second that begin so many seconds before the second in which the session of `B` begins, then that session.
    private func quiet(
        _ before: [Int64],
        incomplete: Set<Int64> = [],
        incompleteMinute: Bool = false
    ) throws -> (holes: Int, count: Int) {
        var model = self.model()
        let summary = sampleSummary("B", price: "200")
        model.take(PriceUpdate(summary: summary, skipped: 0), now: sampleNoon.monotonic)
        model.chart(summary, now: sampleNoon.monotonic)
        let began = try #require(model.state.rows.first?.history.start)
        let second = BarWidth.second.start(of: began)
        var all = self.bars("B", endingAt: sampleNoon.wall)
        let sample = all.bars[0]
        all.bars = before.map { before in
            var bar = sample
            bar.start = second - before * oneSecond
            (bar.openTime, bar.closeTime) = (bar.start, bar.start)
            bar.isIncomplete = incomplete.contains(before)
            return bar
        }
        var minutes = all
        minutes.width = .minute
        minutes.bars = [sample]
        minutes.bars[0].width = BarWidth.minute.nanoseconds
        minutes.bars[0].start = BarWidth.minute.start(of: began)
        minutes.bars[0].isIncomplete = incompleteMinute
        // The session must not begin with its minute, or the minute would say nothing of the time before.
        #expect(began - minutes.bars[0].start > 0)
        model.begin(with: [all, minutes], wall: sampleNoon.wall)
        let series = try #require(model.state.rows.first).history.series(span: nil)
        return ((0..<series.count).count { series[$0].followsGap }, series.count)
    }

    @Test(
        "A symbol that trades every ten seconds has no hole in front of its session, unless something may be missing there"
    )
    func quietSeam() throws {
        #expect(try self.quiet([20, 10, 0]) == (0, 3))
        // The relay tells of no bar that reaches into the session.
        #expect(try self.quiet([20, 10]) == (1, 3))
        #expect(try self.quiet([20, 10, 0], incomplete: [0]) == (1, 3))
        #expect(try self.quiet([20, 10, 0], incomplete: [10]) == (2, 3))
        // A gap within the session's minute, which no bar of a second saw.
        #expect(try self.quiet([4, 0], incompleteMinute: true) == (1, 2))
        #expect(try self.quiet([1, 0], incompleteMinute: true) == (0, 2))
    }

    @Test(
        "What the session's change is since is said where it is known, and the chart's colour is that of what it shows"
    )
    func since() throws {
        let trades = Self.frame(of: try self.began(isRelayed: false))
        // The session went up from 150 to 200, after bars that stood at 300.
        #expect(trades.text.contains { $0.contains("since 05:31:02 UTC") }, "\(trades.text)")
        #expect(trades.ink == .falling)
        let relayed = Self.frame(of: try self.began(isRelayed: true))
        #expect(!relayed.text.contains { $0.contains("since") })
        #expect(relayed.ink == .falling)
        var alone = try self.began(isRelayed: false, hasBars: false)
        alone.rows[0].summary.open = sampleDecimal("100")
        #expect(Self.frame(of: alone).ink == .rising)
    }

    /// A session of two prices behind bars of another.
    private func began(isRelayed: Bool, hasBars: Bool = true) throws -> DisplayState {
        var model = self.model()
        let summary = sampleSummary("B", price: "200", open: "150")
        model.take(PriceUpdate(summary: summary, skipped: 0), now: sampleNoon.monotonic)
        if isRelayed {
            model.chart(summary, now: sampleNoon.monotonic)
        } else {
            var symbols = SymbolTable()
            let number = symbols.intern("B")
            let trade = Trade(
                price: summary.price,
                size: summary.size,
                exchangeTime: summary.exchangeTime,
                symbol: try #require(number)
            )
            model.chart(
                [trade],
                symbols: symbols,
                epoch: 1,
                received: sampleNoon.wall,
                now: sampleNoon.monotonic
            )
        }
        if hasBars {
            model.begin(with: [self.bars("B", endingAt: sampleNoon.wall, price: "300")], wall: sampleNoon.wall)
        }
        return model.state
    }

    private static func frame(of state: DisplayState) -> (text: [String], ink: CellStyle.Ink?) {
        var choice = DisplayChoice()
        choice.opened = "B"
        let size = ScreenGrid.Size(columns: 100, rows: 30)
        let grid = DisplayView.frame(of: state, choice: choice, size: size, now: sampleNoon).grid
        let text = (0..<30).map(grid.line)
        for row in 0..<30 {
            for column in 0..<80 {
                let scalar = grid[row, column].text.unicodeScalars.first?.value ?? 0
                if 0x2801...0x28FF ~= scalar { return (text, grid[row, column].style.ink) }
            }
        }
        return (text, nil)
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
