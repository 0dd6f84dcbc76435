import Foundation
import Market
import Testing
import TickertapeTesting
@testable import History

@Suite("The periods of a run")
struct RunPeriodsTests {
    private static let second: Int64 = 1_000_000_000

    private static func status(_ phase: FeedStatus.Phase, since: Int64, reason: String? = nil) -> FeedStatus {
        FeedStatus(source: .live, phase: phase, since: since * Self.second, reason: reason)
    }

    private static func words(_ periods: [FeedPeriod]) -> [String] {
        periods.map { period in
            "\(period.begun / Self.second)-\(period.ended / Self.second) \(period.state)"
                + (period.reason.map { ": \($0)" } ?? "")
        }
    }

    @Test("each state is a period; a quiet moment is none of its own; the stop is the end")
    func states() {
        var periods = RunPeriods()
        periods.statusChanged(Self.status(.connecting, since: 100), now: 100 * Self.second)
        periods.statusChanged(Self.status(.live, since: 102), now: 102 * Self.second)
        periods.statusChanged(Self.status(.late, since: 110), now: 110 * Self.second)
        periods.statusChanged(Self.status(.live, since: 112), now: 112 * Self.second)
        periods.timePassed(wall: 115 * Self.second, monotonic: 15 * Self.second)
        #expect(Self.words(periods.take(isDue: false)) == ["100-102 connecting", "102-115 live"])
        periods.statusChanged(
            Self.status(.reconnecting(attempt: 1, retryAt: 0), since: 120, reason: "lost"),
            now: 121 * Self.second
        )
        periods.statusChanged(Self.status(.stopped, since: 122), now: 122 * Self.second)
        #expect(Self.words(periods.take(isDue: true)) == ["102-120 live", "120-122 reconnecting: lost"])
        #expect(periods.current == nil && periods.take(isDue: true).isEmpty)
    }

    @Test("the end of a long period is written every ten seconds, and with every other write")
    func heartbeat() {
        var periods = RunPeriods()
        periods.statusChanged(Self.status(.live, since: 100), now: 100 * Self.second)
        var written: [String] = []
        for time in Int64(100)...125 {
            periods.timePassed(wall: time * Self.second, monotonic: time * Self.second)
            written += Self.words(periods.take(isDue: time == 105))
        }
        #expect(written == ["100-100 live", "100-105 live", "100-115 live", "100-125 live"])
    }

    @Test("a machine that sleeps ends the period before and begins one after")
    func sleep() {
        var periods = RunPeriods()
        periods.statusChanged(Self.status(.live, since: 100), now: 100 * Self.second)
        periods.timePassed(wall: 101 * Self.second, monotonic: Self.second)
        periods.timePassed(wall: 200 * Self.second, monotonic: 2 * Self.second)
        #expect(Self.words(periods.take(isDue: true)) == ["100-101 live", "200-200 live"])
    }

    @Test("what was before another program's end is that program's")
    func takeover() {
        var periods = RunPeriods()
        periods.statusChanged(Self.status(.live, since: 100), now: 100 * Self.second)
        periods.tookOver(now: 150 * Self.second)
        periods.timePassed(wall: 151 * Self.second, monotonic: 0)
        #expect(Self.words(periods.take(isDue: true)) == ["150-151 live"])
    }

    @Test("the database has the periods of every run, and forgets old ones")
    func store() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/h.sqlite"
        let store = try HistoryStore(path: path)
        var batch = HistoryBatch()
        for (begun, ended) in [(Int64(0), Int64(5)), (0, 10), (10, 20)] {
            batch.take(FeedPeriod(run: 0, begun: begun, ended: ended, state: "live", reason: nil))
        }
        try store.commit(batch, holes: [])
        var next = HistoryBatch()
        next.take(FeedPeriod(run: 0, begun: 10, ended: 30, state: "live", reason: nil))
        next.take(FeedPeriod(run: 40, begun: 40, ended: 50, state: "stale", reason: "no trade"))
        try store.commit(next, holes: [])
        let found = try store.periods(from: 15, to: 100)
        #expect(found.first == 0 && found.periods.map(\.ended) == [30, 50])
        #expect(found.periods.last?.reason == "no trade")
        _ = try store.prune(before: 35)
        #expect(try store.periods(from: 0, to: 100).first == 40)
        try store.close()
    }

    @Test("a recorder writes the states, the last one up to its end")
    func recorder() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/h.sqlite"
        let recorder = try HistoryRecorder(
            path: path,
            recording: { nil },
            wallClock: { 1_000 * Self.second },
            monotonic: { 0 },
            notify: { _ in }
        )
        recorder.statusChanged(Self.status(.connecting, since: 990))
        recorder.waitUntilWritten()
        #expect(recorder.period?.state == "connecting")
        recorder.statusChanged(Self.status(.live, since: 1_000))
        _ = await recorder.finish()
        let store = try HistoryStore(path: path)
        #expect(try store.periods(from: 0, to: .max).periods.map(\.state).last == "live")
        try store.close()
    }
}
