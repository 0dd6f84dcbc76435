import Feeds
import Testing

@Suite("A Finnhub session")
struct ConnectionMonitorTests {
    private let second: Int64 = 1_000_000_000

    private func session() -> ConnectionMonitor {
        ConnectionMonitor(settings: ConnectionMonitor.Settings(), now: 0)
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
        var settings = ConnectionMonitor.Settings()
        settings.silentAfter = nil
        var session = ConnectionMonitor(settings: settings, now: 0)
        #expect(session.deadline(isLive: false) == nil)
        #expect(session.deadlineReached(now: 1_000_000 * second, isLive: false) == .none)
    }

    @Test("shows an error beside trades for some seconds, and without trades until they come")
    func errors() {
        var session = self.session()
        var isNews = session.errorArrived("bad", isLive: false, now: 1 * second)
        #expect(isNews)
        isNews = session.errorArrived("bad", isLive: false, now: 2 * second)
        #expect(!isNews)
        #expect(session.deadlineReached(now: 70 * second, isLive: false) == .none)
        #expect(session.error(isLive: false, now: 70 * second) == "bad")
        session.framesArrived(hasTrades: true, now: 71 * second)
        #expect(session.error(isLive: true, now: 71 * second) == nil)
        #expect(session.deadline(isLive: true) == 6 * second)
        #expect(session.deadlineReached(now: 71 * second, isLive: true) == .forgetError)
        isNews = session.errorArrived("bad", isLive: true, now: 80 * second)
        #expect(isNews)
        #expect(session.error(isLive: true, now: 84 * second) == "bad")
        #expect(session.deadlineReached(now: 85 * second, isLive: true) == .forgetError)
    }

    @Test("does not keep showing an error that repeats beside trades, and reports it once a minute")
    func repeatedErrors() {
        var session = self.session()
        var reported: [Int64] = []
        for time in 0..<120 where time > 0 {
            if session.errorArrived("bad", isLive: true, now: Int64(time) * second) { reported.append(Int64(time)) }
            session.framesArrived(hasTrades: true, now: Int64(time) * second)
            _ = session.deadlineReached(now: Int64(time) * second, isLive: true)
            let isReported = reported.contains { (0..<5).contains(Int64(time) - $0) }
            #expect((session.error(isLive: true, now: Int64(time) * second) == nil) == !isReported)
        }
        #expect(reported == [1, 61])
    }

    @Test("reports one a second of a flood of different errors")
    func floodOfErrors() {
        var session = self.session()
        var reported = 0
        for number in 0..<20_000 {
            if session.errorArrived("bad \(number)", isLive: true, now: Int64(number) * 100_000) { reported += 1 }
        }
        #expect(reported == 2)
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
