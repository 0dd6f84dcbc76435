import Ingest
import Market
import Testing

@Suite("Gaps")
struct GapTrackerTests {
    private let second: Int64 = 1_000_000_000

    private func moment(_ seconds: Int64) -> Moment {
        Moment(monotonic: seconds * second, wall: (1_000 + seconds) * second)
    }

    @Test("every interruption becomes one gap, from the last frame to the first trade")
    func oneGap() {
        var gaps = GapTracker()
        gaps.attempted()
        gaps.asked(moment(0))
        #expect(gaps.traded(received: 1, nextSequence: 1, epoch: 7) == nil)
        gaps.interrupted(from: 5, reason: "lost")
        gaps.attempted()
        gaps.asked(moment(1))
        let gap = gaps.traded(received: 9, nextSequence: 4, epoch: 7)
        #expect(gap == Gap(from: 5, to: 9, reason: "lost", nextSequence: 4, epoch: 7))
        #expect(gaps.traded(received: 10, nextSequence: 5, epoch: 7) == nil)
    }

    @Test("an interruption whose trades all come later is no gap, unless another one may hide more")
    func resumed() {
        var gaps = GapTracker()
        gaps.interrupted(from: 5, reason: "lost", isResumable: true)
        var isDropped = gaps.resumed(isComplete: true)
        #expect(isDropped && !gaps.isOpen)
        gaps.caughtUp()
        gaps.interrupted(from: 6, reason: "lost", isResumable: true)
        gaps.interrupted(from: 7, reason: "asleep")
        isDropped = gaps.resumed(isComplete: true)
        #expect(!isDropped)
        #expect(gaps.traded(received: 9, nextSequence: 4, epoch: 7)?.from == 6)
        gaps.interrupted(from: 10, reason: "lost", isResumable: true)
        isDropped = gaps.resumed(isComplete: false)
        #expect(!isDropped)
        gaps.interrupted(from: 11, reason: "lost", isResumable: true)
        isDropped = gaps.resumed(isComplete: true)
        #expect(!isDropped && gaps.isOpen)
    }

    @Test("an interruption before everything has come is the same gap, from its beginning")
    func resumedInPart() {
        for isComplete in [true, false] {
            var gaps = GapTracker()
            gaps.interrupted(from: 5, reason: "lost", isResumable: true)
            _ = gaps.resumed(isComplete: true)
            #expect(gaps.traded(received: 6, nextSequence: 3, epoch: 7) == nil)
            if isComplete { gaps.caughtUp() }
            gaps.interrupted(from: 6, reason: "gone", isResumable: true)
            _ = gaps.resumed(isComplete: false)
            let gap = gaps.traded(received: 9, nextSequence: 4, epoch: 7)
            #expect(gap?.from == (isComplete ? 6 : 5) && gap?.reason == (isComplete ? "gone" : "lost"))
        }
    }

    @Test("a gap stays open while connections end without a trade, keeps its first reason, and counts them")
    func flapping() {
        var gaps = GapTracker()
        gaps.interrupted(from: 5, reason: "lost")
        for number in 1...3 {
            gaps.attempted()
            gaps.asked(moment(Int64(number)))
            gaps.interrupted(from: 100, reason: "lost again")
            #expect(gaps.deadline(patience: 5 * second) == nil)
        }
        gaps.attempted()
        #expect(
            gaps.traded(received: 900, nextSequence: 4, epoch: 7)
                == Gap(from: 5, to: 900, reason: "lost, 4 attempts", nextSequence: 4, epoch: 7)
        )
    }

    @Test("if no trade comes the gap ends with the subscription, and is reported then")
    func noTrade() {
        var gaps = GapTracker()
        gaps.interrupted(from: 5, reason: "lost")
        gaps.asked(moment(10))
        #expect(gaps.deadline(patience: 5 * second) == 15 * second)
        #expect(gaps.deadlineReached(now: 14 * second, patience: 5 * second, nextSequence: 4, epoch: 7) == nil)
        let gap = gaps.deadlineReached(now: 15 * second, patience: 5 * second, nextSequence: 4, epoch: 7)
        #expect(gap?.to == 1_010 * second)
        #expect(!gaps.isOpen)
    }

    @Test("no period is reported twice, and a silence that is noticed late widens the gap")
    func reportedOnce() {
        var gaps = GapTracker()
        gaps.interrupted(from: 5, reason: "slept")
        #expect(gaps.traded(received: 9, nextSequence: 1, epoch: 7)?.from == 5)
        // The connection was dead all the while.
        gaps.interrupted(from: 5, reason: "our ping was not answered")
        let second = gaps.traded(received: 20, nextSequence: 1, epoch: 7)
        #expect(second?.from == 9 && second?.to == 20)
        // A symbol that has been silent since then, and another one after it.
        gaps.interrupted(from: 5, reason: "silent")
        #expect(gaps.traded(received: 30, nextSequence: 1, epoch: 7)?.from == 20)
        gaps.interrupted(from: 50, reason: "lost")
        gaps.interrupted(from: 40, reason: "silent before it")
        let last = gaps.traded(received: 60, nextSequence: 1, epoch: 7)
        #expect(last?.from == 40 && last?.reason == "lost")
    }

    @Test("a computer that slept is noticed by its clocks, a small correction of the clock is not")
    func sleep() {
        var watch = SleepDetector()
        #expect(watch.looked(Moment(monotonic: 0, wall: 0)) == nil)
        #expect(watch.looked(Moment(monotonic: 600 * second, wall: 605 * second)) == nil)
        #expect(watch.looked(Moment(monotonic: 601 * second, wall: 4_206 * second)) == 3_600 * second)
        #expect(watch.looked(Moment(monotonic: 602 * second, wall: 4_207 * second)) == nil)
        // The clock was set back, which is no sleep.
        #expect(watch.looked(Moment(monotonic: 603 * second, wall: 7 * second)) == nil)
    }

    @Test("losses are reported once a minute at most, and none is forgotten")
    func losses() {
        var report = LossReport()
        var counts = LossReport.Counts()
        #expect(report.take(counts, now: 0) == nil && report.deadline(counts) == nil)
        counts.malformedFrames = 1
        #expect(report.take(counts, now: 0)?.malformedFrames == 1)
        counts.malformedFrames = 1_000
        counts.leftOutFrames = 3
        #expect(report.take(counts, now: 59 * second) == nil)
        #expect(report.deadline(counts) == 60 * second)
        let news = report.take(counts, now: 60 * second)
        #expect(news?.malformedFrames == 999 && news?.leftOutFrames == 3)
        counts.malformedElements = 2
        #expect(report.takeAll(counts, now: 61 * second)?.malformedElements == 2)
        #expect(report.takeAll(counts, now: 61 * second) == nil)
    }
}
