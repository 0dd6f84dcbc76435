import Testing
@testable import Market

@Suite("What silence is usual")
struct UsualSilenceTests {
    private static let second: Int64 = 1_000_000_000

    @Test("is the longest of the last half hour to hour")
    func window() {
        var usual = UsualSilence()
        #expect(usual.longest(now: 5) == 0)
        usual.ended(nil, now: 0)
        usual.ended(40 * Self.second, now: 40 * Self.second)
        usual.ended(2 * Self.second, now: 42 * Self.second)
        #expect(usual.longest(now: 42 * Self.second) == 40 * Self.second)
        usual.ended(1 * Self.second, now: UsualSilence.window)
        #expect(usual.longest(now: UsualSilence.window) == 40 * Self.second)
        usual.ended(1 * Self.second, now: 2 * UsualSilence.window)
        #expect(usual.longest(now: 2 * UsualSilence.window) == Self.second)
        #expect(usual.longest(now: 5 * UsualSilence.window) == 0)
    }

    @Test("a limit is so many times the longest, within its bounds, for any numbers")
    func limits() {
        let bounds = 5 * Self.second...100 * Self.second
        #expect(UsualSilence.limit(longest: 0, times: 3, within: bounds) == 5 * Self.second)
        #expect(UsualSilence.limit(longest: 7 * Self.second, times: 3, within: bounds) == 21 * Self.second)
        #expect(UsualSilence.limit(longest: .max, times: 3, within: bounds) == 100 * Self.second)
    }

    /// Trades in clusters of about ten, each followed by a pause, for five symbols with two trades a second each.
    @Test("clusters of trades make less than 2 % of the time an unusual silence, by the median a third")
    func clusters() {
        var chance = SeededGenerator(seed: 15)
        func exponential(_ mean: Double) -> Double {
            let step = Double(chance.next() >> 11) / Double(1 << 53)
            return -mean * Self.logarithm(1 - step)
        }
        var late = 0.0
        var lateByMedian = 0.0
        var all = 0.0
        for _ in 0..<5 {
            var gaps = TradeGaps()
            var recent: [Double] = []
            var now = 0.0
            while now < 7_200 {
                let pause = recent.isEmpty || chance.next() % 10 == 0 ? exponential(5) : exponential(0.05)
                gaps.traded(at: Int64(now * 1e9))
                if let longest = gaps.longest, recent.count == 31 {
                    let median = recent.sorted()[15]
                    late += max(0, pause - max(5, 2 * Double(longest) / 1e9))
                    lateByMedian += max(0, pause - max(5, 10 * median))
                    all += pause
                }
                now += pause
                recent = (recent + [pause]).suffix(31)
            }
        }
        #expect(late / all < 0.02 && lateByMedian / all > 0.3, "\(late / all) \(lateByMedian / all)")
    }

    /// Returns the natural logarithm of a number above 0 and up to 1, by halving and the series of the inverse
    /// hyperbolic tangent.
    private static func logarithm(_ number: Double) -> Double {
        var (mantissa, halves) = (number, 0.0)
        while mantissa < 0.5 { (mantissa, halves) = (mantissa * 2, halves + 1) }
        let ratio = (mantissa - 1) / (mantissa + 1)
        var (sum, power) = (0.0, ratio)
        for place in stride(from: 1.0, to: 60, by: 2) {
            sum += power / place
            power *= ratio * ratio
        }
        return 2 * sum - halves * 0.693_147_180_559_945_3
    }
}
