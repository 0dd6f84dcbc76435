import Market
import Testing
import TickertapeTesting
import Wire
@testable import Ingest

@Suite("Ids that begin anew")
struct NewIDsTests {
    private let feed = NumberedFeed()
    private let proof = Int(NewIDs.proof)

    @Test("from a small number are believed after a hundred trades, which are named as missing")
    func smaller() {
        self.feed.read("BTC:900000", "BTC:900001")
        for id in 1..<self.proof { self.feed.read("BTC:\(id)@\(900_001 + id)") }
        #expect(self.feed.trades.count == 2 && self.feed.log.contents.gaps.isEmpty)
        self.feed.read("BTC:100@900200")
        self.feed.read("BTC:101@900201")
        #expect(self.feed.trades.suffix(2) == ["BTC:100", "BTC:101"])
        #expect(self.feed.reasons == ["BTC: the venue began its ids anew at 1: 99 trades missing, ids 1 to 99"])
        // What was left out may still come.
        self.feed.read("BTC:7~", "BTC:900002")
        #expect(self.feed.trades.suffix(2) == ["BTC:7+", "BTC:900002"])
        #expect(self.feed.log.contents.gaps.last?.missing == 102...900_001)
    }

    @Test("after a single absurd id are believed, and what they fill is on the tape")
    func glitch() {
        self.feed.read("BTC:1", "BTC:2", "BTC:1000000000000@3")
        for id in 3...self.proof + 3 { self.feed.read("BTC:\(id)@\(id + 1)") }
        #expect(self.feed.trades.suffix(3) == ["BTC:101+", "BTC:102", "BTC:103"])
        #expect(self.feed.reasons.last == "BTC: the venue began its ids anew at 3")
        #expect(self.feed.input.missing.isEmpty)
    }

    @Test("are not believed of trades that are older than the newest, or that do not continue")
    func repeats() {
        for id in 1...300 { self.feed.read("BTC:\(id)") }
        for id in 1...300 { self.feed.read("BTC:\(id)") }
        for id in 1...150 { self.feed.read("BTC:\(id * 2)@\(900 + id)") }
        // A newer trade between them proves that the venue goes on.
        for id in 1...150 {
            if id == 75 { self.feed.read("BTC:301@300") }
            self.feed.read("BTC:\(id)@\(900 + id)")
        }
        #expect(self.feed.trades.count == 301 && self.feed.log.contents.gaps.isEmpty)
        #expect(self.feed.frames.losses.repeatedTrades == 600)
    }
}
