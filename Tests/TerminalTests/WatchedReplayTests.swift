import Market
import Testing
@testable import Terminal

@Suite("The position of another program's replay")
struct WatchedReplayTests {
    private static let second: Int64 = 1_000_000_000

    private func position(_ at: Int64, speed: Double? = 10, isPaused: Bool = false) -> ReplayPosition {
        ReplayPosition(start: 0, end: 1_000 * Self.second, at: at * Self.second, speed: speed, isPaused: isPaused)
    }

    private func reported(_ position: ReplayPosition) -> WatchedReplay {
        var replay = WatchedReplay()
        replay.reported(position, now: 7 * Self.second)
        return replay
    }

    /// Returns the replay's position in seconds, this many seconds after its report.
    private func at(_ replay: WatchedReplay, _ seconds: Int64) -> Int64? {
        replay.position(now: (7 + seconds) * Self.second).map { $0.at / Self.second }
    }

    @Test("is unknown before the relay's report, and advances at its speed to the end")
    func pace() {
        #expect(WatchedReplay().position(now: 5) == nil)
        let replay = self.reported(self.position(100))
        #expect([0, 1, 60, 90, 91, 1_000_000].map { self.at(replay, $0) } == [100, 110, 700, 1_000, 1_000, 1_000])
        #expect(replay.position(now: 8 * Self.second) == self.position(110))
        var live = replay
        live.reported(nil, now: 0)
        #expect(live.position(now: 5) == nil)
        var endless = self.position(100)
        endless.end = .max
        #expect(self.reported(endless).position(now: .max)?.at ?? 0 > 0)
    }

    @Test("stands still while it is paused")
    func paused() {
        let replay = self.reported(self.position(100, isPaused: true))
        #expect(replay.position(now: 3_600 * Self.second) == self.position(100, isPaused: true))
    }

    @Test(
        "is no earlier than the newest trade: one without a pace, or one that leaves silences out, is ahead of its clock"
    )
    func trades() {
        var replay = self.reported(self.position(100, speed: nil))
        #expect(self.at(replay, 60) == 100)
        replay.traded(at: 400 * Self.second, sequence: 1)
        replay.traded(at: 390 * Self.second, sequence: 2)
        #expect(self.at(replay, 60) == 400)
        // The trades of a demo have current times.
        replay.traded(at: 9_000 * Self.second, sequence: 3)
        #expect(self.at(replay, 60) == 400)
        replay.traded(at: 1_000 * Self.second, sequence: 4)
        #expect(self.at(replay, 60) == 1_000)
    }

    private func gap(_ cause: FeedStatus.Cause?, next: UInt64, symbol: String? = nil) -> Gap {
        Gap(from: 0, to: 0, reason: "a test", nextSequence: next, cause: cause, symbol: symbol)
    }

    @Test("is at the target of a move, even if trades from before it arrive afterwards")
    func moved() {
        var replay = self.reported(self.position(50))
        // Trades in transit at the time of the move may arrive before its gap, or after it from the relay's queue.
        replay.traded(at: 900 * Self.second, sequence: 20)
        #expect(self.at(replay, 1) == 900)
        replay.took(self.gap(.seek, next: 22))
        #expect(self.at(replay, 1) == 60)
        replay.traded(at: 901 * Self.second, sequence: 21)
        #expect(self.at(replay, 1) == 60)
        replay.traded(at: 70 * Self.second, sequence: 22)
        #expect(self.at(replay, 1) == 70)
        // Another kind of gap does not move the position. After it, and after a reconnection, sequence numbers may
        // restart.
        replay.took(self.gap(nil, next: 1, symbol: "A"))
        replay.traded(at: 902 * Self.second, sequence: 2)
        #expect(self.at(replay, 1) == 70)
        replay.took(self.gap(nil, next: 1))
        replay.traded(at: 80 * Self.second, sequence: 2)
        #expect(self.at(replay, 1) == 80)
        replay.took(self.gap(.seek, next: 22))
        replay.lost(now: 8 * Self.second)
        replay.reported(self.position(50), now: 7 * Self.second)
        replay.traded(at: 90 * Self.second, sequence: 3)
        #expect(self.at(replay, 1) == 90)
    }

    @Test("stays where it was when nothing more is heard of it, until the relay tells again")
    func lost() {
        var replay = self.reported(self.position(100))
        replay.lost(now: 9 * Self.second)
        replay.lost(now: 19 * Self.second)
        #expect(self.at(replay, 60) == 120)
        replay.reported(self.position(300), now: 67 * Self.second)
        #expect(self.at(replay, 61) == 310)
    }
}
