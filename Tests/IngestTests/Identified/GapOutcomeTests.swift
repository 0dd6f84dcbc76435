import Market
import Testing
import TickertapeTesting
import Wire
@testable import Ingest

@Suite("The outcome of a gap with ids")
struct GapOutcomeTests {
    private let feed = NumberedFeed()

    private var outcomes: [String] {
        self.feed.log.contents.outcomes.map { outcome in
            let lost = outcome.lost.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: ",")
            let missing = outcome.missing.map { "\($0.lowerBound)-\($0.upperBound)" } ?? "none"
            let ids = "\(outcome.symbol) \(missing)"
            return outcome.isComplete ? ids : "\(ids) lost \(lost): \(outcome.reason ?? "?")"
        }
    }

    private func giveUp(_ ids: ClosedRange<UInt64>, _ reason: String = "too old") {
        self.feed.input.giveUp(ids, of: "BTC", reason: reason, now: self.feed.now)
    }

    @Test("is told once, after the trade that completes it, with the gap's times")
    func complete() {
        self.feed.read("BTC:1", "BTC:5", "ETH:7", at: 3)
        self.feed.read("BTC:3", at: 4)
        self.feed.read("BTC:2 BTC:4", "ETH:8", at: 5)
        self.feed.read("BTC:2 BTC:3 BTC:4 BTC:6", at: 6)
        #expect(self.feed.log.contents.order.suffix(3) == ["read 3", "settled", "read 1"])
        let gap = self.feed.log.contents.gaps.first
        #expect(
            self.feed.log.contents.outcomes == [
                GapOutcome(symbol: "BTC", missing: 2...4, from: gap?.from ?? 0, to: gap?.to ?? 0)
            ]
        )
    }

    @Test("is none where the trades came within the read that showed the hole")
    func sameRead() {
        self.feed.read("BTC:1", "BTC:4", "BTC:2", "BTC:3")
        #expect(self.feed.log.contents.gaps.isEmpty && self.outcomes.isEmpty)
        // Only what is missing at the end of the read has a gap.
        self.feed.read("BTC:9", "BTC:7")
        self.feed.read("BTC:5", "BTC:6")
        self.feed.read("BTC:8")
        #expect(self.outcomes == ["BTC 5-6", "BTC 8-8"])
    }

    @Test("names what is lost for good, once nothing is waited for")
    func lost() {
        self.feed.read("BTC:1", "BTC:10", "BTC:15")
        self.giveUp(5...6, "first")
        self.giveUp(7...7, "second")
        #expect(self.outcomes.isEmpty && self.feed.input.missing.flatMap(\.ids) == [2...4, 8...9, 11...14])
        self.feed.read("BTC:3", "BTC:2")
        self.feed.read("BTC:8")
        self.giveUp(4...12, "third")
        #expect(self.outcomes == ["BTC 2-9 lost 4-7,9-9: third"])
        #expect(self.feed.input.missing.flatMap(\.ids) == [13...14])
        self.giveUp(0 ... .max)
        #expect(self.outcomes.last == "BTC 11-14 lost 11-14: too old" && self.outcomes.count == 2)
        // Neither what is not missing nor an unknown symbol has an outcome.
        self.giveUp(0 ... .max)
        self.feed.input.giveUp(1...9, of: "NONE", reason: "none", now: self.feed.now)
        #expect(self.outcomes.count == 2 && self.feed.input.missing.isEmpty)
    }

    @Test("is not changed by a lost trade that comes nevertheless, which is filled in once")
    func lateAfterLoss() {
        self.feed.read("BTC:1", "BTC:5")
        self.giveUp(2...4)
        self.feed.read("BTC:3", "BTC:3", "BTC:6")
        #expect(self.feed.trades == ["BTC:1", "BTC:5", "BTC:3+", "BTC:6"])
        #expect(self.outcomes == ["BTC 2-4 lost 2-4: too old"])
        #expect(self.feed.frames.repeated == [3])
    }

    @Test("waits for the trades of a read that has not ended")
    func amidRead() {
        self.feed.read("BTC:1", "BTC:3")
        self.feed.say("BTC:2")
        self.giveUp(2...2)
        #expect(self.outcomes == ["BTC 2-2"] && self.feed.trades.last == "BTC:2+")
    }

    @Test("is a loss where the symbol is unsubscribed, and what comes then is no hole")
    func unsubscribed() {
        self.feed.read("BTC:1", "BTC:4", "ETH:1", "ETH:3")
        self.feed.input.symbols = ["ETH"]
        #expect(self.outcomes == ["BTC 2-3 lost 2-3: the symbol was unsubscribed"])
        #expect(self.feed.input.missing.map(\.symbol) == ["ETH"])
        self.feed.read("BTC:9")
        self.feed.input.symbols = ["ETH", "BTC"]
        self.feed.read("BTC:20", "BTC:22")
        #expect(self.feed.input.missing.map(\.ids) == [[21...21], [2...2]])
    }

    @Test("is a loss where the venue begins its ids anew")
    func newIDs() {
        self.feed.read("BTC:900@1", "BTC:905@2")
        for id in 1...NewIDs.proof { self.feed.read("BTC:\(id)@\(10 + id)") }
        #expect(self.outcomes == ["BTC 901-904 lost 901-904: the venue began its ids anew at 1"])
        // A number of before means another trade now.
        #expect(self.feed.input.missing.flatMap(\.ids) == [1...NewIDs.proof - 1])
        self.feed.read("BTC:5@15")
        #expect(self.feed.trades.last == "BTC:5+")
    }

    @Test("is a loss of the oldest hole where there are too many")
    func tooMany() {
        self.feed.read("BTC:0")
        for place in 1...UInt64(MissingIDs.limit) { self.feed.read("BTC:\(place * 10)") }
        #expect(self.outcomes.isEmpty)
        self.feed.read("BTC:5")
        #expect(self.outcomes.isEmpty)
        self.feed.read("BTC:15")
        #expect(self.outcomes == ["BTC 1-9 lost 1-4,6-9: more than 256 separate holes"])
    }

    @Test("is bounded where a gap is scattered, and then the rest of the gap is lost")
    func scattered() {
        let end: UInt64 = 2_000
        self.feed.read("BTC:0", "BTC:\(end)")
        for id in stride(from: 2, to: end, by: 2) { self.feed.read("BTC:\(id)") }
        let outcome = self.feed.log.contents.outcomes.first
        #expect(self.outcomes.count == 1 && outcome?.missing == 1...end - 1)
        #expect((MissingIDs.limit...2 * MissingIDs.limit + 1).contains(outcome?.lost.count ?? 0))
        #expect(self.feed.input.missing.isEmpty)
        // The trades themselves are all on the tape.
        #expect(self.feed.trades.count == Int(end) / 2 + 1)
    }

    @Test("is not told where a replay is moved")
    func moved() {
        let marks = FrameMarks()
        let feed = NumberedFeed(marks: marks)
        feed.input.connectionOpened(port: 1, now: feed.now)
        feed.read("BTC:1", "BTC:3")
        marks.post(.changed(movedBecause: "moved", isPaused: false, speed: 1), after: 2, on: 1)
        feed.read("BTC:1", "BTC:2", "BTC:3")
        #expect(feed.log.contents.outcomes.isEmpty && feed.found.isEmpty)
    }
}

