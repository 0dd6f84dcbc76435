import Market
import Measurements
import Testing

@Suite("The live time of a feed")
struct LiveTimeTests {
    private static func period(
        _ begun: Int64,
        _ ended: Int64,
        _ state: String = "live",
        _ reason: String? = nil,
        run: Int64 = 1
    ) -> FeedPeriod {
        FeedPeriod(
            run: run,
            begun: begun * 1_000_000_000,
            ended: ended * 1_000_000_000,
            state: state,
            reason: reason
        )
    }

    private static func live(_ from: Int64, _ to: Int64, first: Int64? = 0, _ periods: [FeedPeriod]) -> LiveTime {
        LiveTime(
            from: from * 1_000_000_000,
            to: to * 1_000_000_000,
            first: first.map { $0 * 1_000_000_000 },
            periods: periods
        )
    }

    /// Each gap as `FROM-TO reason`, in seconds.
    private static func gaps(_ live: LiveTime) -> [String] {
        live.gaps.map { "\($0.from / 1_000_000_000)-\($0.to / 1_000_000_000) \($0.reason)" }
    }

    @Test("a lost connection is a gap with its first reason, until the feed is live again")
    func lost() {
        let live = Self.live(
            0,
            100,
            [
                Self.period(0, 40), Self.period(40, 42, "reconnecting", "the connection was lost"),
                Self.period(42, 43, "connecting"), Self.period(43, 50, "waiting"), Self.period(50, 100),
            ]
        )
        #expect(Self.gaps(live) == ["40-50 reconnecting: the connection was lost"])
        #expect(live.share == 0.9 && live.longest?.length == 10_000_000_000)
    }

    @Test("a run that ended without a last word counts up to the last written moment, and then nothing ran")
    func killed() {
        let live = Self.live(
            0,
            100,
            [Self.period(0, 30), Self.period(60, 61, "connecting", run: 2), Self.period(61, 100, run: 2)]
        )
        #expect(Self.gaps(live) == ["30-61 not running"])
        #expect(live.missed == 31_000_000_000)
    }

    @Test("time of one run that nothing was written of is that of a machine that slept")
    func slept() {
        #expect(
            Self.gaps(Self.live(0, 100, [Self.period(0, 30), Self.period(70, 100)])) == ["30-70 \(LiveTime.asleep)"]
        )
    }

    @Test("gaps across the edges of the span count as far as they are in it")
    func edges() {
        let periods = [Self.period(0, 30), Self.period(50, 80), Self.period(90, 200)]
        let live = Self.live(40, 85, periods)
        #expect(live.gaps.map(\.from) == [40_000_000_000, 80_000_000_000])
        #expect(live.gaps.map(\.to) == [50_000_000_000, 85_000_000_000])
        #expect(live.share(from: 0, to: 45_000_000_000) == 0)
        #expect(live.share(from: 45_000_000_000, to: 55_000_000_000) == 0.5)
        #expect(live.share(from: 50_000_000_000, to: 60_000_000_000) == 1)
        #expect(live.share(from: 85_000_000_000, to: 95_000_000_000) == nil)
    }

    @Test("before the first record nothing is known, which is not part of the share")
    func unknown() {
        let live = Self.live(0, 100, first: 50, [Self.period(50, 100)])
        #expect(live.known == 50_000_000_000 && live.share == 1 && live.gaps.isEmpty)
        #expect(live.share(from: 0, to: 50_000_000_000) == nil)
        for first in [nil, 100, 200] as [Int64?] {
            let nothing = Self.live(0, 100, first: first, [])
            #expect(nothing.known == nil && nothing.share == nil && nothing.gaps.isEmpty)
        }
    }

    @Test("a program that has not run since the beginning of the span was not live at all")
    func neverRan() {
        let live = Self.live(50, 100, first: 0, [])
        #expect(Self.gaps(live) == ["50-100 not running"] && live.share == 0)
    }

    @Test("periods that overlap, as after a clock was set back, count once")
    func overlapping() {
        let live = Self.live(0, 100, [Self.period(0, 60), Self.period(40, 90, run: 2), Self.period(20, 30, "stale")])
        #expect(Self.gaps(live) == ["90-100 not running"])
    }
}
