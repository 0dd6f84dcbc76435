import Market
import Testing
import TickertapeTesting
import Wire

@Suite("TapeCompleteness")
struct TapeCompletenessTests {
    @Test("grows by messages while the feed is live, and by trades")
    func live() {
        var tape = TapeCompleteness(10)
        tape.passed(11)
        #expect(tape.end == 10)
        tape.traded(12) { ["A"] }
        #expect(tape.end == 12)
        tape.changed(to: .live)
        tape.passed(13)
        #expect(tape.end == 13)
        tape.traded(12) { ["A"] }
        #expect(tape.end == 13)
    }

    @Test(
        "goes back to the newest trade when the feed is not live any more",
        arguments: [FeedStatus.Phase.late, .stale, .reconnecting(attempt: 1, retryAt: 0)]
    )
    func lost(phase: FeedStatus.Phase) {
        var tape = TapeCompleteness(10)
        tape.changed(to: .live)
        tape.traded(12) { ["A"] }
        tape.passed(17)
        tape.changed(to: phase)
        tape.passed(18)
        #expect(tape.end == 12)
        tape.gapEnded(19)
        tape.changed(to: phase)
        #expect(tape.end == 19)
        // After a silence without a gap nothing was missing.
        tape.changed(to: .live)
        tape.traded(25) { ["A"] }
        #expect(tape.end == 25)
    }

    @Test("stays where it was when the feed is stopped, or another ingest has taken over")
    func stopped() {
        for phase in [FeedStatus.Phase.stopped, .ended, nil] {
            var tape = TapeCompleteness(10)
            tape.changed(to: .live)
            tape.traded(12) { ["A"] }
            tape.passed(17)
            tape.changed(to: phase)
            tape.passed(18)
            #expect(tape.end == 17 && tape.proven == 12)
        }
    }

    @Test("filled trades prove nothing of the time at which they came")
    func filled() {
        var source = BatchSource()
        var batch = source.batch([Frames.trade(Frames.btc, "1"), Frames.trade(Frames.eth, "2")])
        var tape = TapeCompleteness(10)
        tape.changed(to: .live)
        for index in batch.trades.indices { batch.trades[index].marks = .filled }
        tape.read(batch, at: 20)
        #expect(tape.proven == 10)
        batch.trades[1].marks = []
        tape.read(batch, at: 30)
        #expect(tape.proven == 30)
    }

    @Test("in an outage of one feed each silent symbol has a gap of its own, from its newest trade in it")
    func outage() {
        let gap = Gap(from: 0, to: 0, reason: "x", nextSequence: 0)
        let second: Int64 = 1_000_000_000
        var tape = TapeCompleteness(10 * second)
        tape.changed(to: .live)
        tape.traded(13 * second) { ["A", "B"] }
        tape.changed(to: .late)
        #expect(tape.outageGaps(of: ["A", "B", "C"], gap).isEmpty)
        tape.traded(20 * second) { ["A"] }
        tape.changed(to: .reconnecting(attempt: 1, retryAt: 0))
        #expect(tape.proven == 20 * second && tape.end == tape.proven)
        func gaps() -> [String] {
            tape.outageGaps(of: ["A", "B", "C"], gap).map {
                "\($0.symbol ?? "") \($0.from / second) \($0.to / second) \($0.reason)"
            }
        }
        #expect(gaps() == ["B 13 20 x", "C 13 20 x"])
        // The feed of B is back, and that of A is lost, while the status has not been live between.
        tape.traded(30 * second) { ["B"] }
        #expect(gaps() == ["A 20 30 x", "C 13 30 x"])
        // What a gap has named is not named again.
        tape.gapEnded(35 * second)
        #expect(gaps().isEmpty)
        tape.traded(40 * second) { ["A"] }
        #expect(gaps() == ["B 35 40 x", "C 35 40 x"])
        tape.changed(to: .live)
        tape.traded(50 * second) { ["A"] }
        #expect(gaps().isEmpty)
    }
}
