import Feeds
import MockUpstream
import Testing

@Suite("A replay's clock")
struct ReplayClockTests {
    @Test(
        "keeps the recording's intervals, scaled by the speed",
        arguments: [(1.0, 1_000), (10.0, 100), (0.5, 2_000)]
    )
    func speeds(speed: Double, expected: Int64) {
        let clock = ReplayClock(speed: speed, recorded: 5_000, now: 77)
        #expect(clock.due(recorded: 5_000, now: 77) == 77)
        #expect(clock.due(recorded: 6_000, now: 80) == 77 + expected)
        // A late frame does not delay the frames after it.
        #expect(clock.due(recorded: 7_000, now: 100_000) == 77 + 2 * expected)
        #expect(clock.recorded(now: 77 + expected) == 6_000)
    }

    @Test("is always due at speed max, and shows what was played last")
    func maximum() {
        var clock = ReplayClock(speed: nil)
        #expect(clock.due(recorded: 0, now: 5) == 5)
        #expect(clock.due(recorded: .max, now: 6) == 6)
        clock.set(recorded: 9, now: 6)
        #expect(clock.recorded(now: 1_000) == 9)
    }

    @Test("does not overflow at a tiny speed or a huge one, and never runs backwards")
    func extremes() throws {
        let slow = ReplayClock(speed: 1e-300)
        #expect(try #require(slow.due(recorded: .max, now: 0)) > 0)
        #expect(slow.due(recorded: -5, now: 9) == 0)
        #expect(ReplayClock(speed: 1, recorded: .max, now: 0).recorded(now: .max) == .max)
        #expect(ReplayClock(speed: 10_000, recorded: 5, now: 100).recorded(now: 3) == 5)
        #expect(ReplayClock(speed: 1, recorded: .min, now: .min).due(recorded: .max, now: 0) != nil)
    }

    @Test("stands still during a pause, and continues from there at another speed")
    func pause() {
        var clock = ReplayClock(speed: 2)
        clock.pause(now: 100)
        #expect(clock.recorded(now: 5_000) == 200)
        #expect(clock.due(recorded: 300, now: 5_000) == nil)
        clock.change(speed: 10, now: 5_000)
        clock.resume(now: 6_000)
        #expect(clock.due(recorded: 300, now: 6_000) == 6_010)
        #expect(clock.recorded(now: 6_005) == 250)
        // From the speed `max` to a fixed one.
        clock.change(speed: nil, now: 6_010)
        clock.set(recorded: 900, now: 6_011)
        clock.change(speed: 1, now: 6_020)
        #expect(clock.recorded(now: 6_030) == 910)
    }
}
