import Market
import Testing
import Wire

@Suite("TapeCompleteness")
struct TapeCompletenessTests {
    @Test("grows by messages while the feed is live, and by trades")
    func live() {
        var tape = TapeCompleteness(10)
        tape.passed(11)
        tape.traded(12)
        #expect(tape.end == 10)
        tape.changed(to: .live)
        tape.passed(13)
        #expect(tape.end == 13)
        tape.traded(12)
        #expect(tape.end == 13)
    }

    @Test(
        "goes back to the newest trade when the feed is not live any more",
        arguments: [FeedStatus.Phase.late, .stale, .reconnecting(attempt: 1, retryAt: 0)]
    )
    func lost(phase: FeedStatus.Phase) {
        var tape = TapeCompleteness(10)
        tape.changed(to: .live)
        tape.traded(12)
        tape.passed(17)
        tape.changed(to: phase)
        tape.passed(18)
        #expect(tape.end == 12)
        tape.gapEnded(19)
        tape.changed(to: phase)
        #expect(tape.end == 19)
        // After a silence without a gap nothing was missing.
        tape.changed(to: .live)
        tape.traded(25)
        #expect(tape.end == 25)
    }

    @Test("stays where it was when the feed is stopped, or another ingest has taken over")
    func stopped() {
        for phase in [FeedStatus.Phase.stopped, .ended, nil] {
            var tape = TapeCompleteness(10)
            tape.changed(to: .live)
            tape.traded(12)
            tape.passed(17)
            tape.changed(to: phase)
            tape.passed(18)
            #expect(tape.end == 17 && tape.proven == 12)
        }
    }
}
