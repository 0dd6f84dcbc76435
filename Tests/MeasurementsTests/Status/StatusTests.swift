import Market
import Testing
@testable import Measurements

@Suite("The history of the feed")
struct StatusTests {
    private static let second: Int64 = 1_000_000_000

    private func status(
        _ phase: FeedStatus.Phase,
        _ source: FeedStatus.Source = .live,
        reason: String? = nil,
        cause: FeedStatus.Cause? = nil
    ) -> FeedStatus {
        FeedStatus(source: source, phase: phase, since: 0, reason: reason, cause: cause)
    }

    @Test("each attempt is counted once, however often it is reported")
    func reconnects() {
        var history = FeedHistory()
        for attempt in [1, 1, 2, 2, 3] {
            _ = history.statusChanged(self.status(.reconnecting(attempt: attempt, retryAt: 0), cause: .silent))
        }
        _ = history.statusChanged(self.status(.live))
        _ = history.statusChanged(self.status(.reconnecting(attempt: 1, retryAt: 0), cause: .silent))
        _ = history.statusChanged(self.status(.rateLimited(until: 5), cause: .rateLimited))
        _ = history.statusChanged(self.status(.keyInUse(retryAt: 5), cause: .keyInUse))
        _ = history.statusChanged(self.status(.waiting))
        _ = history.statusChanged(self.status(.reconnecting(attempt: 1, retryAt: 9)))
        #expect(history.reconnects == [.silent: 4, .rateLimited: 1, .keyInUse: 1, .other: 1])
    }

    @Test("all gaps are added up and the newest is kept, whatever their times are")
    func gaps() {
        var history = FeedHistory()
        for number in 0..<50 {
            let from = Int64(number) * 10 * Self.second
            history.gapFound(Gap(from: from, to: from + Self.second, reason: "\(number)", nextSequence: 1))
        }
        history.gapFound(Gap(from: .min, to: .max, reason: "absurd", nextSequence: 1))
        history.gapFound(Gap(from: 5, to: 1, reason: "backwards", nextSequence: 1))
        #expect(history.gapCount == 52 && history.gapNanoseconds == 50 * Self.second)
        #expect(history.gaps.count == FeedHistory.rememberedGaps && history.gaps.last?.gap.reason == "backwards")
    }

    @Test("what became of a gap stands beside the gap, for each symbol once, and of a gap that has gone nowhere")
    func outcomes() {
        var history = FeedHistory()
        var gap = Gap(from: 1, to: 2, reason: "r", nextSequence: 1, symbol: "A", missing: 7...9)
        history.gapFound(gap)
        gap.missing = 10...11
        history.gapFound(gap)
        // A gap of the whole feed has no ids.
        history.gapFound(Gap(from: 5, to: 6, reason: "r", nextSequence: 1))
        let first = GapOutcome(symbol: "A", missing: 7...9, from: 1, to: 2)
        history.gapSettled(first)
        history.gapSettled(GapOutcome(symbol: "B", missing: 7...9, from: 1, to: 2))
        history.gapSettled(GapOutcome(symbol: "A", missing: 7...9, from: 1, to: 3))
        #expect(history.gaps.map(\.outcomes) == [[first], [], []])
        let others = ["A", "B", "A"].map { GapOutcome(symbol: $0, missing: 3...4, from: 5, to: 6, lost: [3...3]) }
        for outcome in others { history.gapSettled(outcome) }
        #expect(history.gaps.map(\.outcomes) == [[first], [], Array(others[1...])])
    }

    @Test("a full log reports how many entries it has dropped")
    func allowance() {
        var allowance = LogAllowance(most: 2, interval: 60)
        #expect([1, 2, 3, 4, 60].map { allowance.wanted(now: $0) } == [0, 0, nil, nil, nil])
        #expect(allowance.wanted(now: 61) == 3)
        #expect(allowance.wanted(now: 62) == 0)
        #expect(allowance.wanted(now: 63) == nil)
    }

    @Test("the data is ready only while it is fresh")
    func readiness() {
        let phases: [FeedStatus.Phase] = [
            .connecting, .waiting, .late, .stale, .reconnecting(attempt: 1, retryAt: 0), .rateLimited(until: 0),
            .keyRejected(retryAt: nil), .keyInUse(retryAt: 0), .noSuchSymbol, .notPermitted, .ended, .stopped,
        ]
        for phase in phases { #expect(!Readiness(self.status(phase), newestAge: 0).isReady) }
        // Replays and the demo are marked as such, and the same limits of age apply to them.
        for source in [FeedStatus.Source.live, .demo, .replay(file: "x", speed: 1)] {
            #expect(Readiness(self.status(.live, source), newestAge: 4 * Self.second).isReady)
            #expect(!Readiness(self.status(.late, source), newestAge: 6 * Self.second).isReady)
        }
        #expect(!Readiness(self.status(.live), newestAge: nil).isReady)
        #expect(Readiness(self.status(.stale, reason: "why"), newestAge: 0).reason == "why")
        #expect(Readiness(self.status(.late), newestAge: 65 * Self.second).reason == "no trade for 1m05s")
    }

    @Test("a feed that hangs and still reports itself live counts as stale after its own limits")
    func hangs() {
        var limits = FreshnessLimits()
        limits.lateAfter = 10 * Self.second
        limits.staleAfter = 40 * Self.second
        func effective(_ phase: FeedStatus.Phase, _ age: Int64?, _ limits: FreshnessLimits) -> FeedStatus {
            let newestAge = age.map { $0 * Self.second }
            return self.status(phase).effective(newestAge: newestAge, wall: 1_000 * Self.second, limits: limits)
        }
        for age in [nil, 0, 10] as [Int64?] { #expect(effective(.live, age, limits).phase == .live) }
        #expect(effective(.live, 11, limits).phase == .late && effective(.live, 11, limits).since == 999 * Self.second)
        #expect(effective(.live, 40, limits).phase == .late)
        let hung = effective(.live, 50, limits)
        #expect(
            hung.phase == .stale && hung.since == 990 * Self.second
                && hung.reason?.contains("it appears to hang") == true
        )
        // A reported state holds at any age: a slow market is late and not stale.
        for phase in [FeedStatus.Phase.late, .waiting, .reconnecting(attempt: 1, retryAt: 0)] {
            #expect(effective(phase, 500, limits).phase == phase)
        }
        // A reader of only some symbols cannot detect it.
        var some = limits
        some.seesAllTrades = false
        #expect(effective(.live, 500, some).phase == .live)
    }
}
