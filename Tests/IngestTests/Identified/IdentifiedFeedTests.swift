import Market
import NIOCore
import Testing
import TickertapeTesting
import Wire
@testable import Ingest

@Suite("A feed whose trades have ids")
struct IdentifiedFeedTests {
    private let feed = NumberedFeed()

    @Test("behind another program's tape there is one gap before the first trade, and its ids show the later ones")
    func tookOver() {
        let feed = NumberedFeed(symbols: ["BTC"])
        feed.tape.tookOver(TapeCompleteness(5 * oneSecond), reason: "taken over")
        feed.read("BTC:5")
        feed.read("BTC:6")
        #expect(feed.log.contents.order == ["gap", "read 1", "read 1"])
        let gap = feed.log.contents.gaps.first
        #expect(gap?.from == 5 * oneSecond && gap?.to == feed.now.wall && gap?.cause == .replaced)
        #expect(gap?.reason == "taken over" && gap?.nextSequence == 1)
        feed.read("BTC:9")
        feed.passTime(to: feed.second + 2)
        #expect(feed.log.contents.gaps.count == 2 && feed.log.contents.gaps.last?.cause != .replaced)
    }

    @Test("behind another program's tape the first trade of a symbol shows the ids that are missing, and repeats")
    func tookOverIDs() {
        var complete = TapeCompleteness(5 * oneSecond)
        let before = NumberedFeed()
        before.read("BTC:5 ETH:70", "XRP:1")
        for symbol in ["BTC", "ETH", "XRP"] { complete.subscribed(symbol, at: 5 * oneSecond) }
        for batch in before.frames.batches { complete.read(batch, at: 6 * oneSecond) }
        complete.released("XRP")
        let feed = NumberedFeed(symbols: ["BTC", "ETH", "XRP", "NEW"])
        feed.tape.tookOver(complete, reason: "taken over")
        feed.read("XRP:9", "NEW:3", "ETH:69", "ETH:70", "ETH:71", "BTC:9")
        #expect(feed.trades == ["XRP:9", "NEW:3", "ETH:71", "BTC:9"])
        #expect(feed.frames.repeated == [69, 70])
        let gaps = feed.log.contents.gaps
        #expect(gaps.map(\.missing) == [nil, 6...8] && gaps.map(\.symbol) == [nil, "BTC"])
        #expect(gaps.allSatisfy { $0.from == 6 * oneSecond && $0.cause == .replaced })
        #expect(gaps.allSatisfy { $0.reason.hasPrefix("taken over") })
        #expect(feed.found == [[6...8]] && feed.input.missing.map(\.symbol) == ["BTC"])
        feed.read("ETH:73")
        #expect(feed.log.contents.gaps.last?.missing == 72...72 && feed.log.contents.gaps.last?.cause == nil)
    }

    @Test("trades that a program fills at its beginning come once, whatever takes over before the next live one")
    func tookOverFilled() {
        var complete = TapeCompleteness(5 * oneSecond)
        complete.subscribed("BTC", at: 5 * oneSecond)
        var trades: [String] = []
        for snapshot in ["BTC:5", "BTC:4~ BTC:5~ BTC:7~", "BTC:5~ BTC:7~ BTC:8~"] {
            let feed = NumberedFeed(symbols: ["BTC"])
            if !trades.isEmpty { feed.tape.tookOver(complete, reason: "taken over") }
            feed.read(snapshot)
            for batch in feed.frames.batches { complete.read(batch, at: 6 * oneSecond) }
            trades += feed.trades
        }
        #expect(trades == ["BTC:5", "BTC:7+", "BTC:8+"])
    }

    @Test("leaves out trades whose ids were seen, and says so in the frame and in the losses")
    func repeats() {
        self.feed.read("BTC:1 BTC:2", "BTC:3")
        self.feed.read("BTC:2 BTC:3 BTC:4", "BTC:3")
        #expect(self.feed.trades == ["BTC:1", "BTC:2", "BTC:3", "BTC:4"])
        #expect(self.feed.frames.frames.map(\.isWhole) == [true, true, false, false])
        #expect(self.feed.frames.frames.map(\.leftOut) == [[], [], [0, 1], [0]])
        #expect(self.feed.frames.frames.map(\.trades) == [0..<2, 2..<3, 0..<1, 1..<1])
        #expect(self.feed.frames.losses.repeatedTrades == 3)
    }

