import Market
import Testing

@Suite("The prices of a session, for a screen")
struct PriceHistoryTests {
    private static let second: Int64 = 1_000_000_000

    private static func price(_ number: Int64) -> ExactDecimal {
        ExactDecimal(significand: number, exponent: 0) ?? .zero
    }

    /// Returns a history of one price a second, equal to the second's number.
    private static func counting(to seconds: Int64, from first: Int64 = 0) -> PriceHistory {
        var history = PriceHistory()
        for number in first...seconds {
            history.take(Self.price(number), at: number * Self.second, arrived: number * Self.second)
        }
        return history
    }

    @Test("The price of a moment is that of the second before, of an hour ago that of the ten seconds before")
    func lookBack() {
        let now: Int64 = 5_000
        let history = Self.counting(to: now)
        #expect(history.price(at: (now - 60) * Self.second) == Self.price(now - 61))
        #expect(history.price(at: (now - 300) * Self.second) == Self.price(now - 301))
        let hour = history.price(at: (now - 3_600) * Self.second)
        #expect(hour.map { $0 >= Self.price(now - 3_620) && $0 < Self.price(now - 3_600) } == true)
    }

    @Test("What was before the first price, or within a gap, is not known")
    func unknown() {
        var history = PriceHistory()
        #expect(history.price(at: 0) == nil)
        history.take(Self.price(1), at: 10 * Self.second, arrived: 0)
        #expect(history.price(at: 9 * Self.second) == nil)
        history.take(Self.price(2), at: 20 * Self.second, arrived: 0)
        history.interrupted()
        history.take(Self.price(3), at: 90 * Self.second, arrived: 0)
        history.take(Self.price(4), at: 99 * Self.second, arrived: 0)
        #expect(history.price(at: 15 * Self.second) == Self.price(1))
        #expect(history.price(at: 50 * Self.second) == nil)
        #expect(history.price(at: 95 * Self.second) == Self.price(3))
        #expect(history.series(span: nil)[2].followsGap)
    }

    @Test("A replay that was moved back by a little goes on there at once, and one that was not waits for its clock")
    func movedBack() {
        for isMoved in [true, false] {
            var history = Self.counting(to: 30)
            history.interrupted(isMoved: isMoved)
            for number in 25...27 { history.take(Self.price(99), at: Int64(number) * Self.second, arrived: 0) }
            #expect(history.newest == (isMoved ? 27 : 30) * Self.second)
            if isMoved { #expect(history.price(at: 27 * Self.second) == Self.price(99)) }
        }
    }

    @Test("Bars and prices of any times end no program", arguments: [Int64.min, -9_000_000_000_000_000_000, 0, .max])
    func anyTimes(time: Int64) {
        let start = BarWidth.second.start(of: 8_796_093_022_000_000_000)
        let one = Self.price(1)
        let bar = Bar(
            start: start,
            width: .second,
            open: (one, start),
            high: one,
            low: one,
            close: (one, start + 1),
            volume: ExactSum(),
            turnover: ExactSum(),
            count: 1,
            possibleRepeats: 0,
            isIncomplete: false
        )
        var history = PriceHistory(seconds: [bar], minutes: [])
        history.take(last: bar, isSeamless: true)
        history.take(Self.price(2), at: time, arrived: 0)
        // A chart adds up to 10^18 ns to the newest time.
        let bounds = -(1 << 61)...Int64(1 << 61)
        #expect(history.newest.map(bounds.contains) == true)
        #expect(history.start.map(bounds.contains) == true)
        #expect(history.sessionStart.map(bounds.contains) == true)
    }

    @Test("A day is held in as many points as an hour, from its first price on")
    func bounded() {
        let day: Int64 = 86_400
        let history = Self.counting(to: day)
        let session = history.series(span: nil)
        #expect(session.count <= 512 && session.count > 200)
        #expect(session.first?.start == 0 && session.first?.low == 0)
        #expect(session.last?.close == Self.price(day))
        #expect(history.series(span: 300 * Self.second).count <= 384)
        #expect(history.series(span: 3_600 * Self.second).count <= 448)
        for series in [session, history.series(span: 60 * Self.second)] {
            for index in 1..<series.count { #expect(series[index - 1].start < series[index].start) }
        }
        // No extreme is lost, however often points are merged.
        #expect((0..<session.count).map { session[$0].high }.max() == Double(day))
    }

    @Test("A replay that goes back takes along what was behind that place")
    func backwards() {
        var history = Self.counting(to: 2_000)
        history.take(Self.price(7), at: 1_000 * Self.second, arrived: 0)
        #expect(history.newest == 1_000 * Self.second)
        let session = history.series(span: nil)
        #expect(session.last?.start ?? .max <= 1_000 * Self.second)
        #expect(history.price(at: 900 * Self.second) != nil)
        history.take(Self.price(9), at: -5 * Self.second, arrived: 0)
        #expect(history.start == -5 * Self.second && history.series(span: nil).count == 1)
        history.take(Self.price(9), at: .max, arrived: 0)
        history.take(Self.price(9), at: .min, arrived: 0)
        #expect(history.series(span: nil).count == 1)
    }

    @Test("A copy does not change with what comes after it")
    func copies() {
        var history = Self.counting(to: 700)
        let copy = history
        for number in Int64(701)...900 {
            history.take(Self.price(number), at: number * Self.second, arrived: 0)
        }
        #expect(copy.newest == 700 * Self.second && copy.series(span: nil).last?.close == Self.price(700))
        #expect(copy.price(at: 650 * Self.second) == Self.price(649))
    }

    @Test("The longest gap between trades is known after eight; interruptions and pauses are no gaps of a market")
    func longestGap() {
        var history = PriceHistory()
        var now: Int64 = 0
        for step in [1, 2, 30, 2, 2, 1, 40, 2] as [Int64] {
            #expect(history.longestGap == nil)
            history.take(Self.price(1), at: now, arrived: now)
            now += step * Self.second
        }
        history.take(Self.price(1), at: now, arrived: now)
        #expect(history.longestGap == 40 * Self.second)
        for round in 0..<20 {
            if round % 2 == 0 { history.interrupted() } else { history.stoodStill() }
            now += 50 * Self.second
            history.take(Self.price(1), at: now, arrived: now)
        }
        #expect(history.longestGap == 40 * Self.second)
        // An hour later the long gap no longer counts as recent.
        for _ in 0...3_600 {
            now += Self.second
            history.take(Self.price(1), at: now, arrived: now)
        }
        #expect(history.longestGap == Self.second)
    }

    @Test("A point is where index says, for any times and cuts")
    func index() {
        var numbers = SeededGenerator(seed: 9)
        for _ in 0..<40 {
            var history = PriceHistory()
            var time: Int64 = 0
            for _ in 0..<1_500 {
                time += .random(in: 0...3 * Self.second, using: &numbers)
                if Int.random(in: 0..<400, using: &numbers) == 0 {
                    time -= .random(in: 0...500, using: &numbers) * Self.second
                }
                history.take(Self.price(1), at: time, arrived: time)
            }
            let series = history.series(span: nil)
            for index in 0..<series.count {
                #expect(series.index(from: series[index].start) == index)
                #expect(series.index(from: series[index].start + 1) == index + 1)
            }
        }
    }
}
