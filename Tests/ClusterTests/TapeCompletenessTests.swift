import Market
import Testing
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

    @Test("in an outage of one feed, the symbols of the others go on, and the rest has a gap of its own")
    func outage() {
        let gap = Gap(from: 0, to: 0, reason: "x", nextSequence: 0)
        var tape = TapeCompleteness(10)
        tape.changed(to: .live)
        tape.traded(12) { ["A"] }
        tape.traded(13) { ["B"] }
        tape.changed(to: .late)
        #expect(tape.outageGaps(of: ["A", "B", "C"], gap).isEmpty)
        tape.traded(20) { ["A"] }
        tape.changed(to: .reconnecting(attempt: 1, retryAt: 0))
        #expect(tape.proven == 20)
        let gaps = tape.outageGaps(of: ["A", "B", "C"], gap)
        #expect(gaps.map(\.symbol) == ["B", "C"])
        #expect(gaps.allSatisfy { $0.from == 13 && $0.to == 20 && $0.reason == "x" })
        // What a gap has named is not named again.
        tape.gapEnded(25)
        #expect(tape.outageGaps(of: ["A", "B"], gap).isEmpty)
        tape.traded(30) { ["A"] }
        #expect(tape.outageGaps(of: ["A", "B"], gap).map(\.from) == [25])
        tape.changed(to: .live)
        tape.traded(31) { ["A"] }
        #expect(tape.outageGaps(of: ["A", "B"], gap).isEmpty)
    }
}
