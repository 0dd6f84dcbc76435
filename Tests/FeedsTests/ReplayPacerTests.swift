import Feeds
import Testing

@Suite("The pace of a replay")
struct ReplayPacerTests {
    @Test(
        "keeps the recording's distances, stretched by the speed",
        arguments: [(1.0, 1_000), (10.0, 100), (0.5, 2_000)]
    )
    func speeds(speed: Double, expected: Int64) {
        var pacer = ReplayPacer(speed: speed)
        #expect(pacer.due(recorded: 5_000, now: 77) == 77)
        #expect(pacer.due(recorded: 6_000, now: 80) == 77 + expected)
        // Late frames do not shift the ones behind them.
        #expect(pacer.due(recorded: 7_000, now: 100_000) == 77 + 2 * expected)
    }

    @Test("is always now at speed max")
    func maximum() {
        var pacer = ReplayPacer(speed: nil)
        #expect(pacer.due(recorded: 0, now: 5) == 5)
        #expect(pacer.due(recorded: .max, now: 6) == 6)
    }

    @Test("does not overflow at a tiny speed, and never runs backwards")
    func extremes() {
        var pacer = ReplayPacer(speed: 1e-300)
        _ = pacer.due(recorded: 0, now: 0)
        #expect(pacer.due(recorded: .max, now: 0) > 0)
        #expect(pacer.due(recorded: -5, now: 9) == 0)
    }

    @Test("begins anew when the recording does")
    func restart() {
        var pacer = ReplayPacer(speed: 1)
        _ = pacer.due(recorded: 0, now: 0)
        pacer.restart()
        #expect(pacer.due(recorded: 0, now: 500) == 500)
    }
}
