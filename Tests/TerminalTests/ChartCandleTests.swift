import Market
import Testing
import TickertapeTesting
@testable import Terminal

@Suite("The candles of a chart")
struct ChartCandleTests {
    private static let start: Int64 = 1_767_225_600 * oneSecond

    @Test("They are the bars that a relay makes of the same trades", arguments: [UInt64](1...6))
    func bars(seed: UInt64) throws {
        var numbers = SeededGenerator(seed: seed)
        var history = PriceHistory()
        var bars = SymbolBars(capacity: 4_000)
        var table = SymbolTable()
        let number = table.intern("X:A")
        let symbol = try #require(number)
        var time = Self.start + .random(in: 0..<oneSecond, using: &numbers)
        var price: Int64 = 10_000
        for _ in 0..<3_000 {
            price += .random(in: -20...20, using: &numbers)
            let trade = Trade(
                price: try #require(ExactDecimal(significand: price, exponent: -2)),
                size: try #require(ExactDecimal(significand: .random(in: 0...9, using: &numbers), exponent: 0)),
                exchangeTime: time,
                symbol: symbol
            )
            if Int.random(in: 0..<500, using: &numbers) == 0 {
                history.interrupted()
                bars.interrupted()
            }
            bars.take(trade)
            history.take(trade.price, at: time, volume: trade.size.approximation, arrived: 0)
            time += .random(in: 1...3 * oneSecond, using: &numbers)
        }
        bars.settle()
        let now = time - 1
        for (span, width) in [
            (oneSecond * 300, BarWidth.second), (3_600 * oneSecond, .minute), (3_600 * oneSecond, .fiveMinutes),
            (86_400 * oneSecond, .fiveMinutes), (86_400 * oneSecond, .hour),
        ] {
            let periods = ChartPeriods(upTo: now, count: Int(span / width.nanoseconds), width: width.nanoseconds)
            let candles = ChartCandle.candles(of: history.series(span: span), in: periods, isCut: false)
            let series = bars[width]
            var known = 0
            for (index, candle) in candles.enumerated() {
                let start = periods.start + Int64(index) * periods.width
                let bar = series.place(of: start).map { series.bars[$0] }
                let wanted = bar.map {
                    ChartCandle(
                        open: $0.open.approximation,
                        high: $0.high.approximation,
                        low: $0.low.approximation,
                        close: $0.close.approximation,
                        volume: $0.volume.approximation,
                        isIncomplete: $0.isIncomplete
                    )
                }
                #expect(candle == wanted, "\(width.word) \(index)")
                known += candle == nil ? 0 : 1
            }
            #expect(known > 0)
        }
    }

    @Test("A gap leaves its periods empty and hatches both sides, and a lost connection the newest")
    func gap() {
        var history = PriceHistory()
        for second in Int64(0)..<60 where !(20..<40).contains(second) {
            if second == 40 { history.interrupted() }
            history.take(sampleDecimal("\(100 + second)"), at: Self.start + second * oneSecond, arrived: 0)
        }
        let periods = ChartPeriods(upTo: Self.start + 59 * oneSecond, count: 12, width: 5 * oneSecond)
        func candles(isCut: Bool) -> [ChartCandle?] {
            ChartCandle.candles(of: history.series(span: 60 * oneSecond), in: periods, isCut: isCut)
        }
        let (known, cut) = (candles(isCut: false), candles(isCut: true))
        #expect((0..<12).filter { known[$0] == nil } == [4, 5, 6, 7])
        #expect((0..<12).filter { known[$0]?.isIncomplete == true } == [0, 3, 8])
        #expect((0..<12).filter { cut[$0]?.isIncomplete == true } == [0, 3, 8, 11])
        #expect(known.allSatisfy { $0?.isRising ?? true })
    }

