import NIOCore
import Testing

@testable import Sinks

@Suite("The backlog of a lossless client")
struct BacklogTests {
    private func at(_ seconds: Int64) -> NIODeadline { .uptimeNanoseconds(0) + .seconds(seconds) }

    @Test("live: beyond the limit trades are left out and counted, and the count is told once it has read")
    func live() {
        var backlog = Backlog(limit: 100, patience: .seconds(10), feedWaits: false)
        #expect(backlog.offered(trades: 1, bytes: 1_000, waiting: 0, now: self.at(0)) == .write)
        #expect(backlog.offered(trades: 1, bytes: 40, waiting: 60, now: self.at(0)) == .write)
        backlog.becameUnwritable(waiting: 100, now: self.at(0))
        #expect(backlog.isWatched && !backlog.holdsUpFeed)
        #expect(backlog.offered(trades: 3, bytes: 41, waiting: 60, now: self.at(1)) == .leaveOut)
        #expect(backlog.isWatched && !backlog.holdsUpFeed)
        // Order would be lost if anything were written after something was left out.
        #expect(backlog.offered(trades: 2, bytes: 1, waiting: 0, now: self.at(2)) == .leaveOut)
        #expect(backlog.timePassed(waiting: 50, now: self.at(10)) == .keep)
        #expect(backlog.becameWritable() == .close(missed: 5))
        #expect(backlog.offered(trades: 2, bytes: 1, waiting: 0, now: self.at(2)) == .leaveOut)
        #expect(backlog.becameWritable() == .keep)
        #expect(!backlog.isWatched)
    }

    @Test("live: one that does not read what was queued is given up after its time")
    func liveStalled() {
        var backlog = Backlog(limit: 100, patience: .seconds(10), feedWaits: false)
        #expect(backlog.offered(trades: 7, bytes: 50, waiting: 60, now: self.at(1)) == .leaveOut)
        #expect(backlog.timePassed(waiting: 60, now: self.at(10)) == .keep)
        #expect(backlog.timePassed(waiting: 60, now: self.at(11)) == .close(missed: 7))
        #expect(backlog.timePassed(waiting: 60, now: self.at(30)) == .keep)
    }

    @Test("replay: the feed waits from the high mark to the low mark, and nothing is left out")
    func replay() {
        var backlog = Backlog(limit: 1_000, patience: .seconds(10), feedWaits: true)
        backlog.becameUnwritable(waiting: 300, now: self.at(0))
        #expect(backlog.holdsUpFeed && backlog.isWatched)
        #expect(backlog.offered(trades: 1, bytes: 100, waiting: 300, now: self.at(1)) == .write)
        #expect(backlog.becameWritable() == .keep)
        #expect(!backlog.holdsUpFeed && !backlog.isWatched)
    }

    @Test("replay: one that reads a little is waited for, one that reads nothing is not")
    func replayStalled() {
        var backlog = Backlog(limit: 1_000, patience: .seconds(10), feedWaits: true)
        backlog.becameUnwritable(waiting: 300, now: self.at(0))
        #expect(backlog.timePassed(waiting: 299, now: self.at(9)) == .keep)
        #expect(backlog.timePassed(waiting: 299, now: self.at(18)) == .keep)
        #expect(backlog.timePassed(waiting: 299, now: self.at(19)) == .close(missed: 0))
        #expect(!backlog.holdsUpFeed)
    }

    @Test("replay: a feed that does not wait when asked to meets the limit")
    func replayOverflow() {
        var backlog = Backlog(limit: 1_000, patience: .seconds(10), feedWaits: true)
        backlog.becameUnwritable(waiting: 300, now: self.at(0))
        #expect(backlog.offered(trades: 4, bytes: 701, waiting: 300, now: self.at(1)) == .leaveOut)
        #expect(!backlog.holdsUpFeed && backlog.isWatched)
        #expect(backlog.becameWritable() == .close(missed: 4))
    }

