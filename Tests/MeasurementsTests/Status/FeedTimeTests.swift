import Market
import NIOCore
import Testing
@testable import Measurements

@Suite("The time that a feed was live")
struct FeedTimeTests {
    private func status(_ phase: FeedStatus.Phase, cause: FeedStatus.Cause? = nil) -> FeedStatus {
        FeedStatus(source: .live, phase: phase, since: 0, cause: cause)
    }

    @Test("every moment counts once: as live, or for the cause, or for the state without one")
    func adds() {
        var time = FeedTime(now: 100)
        time.statusChanged(self.status(.waiting), now: 130)
        time.statusChanged(self.status(.live), now: 135)
        time.statusChanged(self.status(.late), now: 1_135)
        time.statusChanged(self.status(.stale), now: 1_140)
        time.statusChanged(self.status(.reconnecting(attempt: 1, retryAt: 0), cause: .lost), now: 1_160)
        time.statusChanged(self.status(.connecting, cause: .lost), now: 1_170)
        time.statusChanged(self.status(.live), now: 1_200)
        time.timePassed(now: 1_250, effective: self.status(.live), length: 50)
        #expect(time.live == 1_050)
        #expect(time.notLive == ["connecting": 30, "waiting": 5, "late": 5, "stale": 20, "lost": 40])
        #expect(time.live + time.notLive.values.reduce(0, +) == 1_150)
        #expect(Set(time.notLive.keys).isSubset(of: FeedTime.reasons))
    }

    @Test("a reading is exact at any time, and changes nothing")
    func readings() {
        var read = FeedTime(now: 0)
        var unread = FeedTime(now: 0)
        for now: Int64 in 1...9 {
            let status = now % 3 == 0 ? self.status(.live) : self.status(.late)
            read.statusChanged(status, now: now * 10)
            unread.statusChanged(status, now: now * 10)
            for step: Int64 in 1...9 { read.timePassed(now: now * 10 + step, effective: status, length: step) }
        }
        unread.timePassed(now: 99, effective: self.status(.live), length: 9)
        #expect(read == unread)
    }

    @Test("a feed that hangs and calls itself live is not counted as live since its data is old")
    func hangs() {
        var time = FeedTime(now: 0)
        time.statusChanged(self.status(.live), now: 0)
        time.timePassed(now: 1_000, effective: self.status(.live), length: 1_000)
        time.timePassed(now: 1_100, effective: self.status(.late), length: 30)
        #expect(time.live == 1_070 && time.notLive == ["late": 30])
        // The state began before the last reading: nothing that was counted is taken back.
        time.timePassed(now: 1_150, effective: self.status(.late), length: 80)
        #expect(time.live == 1_070 && time.notLive == ["late": 80])
        time.statusChanged(self.status(.live), now: 1_160)
        #expect(time.live + time.notLive["late", default: 0] == 1_160)
    }

    @Test("a clock that is set back or a state without a beginning counts nothing twice")
    func clocks() {
        var time = FeedTime(now: 500)
        time.statusChanged(self.status(.live), now: 400)
        time.timePassed(now: 600, effective: self.status(.stale), length: .max / 2)
        time.timePassed(now: 700, effective: self.status(.stale), length: -5)
        #expect(time.live + time.notLive.values.reduce(0, +) == 200)
    }

    @Test("the reasons are all states but live and all causes, each once")
    func reasons() {
        #expect(FeedTime.reasons.count == Set(FeedTime.reasons).count && !FeedTime.reasons.contains("live"))
        #expect(FeedTime.reasons.count <= MetricRegistry.maximumSeries)
        var text = PrometheusText()
        FeedTime(now: 0).write(to: &text)
        let lines = String(buffer: text.buffer).split(separator: "\n")
        #expect(lines.contains("tickertape_live_seconds_total 0"))
        #expect(lines.contains(#"tickertape_not_live_seconds_total{reason="pong-timeout"} 0"#))
    }
}