@Suite("Missing trades")
struct MissingTradesTests {
    private let feed = NumberedFeed()

    @Test("have the time of the newest trade before them")
    func after() {
        self.feed.read("BTC:1@100", "BTC:9@900", "BTC:12@1200")
        #expect(
            self.feed.input.missing.first?.holes == [.init(ids: 2...8, after: 100), .init(ids: 10...11, after: 900)]
        )
        self.feed.read("BTC:4@400", "BTC:2@200", "BTC:8@800")
        self.feed.input.giveUp(5...5, of: "BTC", reason: "none", now: self.feed.now)
        #expect(
            self.feed.input.missing.first?.holes == [
                .init(ids: 3...3, after: 200), .init(ids: 6...7, after: 400), .init(ids: 10...11, after: 900),
            ]
        )
    }

    @Test("have no such time where only a report was before them")
    func afterReport() {
        self.feed.input.newestReported(7, of: "BTC", now: self.feed.now)
        self.feed.read("BTC:9@900")
        #expect(self.feed.input.missing.first?.holes == [.init(ids: 8...8)])
    }

    @Test("are told each time more of them are found, after their gaps")
    func found() {
        self.feed.read("BTC:1", "ETH:1")
        self.feed.read("BTC:3", "ETH:4")
        self.feed.read("BTC:2", "ETH:5")
        self.feed.input.newestReported(6, of: "BTC", now: self.feed.now)
        self.feed.passTime(to: self.feed.second + 1)
        #expect(self.feed.found == [[2...2, 2...3], [4...6, 2...3]])
    }
}