    @Test("one that leaves holds up nobody")
    func ends() {
        var backlog = Backlog(limit: 1_000, patience: .seconds(10), feedWaits: true)
        backlog.becameUnwritable(waiting: 300, now: self.at(0))
        backlog.ended()
        #expect(!backlog.holdsUpFeed && !backlog.isWatched)
    }

    @Test("live: messages are counted too, those that have left no more")
    func messages() {
        var backlog = Backlog(limit: 1_000, messageLimit: 10, patience: .seconds(10), feedWaits: false)
        #expect(backlog.offered(trades: 4, messages: 4, bytes: 40, waiting: 0, now: self.at(0)) == .write)
        backlog.leftWaiting(40, now: self.at(0))
        #expect(backlog.offered(trades: 6, messages: 6, bytes: 60, waiting: 40, now: self.at(0)) == .write)
        // The first four have left.
        #expect(backlog.offered(trades: 4, messages: 4, bytes: 40, waiting: 60, now: self.at(1)) == .write)
        #expect(backlog.offered(trades: 1, messages: 1, bytes: 10, waiting: 100, now: self.at(1)) == .leaveOut)
        #expect(backlog.timePassed(waiting: 0, now: self.at(2)) == .close(missed: 1))
    }

    @Test("live: one of whose writes nothing leaves for its time is given up, however little waits")
    func stalledBelowLimit() {
        var backlog = Backlog(limit: 1_000, patience: .seconds(10), feedWaits: false)
        #expect(backlog.offered(trades: 1, bytes: 50, waiting: 0, now: self.at(0)) == .write)
        backlog.leftWaiting(20, now: self.at(0))
        #expect(backlog.isWatched)
        #expect(backlog.timePassed(waiting: 10, now: self.at(9)) == .keep)
        #expect(backlog.offered(trades: 1, bytes: 50, waiting: 10, now: self.at(10)) == .write)
        #expect(backlog.timePassed(waiting: 60, now: self.at(18)) == .keep)
        #expect(backlog.timePassed(waiting: 60, now: self.at(19)) == .close(missed: 0))
    }

    @Test("live: one that reads all again is watched no more")
    func recovers() {
        var backlog = Backlog(limit: 1_000, patience: .seconds(10), feedWaits: false)
        backlog.leftWaiting(20, now: self.at(0))
        #expect(backlog.timePassed(waiting: 0, now: self.at(60)) == .keep)
        #expect(!backlog.isWatched)
    }

    @Test("live: who chose the newest goes on once it has read, and gets the count once")
    func latest() {
        var backlog = Backlog(limit: 100, patience: .seconds(10), feedWaits: false, overflow: .latest)
        #expect(backlog.offered(trades: 7, bytes: 50, waiting: 60, now: self.at(1)) == .leaveOut)
        #expect(backlog.lost(trades: 2) == .keep)
        #expect(backlog.timePassed(waiting: 60, now: self.at(60)) == .keep)
        #expect(backlog.takeSkipped() == 0)
        #expect(backlog.becameWritable() == .keep)
        #expect(backlog.takeSkipped() == 9)
        #expect(backlog.takeSkipped() == 0)
        #expect(backlog.offered(trades: 1, bytes: 50, waiting: 0, now: self.at(61)) == .write)
        #expect(backlog.lost(trades: 3) == .keep)
        #expect(backlog.takeSkipped() == 3)
    }

    @Test("live: who chose the newest and reads nothing is behind after its time")
    func latestStalled() {
        var backlog = Backlog(limit: 100, patience: .seconds(10), feedWaits: false, overflow: .latest)
        backlog.leftWaiting(60, now: self.at(0))
        #expect(backlog.timePassed(waiting: 60, now: self.at(10)) == .keep)
        #expect(backlog.offered(trades: 2, bytes: 10, waiting: 60, now: self.at(11)) == .leaveOut)
        #expect(backlog.timePassed(waiting: 0, now: self.at(12)) == .keep)
        #expect(backlog.takeSkipped() == 2)
    }
}
