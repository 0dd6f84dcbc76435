import Testing
@testable import Market

@Suite("A chart that begins with bars of an earlier run")
struct EarlierPricesTests {
    private static let second: Int64 = 1_000_000_000

    private static func price(_ number: Int64) -> ExactDecimal {
        ExactDecimal(significand: number, exponent: 0) ?? .zero
    }

    /// Returns a bar from an opening price to the next higher one, with a low and a high outside of both.
    private static func bar(_ start: Int64, _ width: BarWidth, _ open: Int64, isIncomplete: Bool = false) -> Bar {
        Bar(
            start: start * Self.second,
            width: width,
            open: (Self.price(open), start * Self.second),
            high: Self.price(open + 5),
            low: Self.price(open - 5),
            close: (Self.price(open + 1), (start + width.rawValue) * Self.second - 1),
            volume: ExactSum(),
            turnover: ExactSum(),
            count: 2,
            isIncomplete: isIncomplete
        )
    }

    @Test("By the second they are known as prices are; by the minute they are drawn, and no price is told of them")
    func widths() {
        let minutes = (0..<10).map { Self.bar($0 * 60, .minute, 1_000 + $0) }
        let seconds = (300..<420).map { Self.bar($0, .second, 2_000 + $0) }
        var history = PriceHistory(seconds: seconds, minutes: minutes)
        #expect(history.start == 0 && history.newest == 420 * Self.second - 1)
        #expect(history.price(at: 299 * Self.second) == nil)
        #expect(history.price(at: 400 * Self.second) == Self.price(2_400))
        let session = history.series(span: nil)
        #expect(session.first?.start == 0 && session[0].close == Self.price(1_000))
        #expect((0..<session.count).map { session[$0].low }.min() == 995)
        #expect((0..<session.count).map { session[$0].high }.max() == 2_424)
        // Minutes within the time of the seconds would be counted twice.
        #expect((0..<session.count).allSatisfy { session[$0].start < 300 * Self.second || session[$0].low > 2_000 })
        // The prices between these bars and the next price are unknown.
        history.take(Self.price(9_000), at: 500 * Self.second, arrived: 0)
        #expect(history.price(at: 450 * Self.second) == nil && history.series(span: nil).last?.followsGap == true)
        #expect(history.longestGap == nil)
    }

    @Test("Behind bars by the minute alone the prices that come are known as ever")
    func minutesAlone() {
        var history = PriceHistory(seconds: [], minutes: (0..<10).map { Self.bar($0 * 60, .minute, 1_000 + $0) })
        #expect(history.price(at: 599 * Self.second) == nil)
        for number in 0..<120 {
            history.take(Self.price(2_000 + Int64(number)), at: (5_000 + Int64(number)) * Self.second, arrived: 0)
        }
        #expect(history.price(at: 5_059 * Self.second) == Self.price(2_058))
    }

    @Test("Bars that lack something and stand apart have a hole between them; others only had no trades")
    func holes() {
        let bars = [
            Self.bar(0, .second, 1_000), Self.bar(60, .second, 1_000),
            Self.bar(120, .second, 1_000, isIncomplete: true),
            Self.bar(121, .second, 1_000),
        ]
        let series = PriceHistory(seconds: bars, minutes: []).series(span: nil)
        #expect((0..<series.count).map { series[$0].followsGap } == [false, false, true, false])
        #expect(PriceHistory(seconds: [], minutes: []).start == nil)
    }

    @Test("A gap that no bar by the second saw is a hole where the minute around it lacks something")
    func quietGap() {
        func holes(_ incomplete: Set<Int64>) -> [Bool] {
            let seconds = [0, 50, 51, 70, 130, 190].map { Self.bar($0, .second, 1_000) }
            let minutes = [Int64(0), 60, 120, 180].map { start in
                Self.bar(start, .minute, 1_000, isIncomplete: incomplete.contains(start))
            }
            let series = PriceHistory(seconds: seconds, minutes: minutes).series(span: nil)
            return (0..<series.count).map { series[$0].followsGap }
        }
        #expect(holes([]) == [false, false, false, false, false, false])
        #expect(holes([0]) == [false, true, false, true, false, false])
        #expect(holes([60]) == [false, false, false, true, true, false])
        #expect(holes([180]) == [false, false, false, false, false, true])
    }

    @Test("The session begins with the first price of its own, as far as it is known, also when the clock is set back")
    func sessionStart() {
        var history = PriceHistory(seconds: (0..<10).map { Self.bar($0, .second, 1_000) }, minutes: [])
        #expect(history.start == 0 && history.sessionStart == nil)
        history.take(Self.price(1), at: 50 * Self.second, arrived: 0)
        history.take(Self.price(2), at: 90 * Self.second, arrived: 0)
        #expect(history.start == 0 && history.sessionStart == 50 * Self.second)
        history.take(Self.price(3), at: 60 * Self.second, arrived: 0)
        #expect(history.sessionStart == 50 * Self.second)
        history.take(Self.price(4), at: 20 * Self.second, arrived: 0)
        #expect(history.start == 0 && history.sessionStart == 20 * Self.second)
        var reported = PriceHistory()
        reported.take(Self.price(1), at: 50 * Self.second, arrived: 0, isWhole: false)
        #expect(reported.start == 50 * Self.second && reported.sessionStart == nil)
        #expect(history.followed(by: reported).sessionStart == nil)
        #expect(reported.followed(by: history).sessionStart == 20 * Self.second)
    }

    @Test("A session that has begun already is put behind them, with its extremes and its gaps")
    func followed() {
        let earlier = PriceHistory(seconds: (0..<100).map { Self.bar($0, .second, 1_000) }, minutes: [])
        var later = PriceHistory()
        for number in Int64(200)..<900 {
            if number == 600 { later.interrupted() }
            later.take(Self.price(number), at: number * Self.second, arrived: number * Self.second)
            later.take(Self.price(-number), at: number * Self.second, arrived: number * Self.second)
        }
        let whole = earlier.followed(by: later)
        #expect(whole.start == 0 && whole.newest == 899 * Self.second)
        #expect(whole.price(at: 150 * Self.second) == nil)
        #expect(whole.price(at: 850 * Self.second) == Self.price(-849))
        let session = whole.series(span: nil)
        #expect((0..<session.count).map { session[$0].high }.max() == 1_005)
        #expect((0..<session.count).map { session[$0].low }.min() == -899)
        #expect((0..<session.count).filter { session[$0].followsGap }.count == 2)
        #expect(whole.longestGap == later.longestGap)
        #expect(earlier.followed(by: PriceHistory()).newest == earlier.newest)
    }
}
