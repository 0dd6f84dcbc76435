import Market
import Testing
import TickertapeTesting
@testable import Terminal

@Suite("Charts that begin with earlier prices")
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

    /// Returns a screen to which a relay has reported the price of `B` with this age.
    private func reported(age: Int64 = 0) -> DisplayModel {
        var model = self.model()
        var summary = sampleSummary("B", price: "200")
        summary.received -= age
        model.take(PriceUpdate(summary: summary, skipped: 0), now: sampleNoon.monotonic, age: age)
        model.chart(summary, now: sampleNoon.monotonic, age: age)
        return model
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

    @Test("A price from another place of a replay does not delay the chart")
    func movedReplay() throws {
        func taken(behind cause: FeedStatus.Cause?) throws -> Bool {
            var model = self.model(.replay(file: "f", speed: 1))
            var summary = sampleSummary("B", price: "200")
            model.take(PriceUpdate(summary: summary, skipped: 0), now: sampleNoon.monotonic, age: 90 * oneSecond)
            model.chart(summary, now: sampleNoon.monotonic, age: 90 * oneSecond)
            if let cause { model.gapFound(Gap(from: 0, to: 0, reason: "a test", nextSequence: 1, cause: cause)) }
            summary.exchangeTime -= 3_600 * oneSecond
            model.chart(summary, now: sampleNoon.monotonic)
            return try #require(model.state.rows.first).history.start != nil
        }
        // Otherwise an older message about a known price is a repetition.
        #expect(try !taken(behind: nil) && !taken(behind: .lost))
        #expect(try taken(behind: .seek))
    }

    @Test("They go in front of a session that has begun already")
    func late() throws {
        var model = self.reported()
        model.begin(with: [self.bars("B", endingAt: sampleNoon.wall)], wall: sampleNoon.wall)
        let history = try #require(model.state.rows.first).history
        #expect(
            history.series(span: nil).count == 11 && history.newest.map { $0 > sampleNoon.wall - oneSecond } == true
        )
    }

    @Test("No gap separates the session from bars that reach into it, else there is one")
    func seam() throws {
        for (gap, isHole) in [(-5 * oneSecond, false), (0, false), (60 * oneSecond, true)] {
            var model = self.reported()
            let began = try #require(model.state.rows.first?.history.start)
            // The last of the ten bars ends twenty seconds before `endingAt`.
            let bars = self.bars("B", endingAt: BarWidth.second.start(of: began) + 21 * oneSecond - gap)
            model.begin(with: [bars], wall: sampleNoon.wall)
            let series = try #require(model.state.rows.first).history.series(span: nil)
            let holes = (0..<series.count).count { series[$0].followsGap }
            #expect(holes == (isHole ? 1 : 0), "\(gap)")
            #expect(series[series.count - 1].close == sampleDecimal("200"))
        }
    }

    /// Adds bars of a second that begin this many seconds before the first second of the session of `B`, then the
    /// session. Returns the number of gaps and of points.
    private func quiet(
        _ before: [Int64],
        incomplete: Set<Int64> = [],
        incompleteMinute: Bool = false
    ) throws -> (holes: Int, count: Int) {
        var model = self.reported()
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
        // The session must not begin at the start of its minute, since the minute would then add nothing about the time
        // before.
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
        // The relay sends no bar that reaches into the session.
        #expect(try self.quiet([20, 10]) == (1, 3))
        #expect(try self.quiet([20, 10, 0], incomplete: [0]) == (1, 3))
        #expect(try self.quiet([20, 10, 0], incomplete: [10]) == (2, 3))
        // A gap within the session's minute, which no bar of a second has.
        #expect(try self.quiet([4, 0], incompleteMinute: true) == (1, 2))
        #expect(try self.quiet([1, 0], incompleteMinute: true) == (0, 2))
    }

    @Test(
        "The start of the session's change is shown if it is known, and the chart's colour follows its own prices"
    )
    func since() throws {
        let trades = Self.frame(of: try self.began(isRelayed: false))
        // The session went up from 150 to 200, after bars at 300.
        #expect(trades.text.contains { $0.contains("since 05:31:02 UTC") }, "\(trades.text)")
        #expect(trades.ink == .falling)
        let relayed = Self.frame(of: try self.began(isRelayed: true))
        #expect(!relayed.text.contains { $0.contains("since") })
        #expect(relayed.ink == .falling)
        var alone = try self.began(isRelayed: false, hasBars: false)
        alone.rows[0].summary.open = sampleDecimal("100")
        #expect(Self.frame(of: alone).ink == .rising)
    }

    /// Returns a session of two prices after bars of another price.
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

    @Test("A price of long before begins no chart, which it would stretch: the next price does, or bars of its time")
    func stretch() throws {
        var model = self.reported(age: 1_800 * oneSecond)
        #expect(model.state.rows[0].history.start == nil)
        let text = (0..<24).map(
            DisplayView.frame(of: model.state, size: .init(columns: 80, rows: 24), now: sampleNoon).grid.line
        ).joined(separator: "\n")
        #expect(text.contains("OLD 30m00s") && !text.contains("┤"), "\(text)")
        // The same message again, as after a disconnection.
        var summary = model.state.rows[0].summary
        model.chart(summary, now: sampleNoon.monotonic)
        #expect(model.state.rows[0].history.start == nil)
        let alone = model
        summary.received = sampleNoon.wall
        summary.sequence += 1
        model.chart(summary, now: sampleNoon.monotonic)
        #expect(model.state.rows[0].history.start == sampleNoon.wall)
        // With bars of its time, it appears in the chart after them.
        for var model in [alone, model] {
            let earlier = self.bars("B", endingAt: sampleNoon.wall - 1_790 * oneSecond)
            model.begin(with: [earlier], wall: sampleNoon.wall)
            #expect(model.state.rows[0].history.start == earlier.bars.first?.start)
        }
        var other = alone
        other.begin(with: [self.bars("B", endingAt: sampleNoon.wall)], wall: sampleNoon.wall)
        #expect(
            other.state.rows[0].history.start == nil,
            "all bars are of later, and it is not known what they have of it"
        )
        // A recent price starts the chart, as a trade does.
        #expect(self.reported(age: 10 * oneSecond).state.rows[0].history.start != nil)
    }

    @Test("Trades in the first second of the session are in the chart, and so is a single first price")
    func sharedSecond() throws {
        var model = self.reported(age: 10 * oneSecond)
        let began = try #require(model.state.rows[0].history.start)
        var bars = self.bars("B", endingAt: sampleNoon.wall)
        var shared = bars.bars[0]
        shared.start = BarWidth.second.start(of: began)
        (shared.open, shared.close) = (sampleDecimal("210"), sampleDecimal("200"))
        shared.low = sampleDecimal("190")
        shared.high = sampleDecimal("260")
        var first = bars.bars[0]
        first.start = shared.start - oneSecond
        (first.openTime, first.closeTime) = (first.start, first.start)
        bars.bars = [first, shared]
        model.begin(with: [bars], wall: sampleNoon.wall)
        let series = model.state.rows[0].history.series(span: nil)
        #expect(series.count == 2 && series[1].low == 190 && series[1].high == 260)
        #expect(series[1].close == sampleDecimal("200") && !series[1].followsGap)
        // A gap after the first price, which came in the middle of its second.
        let points = PriceHistory(seconds: [first], minutes: []).followed(by: self.reported().state.rows[0].history)
        let samples = ChartSample.samples(
            of: points.series(span: nil),
            from: first.start + oneSecond / 2,
            to: sampleNoon.wall + oneSecond,
            now: sampleNoon.wall,
            isCut: false,
            columns: 100
        )
        #expect(samples[0] == .held(100) && samples[1] == .unknown)
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

    @Test("Bars that are too old, or from another day of the demo, are left out")
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
