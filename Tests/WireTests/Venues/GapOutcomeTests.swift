import Market
import NIOCore
import Testing
@testable import Wire

@Suite("GapOutcome")
struct GapOutcomeTests {
    private func sentence(
        _ missing: ClosedRange<UInt64>?,
        lost: [ClosedRange<UInt64>] = [],
        reason: String? = nil
    ) -> String {
        GapOutcome(symbol: "BINANCE:BTCUSDT", missing: missing, from: 0, to: 1, lost: lost, reason: reason).sentence
    }

    @Test("says in one line how many trades are filled, or which are lost and why")
    func sentences() {
        #expect(self.sentence(1...1_204) == "BINANCE:BTCUSDT: the 1,204 missing trades are filled")
        #expect(self.sentence(5...5) == "BINANCE:BTCUSDT: the missing trade is filled")
        #expect(
            self.sentence(1...99, lost: [5...16], reason: "the venue\nhas them no more")
                == "BINANCE:BTCUSDT: 12 trades are lost for good, ids 5 to 16: the venue␊has them no more"
        )
        #expect(self.sentence(nil) == "BINANCE:BTCUSDT: no trade is missing in the gap")
        #expect(self.sentence(1...9, lost: [5...5]) == "BINANCE:BTCUSDT: 1 trade is lost for good, id 5")
    }

    @Test("names three ranges of ids at most, and survives the largest numbers")
    func bounds() {
        let many = (1...9).map { UInt64($0) * 10...UInt64($0) * 10 }
        #expect(
            self.sentence(1...99, lost: many)
                == "BINANCE:BTCUSDT: 9 trades are lost for good, ids 10, 20, 30 and 6 more ranges"
        )
        let all: ClosedRange<UInt64> = 0...UInt64.max
        #expect(self.sentence(all, lost: [all, all]).contains("18,446,744,073,709,551,615"))
    }

    @Test("is a message with the ranges as strings of digits")
    func message() {
        let outcome = GapOutcome(
            symbol: "A:B",
            missing: 7...9,
            from: 1_000_000,
            to: 2_000_000,
            lost: [7...7, 9...9],
            reason: "r"
        )
        #expect(
            String(buffer: StreamEncoder.settled(outcome))
                == #"{"type":"settled","symbol":"A:B","from":1,"to":2,"missing":{"first":"7","last":"9","count":"3"},"lost":[{"first":"7","last":"7","count":"1"},{"first":"9","last":"9","count":"1"}],"reason":"r"}"#
        )
        let whole = GapOutcome(symbol: "A:B", missing: nil, from: 1_000_000, to: 2_000_000)
        #expect(
            String(buffer: StreamEncoder.settled(whole))
                == #"{"type":"settled","symbol":"A:B","from":1,"to":2,"lost":[],"reason":null}"#
        )
    }
}