    @Test("compares no frames and no contents")
    func contents() {
        // The trades differ by their ids alone, and a frame without news is the same text.
        for _ in 0..<50 { self.feed.read("BTC:9") }
        for id in 10...60 { self.feed.read("BTC:\(id)@5") }
        #expect(self.feed.trades.count == 52)
        #expect(self.feed.log.contents.trades.allSatisfy { $0.marks.isEmpty })
        #expect(self.feed.frames.losses.repeatedFrames == 0 && self.feed.frames.losses.possibleRepeats == 0)
    }

    @Test("publishes each hole between the trades before and after it")
    func order() {
        self.feed.read("BTC:1", "ETH:1", at: 1)
        self.feed.read("BTC:2", "BTC:5", "ETH:2", "ETH:4", "BTC:6", at: 3)
        #expect(self.feed.log.contents.order == ["read 2", "read 1", "gap", "read 2", "gap", "read 2"])
        #expect(self.feed.log.contents.gaps.map(\.nextSequence) == [4, 6])
        #expect(self.feed.log.contents.gaps.map(\.missing) == [3...4, 3...3])
        #expect(self.feed.log.contents.gaps.map(\.epoch) == [7, 7])
        #expect(self.feed.log.contents.sequences == [1, 2, 3, 4, 5, 6, 7])
        #expect(self.feed.trades.suffix(5) == ["BTC:2", "BTC:5", "ETH:2", "ETH:4", "BTC:6"])
        #expect(self.feed.frames.frames.suffix(5).map { String(buffer: $0.bytes) }.first == "BTC:2")
        #expect(self.feed.frames.frames.suffix(3).map(\.trades) == [1..<2, 0..<1, 1..<2])
        // The hole's arrivals: those of the newest trade before it and of the trade that shows it.
        #expect(self.feed.log.contents.gaps.map(\.from) == [5_003 * oneSecond, 5_003 * oneSecond])
        #expect(self.feed.live == [1, 1, 2, 5, 2, 4, 6] && self.feed.ends.map(\.hasTrades) == [true, true])
    }

