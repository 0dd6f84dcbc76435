import Market
import Testing

@Suite("The volumes and the first prices of a chart")
struct PriceHistoryVolumeTests {
    private static let second: Int64 = 1_000_000_000

    private static func points(_ history: PriceHistory, span: Int64?) -> [PricePoint] {
        let series = history.series(span: span.map { $0 * Self.second })
        return (0..<series.count).map { series[$0] }
    }

    private static func price(_ number: Int64) -> ExactDecimal {
        ExactDecimal(significand: number, exponent: 0) ?? .zero
    }

    @Test("No volume is lost while series widen, and each point has its first price")
    func widens() {
        var history = PriceHistory()
        for number in Int64(0)..<9_600 {
            history.take(Self.price(number), at: number * Self.second, volume: 1, arrived: 0)
        }
        let spans: [(Int64?, Int64)] = [(60, 1), (3_600, 10), (86_400, 300), (400_000, 3_600), (nil, 32)]
        for (span, width) in spans {
            let points = Self.points(history, span: span)
            #expect(history.series(span: span.map { $0 * Self.second }).width == width * Self.second)
            for point in points.dropLast() {
                #expect(point.open == Double(point.start / Self.second) && point.volume == Double(width))
            }
            let known = points.map(\.volume).reduce(0, +)
            #expect(known == (span ?? .max < 3_700 ? known : 9_600))
        }
        // Two months of hours.
        var long = PriceHistory()
        for hour in Int64(0)..<1_440 {
            long.take(Self.price(hour), at: 3_600 * hour * Self.second, volume: 1, arrived: 0)
        }
        #expect(long.series(span: 3_600 * 1_440 * Self.second).width == 14_400 * Self.second)
        #expect(Self.points(long, span: 3_600 * 1_440).allSatisfy { $0.volume == 4 })
    }

    @Test("A late trade adds to the extremes and the volume of its period, and is no close")
    func late() {
        var history = PriceHistory()
        for number in Int64(0)..<3 {
            history.take(Self.price(100), at: 10 * number * Self.second, volume: 1, arrived: 0)
        }
        history.take(Self.price(300), at: 10 * Self.second + 1, volume: 5, arrived: 0)
        history.take(Self.price(1), at: 15 * Self.second, volume: 7, arrived: 0)
        let points = Self.points(history, span: 60)
        #expect(points.map(\.high) == [100, 300, 100] && points.map(\.low) == [100, 100, 100])
        #expect(points.map(\.volume) == [1, 13, 1] && points.allSatisfy { $0.close == Self.price(100) })
        #expect(Self.points(history, span: nil).map(\.volume) == [1, 13, 1])
        #expect(Self.points(history, span: 3_600).map(\.volume) == [1, 13, 1])
    }

    @Test("The trades before the first price are unknown, and an incomplete bar stays one")
    func incomplete() {
        var history = PriceHistory()
        history.take(Self.price(1), at: Self.second, arrived: 0)
        history.take(Self.price(1), at: 2 * Self.second, arrived: 0)
        #expect(Self.points(history, span: 60).map(\.isIncomplete) == [true, false])
        var volume = ExactSum()
        volume.add(Self.price(8))
        let bars = (0..<3).map { number in
            Bar(
                start: Int64(number) * Self.second,
                width: .second,
                open: (Self.price(5), Int64(number) * Self.second),
                high: Self.price(9),
                low: Self.price(2),
                close: (Self.price(6), Int64(number) * Self.second + 1),
                volume: volume,
                turnover: ExactSum(),
                count: 1,
                isIncomplete: number == 1
            )
        }
        let points = Self.points(PriceHistory(seconds: bars, minutes: []), span: 60)
        #expect(points.map(\.isIncomplete) == [false, true, false])
        #expect(points.allSatisfy { $0.open == 5 && $0.high == 9 && $0.low == 2 && $0.close == Self.price(6) })
        #expect(points.map(\.volume) == [8, 8, 8])
    }

    @Test("Bars of five minutes from before all others are in the charts of a day only")
    func older() {
        func bar(_ start: Int64, _ width: BarWidth, price: Int64, isIncomplete: Bool = false) -> Bar {
            var volume = ExactSum()
            volume.add(Self.price(1))
            return Bar(
                start: start * Self.second,
                width: width,
                open: (Self.price(price), start * Self.second),
                high: Self.price(price),
                low: Self.price(price),
                close: (Self.price(price), start * Self.second),
                volume: volume,
                turnover: ExactSum(),
                count: 1,
                isIncomplete: isIncomplete
            )
        }
        let fives = [0, 300, 900, 86_100, 86_400].map { Int64($0) }.map {
            bar($0, .fiveMinutes, price: 5, isIncomplete: $0 == 900)
        }
        let history = PriceHistory(
            seconds: [bar(86_700, .second, price: 7)],
            minutes: [bar(86_400, .minute, price: 6)],
            fiveMinutes: fives
        )
        let day = Self.points(history, span: 86_400)
        #expect(day.map { $0.start / Self.second } == [0, 300, 900, 86_100, 86_400, 86_700])
        #expect(day.map(\.open) == [5, 5, 5, 5, 6, 7] && day.allSatisfy { $0.volume == 1 })
        #expect(day.map(\.followsGap) == [false, false, true, true, false, false])
        #expect(history.start == 86_400 * Self.second && Self.points(history, span: nil).count == 2)
        #expect(Self.points(history, span: 3_600).count == 2)
    }

    @Test("The trades that fill a gap bring their volumes")
    func filled() {
        var history = PriceHistory()
        history.take(Self.price(1), at: 0, volume: 1, arrived: 0)
        history.interrupted(missing: 5...6)
        history.take(Self.price(4), at: 9 * Self.second, volume: 1, arrived: 0)
        history.filled(Self.price(7), at: 3 * Self.second, volume: 10)
        history.filled(Self.price(8), at: 9 * Self.second, volume: 20)
        history.gapSettled(5...6, isComplete: true)
        let points = Self.points(history, span: 60)
        #expect(points.map(\.volume) == [1, 10, 21] && points.map(\.open) == [1, 7, 8])
        #expect(Self.points(history, span: 86_400).map(\.volume) == [32])
    }
}
