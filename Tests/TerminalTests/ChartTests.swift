import Market
import Testing
import TickertapeTesting
@testable import Terminal

@Suite("Charts as characters")
struct ChartTests {
    private static func history(_ prices: [(Int64, String)], gapBefore: Int64? = nil) -> PriceHistory {
        var history = PriceHistory()
        for (second, price) in prices {
            if second == gapBefore { history.interrupted() }
            history.take(sampleDecimal(price), at: second * oneSecond, arrived: 0)
        }
        return history
    }

    private static func samples(
        _ history: PriceHistory,
        columns: Int,
        to: Int64,
        now: Int64,
        isCut: Bool = false
    ) -> [ChartSample] {
        ChartSample.samples(
            of: history.series(span: nil),
            from: 0,
            to: to * oneSecond,
            now: now * oneSecond,
            isCut: isCut,
            columns: columns
        )
    }

    @Test(
        "A price stands until the next comes, is unknown before the first and in a gap, and nothing is drawn of the future"
    )
    func samples() {
        let history = Self.history([(2, "1"), (5, "2"), (8, "3")], gapBefore: 8)
        let one = ChartSample.traded(low: 1, high: 1, close: 1)
        let two = ChartSample.traded(low: 2, high: 2, close: 2)
        let three = ChartSample.traded(low: 3, high: 3, close: 3)
        #expect(
            Self.samples(history, columns: 12, to: 12, now: 9) == [
                .unknown, .unknown, one, .held(1), .held(1), two, .unknown, .unknown, three, .held(3), .unknown,
                .unknown,
            ]
        )
        #expect(
            Self.samples(history, columns: 12, to: 12, now: 11, isCut: true)[9...] == [.unknown, .unknown, .unknown]
        )
        // With several seconds per column, the column has the extremes.
        let whole = Self.history([(2, "1"), (5, "2"), (8, "3")])
        #expect(Self.samples(whole, columns: 2, to: 12, now: 9)[0] == .traded(low: 1, high: 2, close: 2))
    }

    @Test("A gap is a hole, however short it was")
    func hole() {
        let history = Self.history((0..<20).map { ($0, "\(100 + $0 % 3)") }, gapBefore: 10)
        let samples = Self.samples(history, columns: 20, to: 20, now: 20)
        #expect(samples.enumerated().filter { $0.element == .unknown }.map(\.offset) == [9])
    }

    @Test("The scale begins and ends at even prices and names those between, with no digit too many")
    func scale() throws {
        let samples: [ChartSample] = [.held(61_825.5), .held(61_837.63)]
        let scale = try #require(ChartScale(samples, maximumTicks: 3, fractionDigits: 2))
        #expect(scale.bottom <= 61_825.5 && scale.top >= 61_837.63)
        #expect(scale.ticks.map { "\($0.price)" } == ["61825", "61830", "61835"])
        #expect(scale.height(scale.bottom) == 0 && scale.height(scale.top) == 1)
        let still = try #require(ChartScale([.held(0.5)], maximumTicks: 3, fractionDigits: 4))
        #expect(still.bottom < 0.5 && still.top > 0.5 && still.top < 0.51)
        #expect(ChartScale([.unknown], maximumTicks: 3, fractionDigits: 2) == nil)
        for (low, high) in [(1e-300, 1e300), (-5, 5), (1e18, 1e18 + 256), (0, 0), (-1e17, 123_456_789_012_345_680)] {
            let scale = ChartScale([.held(low), .held(high)], maximumTicks: 8, fractionDigits: 18)
            #expect(scale.map { $0.ticks.count <= 9 && $0.top >= $0.bottom } ?? true)
        }
    }

    @Test("A rise from corner to corner, in Braille and in ASCII")
    func plot() throws {
        let rise = (0..<8).map { ChartSample.traded(low: Double($0), high: Double($0), close: Double($0)) }
        let scale = try #require(ChartScale(rise, maximumTicks: 1, fractionDigits: 0))
        func plot(_ drawing: ChartDrawing, rows: Int) -> [String] {
            var dots = ChartDots(columns: rise.count, rows: rows * drawing.rows)
            dots.drawArea(rise, scale: scale, rows: dots.rows)
            return ChartPlot(dots, drawing: drawing).lines.map { $0.map(\.text).joined() }
        }
        let dots = plot(.braille, rows: 2)
        #expect(dots.count == 2 && dots.allSatisfy { $0.count == 4 })
        #expect(dots[0].hasPrefix("  ") && dots[1].hasSuffix("⣿") && !dots[0].hasSuffix(" "))
        let plain = plot(.ascii, rows: 2)
        #expect(plain.joined().utf8.allSatisfy { $0 < 0x80 })
        #expect(ChartPlot.sparkline(rise, glyphs: .unicode) == "▁▂▃▄▄▅▆▇")
        #expect(ChartPlot.sparkline([.unknown, .held(5), .held(5)], glyphs: .unicode) == " ▄▄")
    }

    @Test("The stretch of a chart stands still for a twentieth of its span, and holds what is newest")
    func stretch() {
        for span in ChartSpan.allCases {
            var moves = 0
            var before: Range<Int64>?
            let start = sampleNoon.wall
            for second in Int64(0)..<3_600 {
                let now = start + second * oneSecond
                let stretch = span.stretch(now: now, start: start, columns: 150)
                #expect(stretch.contains(now))
                if let length = span.length { #expect(stretch.upperBound - stretch.lowerBound == length) }
                if stretch != before { moves += 1 }
                before = stretch
            }
            let most = span.length.map { 3_600 * oneSecond / $0 * 31 + 2 } ?? 400
            #expect(moves <= Int(most), "\(span) moved \(moves) times")
        }
    }

    @Test("The periods of a small chart keep their beginnings while it moves on, and the newest is in the last of them")
    func periods() {
        let start = sampleNoon.wall - 7 * oneSecond
        for span in ChartSpan.allCases {
            var before: Range<Int64>?
            for second in Int64(0)..<7_200 {
                let now = start + second * oneSecond
                let stretch = span.periods(now: now, start: start, columns: 24)
                let period = (stretch.upperBound - stretch.lowerBound) / 24
                #expect(stretch.contains(now) && stretch.upperBound - now <= period)
                #expect(stretch.lowerBound % period == 0 && (stretch.upperBound - stretch.lowerBound) % 24 == 0)
                if span == .session { #expect(stretch.lowerBound <= start) }
                if let before, before.upperBound - before.lowerBound == stretch.upperBound - stretch.lowerBound {
                    #expect([0, period].contains(stretch.lowerBound - before.lowerBound))
                }
                before = stretch
            }
        }
    }

    @Test("The area below the line has two tones, and the price at the beginning a dashed line behind both")
    func area() throws {
        let samples = [ChartSample](repeating: .held(8), count: 8) + [.unknown, .unknown] + [.held(0), .held(0)]
        let scale = try #require(ChartScale(samples, maximumTicks: 1, fractionDigits: 0))
        func dots(_ rows: Int, dash: Int) -> ChartDots {
            var dots = ChartDots(columns: samples.count, rows: rows)
            dots.drawArea(samples, scale: scale, rows: rows)
            dots.drawOpen(4, scale: scale, rows: rows, dash: dash)
            return dots
        }
        let plain = dots(12, dash: 1)
        let dots = dots(16, dash: 2)
        let column = (0..<16).map { dots[$0, 2] }
        #expect(column == [.line, .near, .near, .near, .near] + [ChartDots.Part](repeating: .far, count: 11))
        let open = ChartDots.row(4, scale: scale, rows: 16)
        #expect((0..<12).map { dots[open, $0] == .open } == [1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0].map { $0 == 1 })
        #expect((0..<16).allSatisfy { $0 == open || dots[$0, 8] == .none })
        let plot = ChartPlot(plain, drawing: .ascii)
        let top = plot.lines[0].map(\.text).joined()
        #expect(top.hasPrefix("\(String(repeating: "'", count: 8)) "), "\(top)")
    }

    @Test("Times under a chart are even, in order, and apart")
    func axis() {
        let labels = TimeAxis(sampleNoon.wall..<(sampleNoon.wall + 900 * oneSecond), columns: 70).labels
        #expect(labels.map(\.text) == ["05:35", "05:40", "05:45"])
        var numbers = SeededGenerator(seed: 3)
        for _ in 0..<300 {
            let start = Int64.random(in: -(1 << 60)...(1 << 60), using: &numbers)
            let span = Int64.random(in: 1...(1 << 58), using: &numbers)
            let labels = TimeAxis(start..<(start + span), columns: .random(in: 0...220, using: &numbers)).labels
            for (one, next) in zip(labels, labels.dropFirst()) { #expect(next.column - one.column > one.text.count) }
        }
    }

    @Test("A large number has digits of blocks, each at its place, and an odd text none")
    func bigDigits() throws {
        let big = try #require(BigDigits("17.5", size: .small))
        #expect(big.lines == ["▄█  ▀▀█   █▀▀", " █    █   ▀▀█", "▀▀▀   ▀ ▀ ▀▀▀"])
        #expect(big.places == [0..<3, 4..<7, 8..<9, 10..<13])
        #expect(BigDigits("1e-9", size: .small) == nil && BigDigits("", size: .large) == nil)
        let large = try #require(BigDigits("-1,234.5", size: .large))
        #expect(large.lines.count == 5 && Set(large.lines.map(\.count)) == [large.width])
    }
}
