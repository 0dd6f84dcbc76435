import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import Wire
@testable import Measurements
@testable import Relay

@Suite("The relay's status of a paused replay")
struct PausedReplayTests {
    private static let second: Int64 = 1_000_000_000

    private func stand(_ isPaused: Bool, _ bench: HubBench) {
        let position = ReplayPosition(start: 0, end: 10 * Self.second, at: 1, speed: 1, isPaused: isPaused)
        bench.hub.replayChanged(position)
    }

    /// Plays a trade that arrives now.
    private func play(_ price: String, _ feed: inout BatchSource, _ bench: HubBench) {
        var batch = feed.batch([Frames.trade(Frames.btc, price)])
        batch.receivedMonotonic = bench.hub.monotonic
        batch.received = batch.receivedMonotonic
        bench.hub.take([.batch(batch)])
    }

    private func reading(_ bench: HubBench) -> RelayReading { bench.hub.reading(outboxBytes: 0, answerBytes: 0) }

    @Test(
        "a pause of an hour is no age: nothing is late during it, and then the silence continues from before it"
    )
    func age() {
        let bench = HubBench()
        var feed = BatchSource()
        bench.loop.advanceTime(by: .seconds(10))
        self.play("1", &feed, bench)
        bench.loop.advanceTime(by: .seconds(2))
        self.stand(true, bench)
        bench.loop.advanceTime(by: .hours(1))
        let paused = self.reading(bench)
        #expect(paused.status.phase == .live && paused.newestAge == 2 * Self.second)
        #expect(Readiness(paused.status, newestAge: paused.newestAge).isReady)
        self.stand(false, bench)
        bench.loop.advanceTime(by: .seconds(1))
        let resumed = self.reading(bench)
        #expect(resumed.status.phase == .live && resumed.newestAge == 3 * Self.second)
        // A client still gets the trade's real age.
        #expect(bench.hub.age(ofArrival: 10 * Self.second) == 3_603 * Self.second)
        // From then on silence counts: beyond the time at which the feed should have reported it, the feed hangs.
        bench.loop.advanceTime(by: .seconds(4))
        #expect(self.reading(bench).status.phase == .late && self.reading(bench).newestAge == 7 * Self.second)
        self.play("2", &feed, bench)
        #expect(self.reading(bench).newestAge == 0)
        bench.stop()
    }

    @Test("without a pause the same time is a silence")
    func control() {
        let bench = HubBench()
        var feed = BatchSource()
        bench.loop.advanceTime(by: .seconds(10))
        self.play("1", &feed, bench)
        bench.loop.advanceTime(by: .hours(1))
        #expect(self.reading(bench).status.phase == .stale && self.reading(bench).newestAge == 3_600 * Self.second)
        bench.stop()
    }

    @Test("readiness and status say that it is paused")
    func answers() {
        let bench = HubBench()
        var feed = BatchSource()
        self.play("1", &feed, bench)
        self.stand(true, bench)
        var reading = self.reading(bench)
        reading.replay = ReplayPosition(start: 0, end: 10 * Self.second, at: 1, speed: 1, isPaused: true)
        let answer = StatusAnswers.readiness(reading, cluster: nil)
        #expect(answer.isReady)
        #expect(String(buffer: answer.body).contains(#""replay":{"start":0,"end":10000,"#))
        #expect(String(buffer: answer.body).contains(#""paused":true},"newestTradeAge":0"#))
        // A source other than the market shows beside its state whether it is paused.
        reading.status.source = .demo
        reading.status = reading.status.heldStill
        #expect(
            String(buffer: StatusAnswers.readiness(reading, cluster: nil).body).contains(
                #""source":"demo","paused":true,"#
            )
        )
        bench.stop()
    }
}
