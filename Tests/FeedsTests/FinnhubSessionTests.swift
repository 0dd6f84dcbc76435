import Feeds
import Testing

@Suite("A Finnhub session")
struct FinnhubSessionTests {
    private let second: Int64 = 1_000_000_000

    private func session(_ symbols: [String] = ["A"]) -> FinnhubSession {
        FinnhubSession(symbols: symbols, settings: FinnhubSession.Settings(), now: 0)
    }

    @Test("is live with the first trade, late after five seconds without one, and live again")
    func freshness() {
        var session = self.session()
        #expect(session.freshness == .waiting)
        #expect(session.framesArrived(trades: 3, now: second) == .live)
        #expect(session.framesArrived(trades: 1, now: 2 * second) == nil)
        #expect(session.deadline == 7 * second)
        #expect(session.deadlineReached(now: 7 * second) == .report(.late))
        #expect(session.deadlineReached(now: 7 * second) == .none)
        #expect(session.framesArrived(trades: 1, now: 8 * second) == .live)
    }

    @Test("is late, not live, while only pings arrive")
    func pingsOnly() {
        var session = self.session()
        #expect(session.framesArrived(trades: 0, now: 3 * second) == nil)
        #expect(session.deadlineReached(now: 5 * second) == .report(.late))
        #expect(session.freshness == .late)
    }

    @Test("is dropped after ninety seconds without any frame, and a ping of the peer counts as one")
    func silence() {
        var session = self.session()
        _ = session.deadlineReached(now: 5 * second)
        session.signOfLifeArrived(now: 60 * second)
        #expect(session.deadline == 150 * second)
        #expect(session.deadlineReached(now: 149 * second) == .none)
        #expect(session.deadlineReached(now: 150 * second) == .drop(afterNanoseconds: 90 * second))
    }

    @Test("tells an error beside trades for a minute, and without trades for as long as there are none")
    func errors() {
        var session = self.session()
        var isNews = session.errorArrived("bad", now: 1 * second)
        #expect(isNews)
        isNews = session.errorArrived("bad", now: 2 * second)
        #expect(!isNews)
        _ = session.deadlineReached(now: 70 * second)
        #expect(session.lastError == "bad")
        _ = session.framesArrived(trades: 1, now: 71 * second)
        #expect(session.deadline == 62 * second)
        #expect(session.deadlineReached(now: 71 * second) == .report(.live))
        #expect(session.lastError == nil)
        isNews = session.errorArrived("bad", now: 80 * second)
        #expect(isNews)
    }

    @Test("asks for a symbol once, and refuses more than the limit")
    func wishes() {
        var session = self.session((0..<49).map { "S\($0)" })
        #expect(session.wished(for: "S3") == .known)
        #expect(session.wished(for: "S49") == .subscribe)
        #expect(session.wished(for: "S50") == .refused)
        #expect(session.symbols.count == 50)
    }

    @Test("knows for how long it carried trades")
    func tradedFor() {
        var session = self.session()
        #expect(session.tradedFor == 0)
        _ = session.framesArrived(trades: 1, now: 10 * second)
        _ = session.framesArrived(trades: 1, now: 75 * second)
        #expect(session.tradedFor == 65 * second)
    }
}