    @Test("names count, ids and the interruption, from the last frame before it to the trade that shows the hole")
    func reason() {
        self.feed.read("BTC:3735684462", "ETH:5", at: 10)
        self.feed.read("ETH:6", at: 12)
        self.feed.cut("the service closed the connection", cause: .lost)
        self.feed.reconnect()
        #expect(!self.feed.input.isInterrupted)
        self.feed.passTime(to: 100)
        #expect(self.feed.input.deadline(patience: oneSecond) == nil && self.feed.log.contents.gaps.isEmpty)
        self.feed.read("ETH:7", "BTC:3735685667", at: 120)
        #expect(
            self.feed.log.contents.gaps == [
                Gap(
                    from: 5_012 * oneSecond,
                    to: 5_120 * oneSecond,
                    reason: "the service closed the connection: "
                        + "1,204 trades missing, ids 3735684463 to 3735685666",
                    nextSequence: 5,
                    epoch: 7,
                    cause: .lost,
                    symbol: "BTC",
                    missing: 3_735_684_463...3_735_685_666
                )
            ]
        )
        #expect(
            self.feed.input.missing == [
                MissingTrades(
                    symbol: "BTC",
                    holes: [.init(ids: 3_735_684_463...3_735_685_666, after: 3_735_684_462)]
                )
            ]
        )
    }

    @Test("has no gap after a silence or a sleep that lost nothing")
    func silence() {
        self.feed.read("BTC:1", at: 10)
        self.feed.input.silenceEnded(from: 1, reason: "silent", cause: .stale)
        // The wall clock is an hour ahead of the monotonic one.
        self.feed.say("BTC:2")
        self.feed.input.endRead(wall: self.feed.now.wall + 3_600 * oneSecond)
        #expect(self.feed.log.contents.gaps.isEmpty && !self.feed.input.isInterrupted)
        // The symbol that missed something has the sleep as its reason.
        self.feed.read("ETH:1", at: 3_700)
        self.feed.say("ETH:3")
        self.feed.input.endRead(wall: self.feed.now.wall + 7_200 * oneSecond)
        #expect(self.feed.log.contents.gaps.map(\.cause) == [.sleep])
        #expect(self.feed.reasons.first?.hasSuffix("s ahead: 1 trade missing, id 2") == true)
    }

    @Test("marks late trades, which change no status")
    func late() {
        self.feed.read("BTC:1", "BTC:5", at: 1)
        self.feed.read("BTC:3", at: 2)
        self.feed.read("BTC:2 BTC:6 BTC:3", at: 3)
        #expect(self.feed.trades == ["BTC:1", "BTC:5", "BTC:3+", "BTC:2+", "BTC:6"])
        #expect(self.feed.live == [1, 5, 6] && self.feed.ends.map(\.hasTrades) == [true, false, true])
        #expect(self.feed.input.missing == [MissingTrades(symbol: "BTC", holes: [.init(ids: 4...4, after: 3)])])
        #expect(self.feed.log.contents.gaps.count == 1)
    }

    @Test("publishes what a venue reported and did not send within a second")
    func heartbeats() {
        self.feed.read("BTC:7", at: 1)
        self.feed.say("BTC:8")
        // The trades of the same read came before the report.
        self.feed.input.newestReported(10, of: "BTC", now: self.feed.now)
        self.feed.input.endRead(wall: self.feed.now.wall)
        #expect(self.feed.ends.last?.hasChanges == true)
        #expect(self.feed.input.deadline(patience: 60 * oneSecond) == 2 * oneSecond)
        self.feed.second = 3
        self.feed.say("ETH:1")
        // A read that has not ended may hold them.
        self.feed.passTime(to: 3)
        #expect(self.feed.log.contents.gaps.isEmpty)
        self.feed.input.endRead(wall: self.feed.now.wall)
        self.feed.passTime(to: 4)
        #expect(self.feed.reasons == ["BTC: 2 trades missing, ids 9 to 10"])
        #expect(self.feed.log.contents.gaps.first?.to == 5_001 * oneSecond)
        #expect(self.feed.log.contents.gaps.first?.nextSequence == 4)
        #expect(self.feed.input.deadline(patience: 60 * oneSecond) == nil)
        self.feed.input.newestReported(10, of: "BTC", now: self.feed.now)
        self.feed.read("BTC:11", at: 5)
        #expect(self.feed.log.contents.gaps.count == 1)
    }

    @Test("knows its ids when symbols get new numbers")
    func renewal() {
        self.feed.read("ETH:50", "BTC:1")
        for number in 1...SymbolTable.capacity - 100 { self.feed.say("NAME\(number):1") }
        self.feed.input.endRead(wall: self.feed.now.wall)
        #expect(self.feed.tape.epoch == 8)
        self.feed.read("BTC:3", "BTC:1", "ETH:51", "NAME9:1")
        #expect(self.feed.trades.suffix(2) == ["BTC:3", "ETH:51"])
        #expect(self.feed.log.contents.gaps.map(\.missing) == [2...2])
        #expect(self.feed.log.contents.gaps.map(\.epoch) == [8])
    }

    @Test("does not renew the symbols' numbers between the parts of a read")
    func renewalOfParts() {
        self.feed.read("BTC:1")
        for number in 1...SymbolTable.capacity - 100 { self.feed.say("NAME\(number):1") }
        self.feed.say("BTC:3")
        self.feed.input.endRead(wall: self.feed.now.wall)
        #expect(self.feed.log.contents.gaps.map(\.epoch) == [7])
        #expect(self.feed.trades.last == "BTC:3" && self.feed.tape.epoch == 8)
    }

    @Test("begins anew where a replay is moved, and takes a recorded gap of ids from the ids")
    func replay() {
        let marks = FrameMarks()
        let feed = NumberedFeed(marks: marks)
        feed.input.connectionOpened(port: 1, now: feed.now)
        feed.read("BTC:1", "BTC:2")
        marks.post(.gap(Gap(from: 1, to: 2, reason: "lost", nextSequence: 3, missing: 3...4)), after: 2, on: 1)
        feed.read("BTC:5")
        #expect(feed.reasons == ["BTC: 2 trades missing, ids 3 to 4"])
        marks.post(.changed(movedBecause: "moved", isPaused: false, speed: 1), after: 3, on: 1)
        feed.read("BTC:1", "BTC:2")
        #expect(feed.trades == ["BTC:1", "BTC:2", "BTC:5", "BTC:1", "BTC:2"])
        #expect(feed.reasons.last == "all: moved")
    }
}