    @Test("Candles of a round length fill the chart's width, and hold its span", arguments: ChartSpan.allCases)
    func periods(span: ChartSpan) {
        var history = PriceHistory()
        for minute in Int64(0)..<2_000 {
            history.take(sampleDecimal("\(100 + minute % 7)"), at: Self.start + minute * 60 * oneSecond, arrived: 0)
        }
        let now = Self.start + (1_999 * 60 + 30) * oneSecond
        for columns in 4...220 {
            for drawing in ChartDrawing.allCases {
                let picture = ChartPicture(
                    of: history,
                    .candles,
                    span: span,
                    now: now,
                    start: Self.start,
                    isCut: false,
                    columns: columns,
                    drawing: drawing
                )
                let periods = picture.periods
                #expect(picture.timed.upperBound == columns && picture.timed.lowerBound >= 0)
                #expect(picture.timed.count / periods.count >= 2 && picture.timed.count % periods.count == 0)
                #expect(periods.start % periods.width == 0)
                #expect(periods.width * Int64(periods.count) >= span.length ?? now - Self.start)
                if columns >= 24 { #expect(picture.timed.count * 2 >= columns) }
                #expect(picture.candles.contains { $0 != nil })
            }
        }
    }

    @Test("A rise is hollow and a fall full, and both are hatched where trades may be missing")
    func shapes() throws {
        func drawn(_ open: Double, _ close: Double, isIncomplete: Bool, _ drawing: ChartDrawing) -> [String] {
            let candle = ChartCandle(
                open: open,
                high: 15,
                low: 0,
                close: close,
                volume: 0,
                isIncomplete: isIncomplete
            )
            let scale = ChartScale([.traded(low: 0, high: 15, close: 7)], maximumTicks: 1, fractionDigits: 0)
            guard let scale else { return [] }
            let columns = 2 * drawing.columns
            var dots = ChartDots(columns: columns, rows: 4 * drawing.rows)
            let place = ChartDots.CandlePlace(start: 0, pitch: columns)
            dots.draw(candle, at: place, scale: scale, rows: dots.rows, hasPatterns: drawing.hasPatterns)
            return ChartPlot(dots, drawing: drawing).lines.map { $0.map(\.text).joined() }
        }
        #expect(drawn(5, 10, isIncomplete: false, .ascii) == ["| ", "O ", "O ", "| "])
        #expect(drawn(10, 5, isIncomplete: false, .ascii) == ["| ", "# ", "# ", "| "])
        #expect(drawn(5, 10, isIncomplete: true, .ascii) == ["| ", "o ", "o ", "| "])
        #expect(drawn(10, 5, isIncomplete: true, .ascii) == ["| ", "% ", "% ", "| "])
        #expect(drawn(2, 13, isIncomplete: false, .braille)[1] == "⡇⡇")
        #expect(drawn(13, 2, isIncomplete: false, .braille)[1] == "⣿⡇")
        for drawing in [ChartDrawing.braille, .octants] {
            let kinds = [(3.0, 12.0), (12, 3)].flatMap { open, close in
                [true, false].map { drawn(open, close, isIncomplete: $0, drawing) }
            }
            #expect(Set(kinds).count == 4)
        }
    }

    @Test("Prices between which a relay sends no trades have the volume between its sums")
    func relayed() throws {
        var model = DisplayModel(symbols: ["X:A"], status: sampleStatus(.live))
        func price(_ second: Int64, volume: String, trades: UInt64) {
            var summary = sampleSummary("X:A", price: "\(100 + second)", trades: trades)
            summary.received = sampleNoon.wall + second * oneSecond
            summary.volume = ExactSum(sampleDecimal(volume))
            summary.sequence = UInt64(second) + 1
            model.take(PriceUpdate(summary: summary, skipped: 0), now: sampleNoon.monotonic + second * oneSecond)
            model.chart(summary, now: sampleNoon.monotonic + second * oneSecond)
        }
        price(0, volume: "1000", trades: 9)
        price(1, volume: "1000.5", trades: 10)
        price(2, volume: "1003", trades: 11)
        // A new epoch of the relay counts anew.
        price(3, volume: "2", trades: 1)
        let series = try #require(model.state.rows.first).history.series(span: nil)
        #expect((0..<series.count).map { series[$0].volume } == [0, 0.5, 2.5, 2])
        model.gapFound(Gap(from: 0, to: 0, reason: "a test", nextSequence: 1))
        price(4, volume: "9", trades: 2)
        let later = try #require(model.state.rows.first).history.series(span: nil)
        #expect(later.last?.volume == 0)
    }
}
