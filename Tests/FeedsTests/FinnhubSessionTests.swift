import Feeds
import Testing

@Suite("A Finnhub session")
struct FinnhubSessionTests {
    private let second: Int64 = 1_000_000_000

    private func session() -> FinnhubSession {
        FinnhubSession(settings: FinnhubSession.Settings(), now: 0)
    }

    @Test("is dropped after ninety seconds without any frame, and a ping or pong of the peer counts as one")
    func silence() {
        var session = self.session()
        #expect(session.deadline(isLive: false) == 90 * second)
        session.signOfLifeArrived(now: 60 * second)
        #expect(session.deadline(isLive: false) == 150 * second)
        #expect(session.deadlineReached(now: 149 * second, isLive: false) == .none)
        session.framesArrived(hasTrades: false, now: 149 * second)
        #expect(session.deadlineReached(now: 150 * second, isLive: false) == .none)
        #expect(session.deadlineReached(now: 239 * second, isLive: true) == .drop(afterNanoseconds: 90 * second))
    }

    @Test("of a replay is never dropped")
    func replay() {
        var settings = FinnhubSession.Settings()
        settings.silentAfter = nil
        var session = FinnhubSession(settings: settings, now: 0)
        #expect(session.deadline(isLive: false) == nil)
        #expect(session.deadlineReached(now: 1_000_000 * second, isLive: false) == .none)
    }

    @Test("tells an error beside trades for a minute, and without trades for as long as there are none")
    func errors() {
        var session = self.session()
        var isNews = session.errorArrived("bad", now: 1 * second)
        #expect(isNews)
        isNews = session.errorArrived("bad", now: 2 * second)
        #expect(!isNews)
        #expect(session.deadlineReached(now: 70 * second, isLive: false) == .none)
        #expect(session.lastError == "bad")
        session.framesArrived(hasTrades: true, now: 71 * second)
        #expect(session.deadline(isLive: true) == 62 * second)
        #expect(session.deadlineReached(now: 71 * second, isLive: true) == .forgetError)
        #expect(session.lastError == nil)
        isNews = session.errorArrived("bad", now: 80 * second)
        #expect(isNews)
    }

    @Test("knows for how long it carried trades")
    func tradedFor() {
        var session = self.session()
        #expect(session.tradedFor == 0)
        session.framesArrived(hasTrades: true, now: 10 * second)
        session.framesArrived(hasTrades: false, now: 12 * second)
        session.framesArrived(hasTrades: true, now: 75 * second)
        #expect(session.tradedFor == 65 * second)
    }
}
