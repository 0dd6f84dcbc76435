import NIOCore
import Testing
@testable import Relay

@Suite("The backlog of a lossless client")
struct BacklogTests {
    private func at(_ seconds: Int64) -> NIODeadline { .uptimeNanoseconds(0) + .seconds(seconds) }

    @Test("live: beyond the limit trades are left out, counted, and reported once the client has read")
    func live() {
        var backlog = Backlog(limit: 100, patience: .seconds(10), feedWaits: false)
        #expect(backlog.offered(trades: 1, bytes: 1_000, waiting: 0, now: self.at(0)) == .write)
        #expect(backlog.offered(trades: 1, bytes: 40, waiting: 60, now: self.at(0)) == .write)
        backlog.becameUnwritable(drained: 0, now: self.at(0))
        #expect(backlog.isWatched && !backlog.holdsUpFeed)
        #expect(backlog.offered(trades: 3, bytes: 41, waiting: 60, now: self.at(1)) == .leaveOut)
        #expect(backlog.isWatched && !backlog.holdsUpFeed)
        // A write after a trade was left out would break the order.
        #expect(backlog.offered(trades: 2, bytes: 1, waiting: 0, now: self.at(2)) == .leaveOut)
        #expect(backlog.timePassed(drained: 50, waiting: 1, now: self.at(10)) == .keep)
        #expect(backlog.becameWritable() == .close(missed: 5))
        #expect(backlog.offered(trades: 2, bytes: 1, waiting: 0, now: self.at(2)) == .leaveOut)
        #expect(backlog.becameWritable() == .keep)
        #expect(!backlog.isWatched)
    }

    @Test("live: a client that does not read its queue is closed after its time")
    func liveStalled() {
        var backlog = Backlog(limit: 100, patience: .seconds(10), feedWaits: false)
        #expect(backlog.offered(trades: 7, bytes: 50, waiting: 60, now: self.at(1)) == .leaveOut)
        #expect(backlog.timePassed(drained: 0, waiting: 1, now: self.at(10)) == .keep)
        #expect(backlog.timePassed(drained: 0, waiting: 1, now: self.at(11)) == .close(missed: 7))
        #expect(backlog.timePassed(drained: 0, waiting: 1, now: self.at(30)) == .keep)
    }

    @Test("replay: the feed waits from the high mark to the low mark, and nothing is left out")
    func replay() {
        var backlog = Backlog(limit: 1_000, patience: .seconds(10), feedWaits: true)
        backlog.becameUnwritable(drained: 0, now: self.at(0))
        #expect(backlog.holdsUpFeed && backlog.isWatched)
        #expect(backlog.offered(trades: 1, bytes: 100, waiting: 300, now: self.at(1)) == .write)
        #expect(backlog.becameWritable() == .keep)
        #expect(!backlog.holdsUpFeed && !backlog.isWatched)
    }

    @Test("replay: the feed waits for a client that reads a little, and not for one that reads nothing")
    func replayStalled() {
        var backlog = Backlog(limit: 1_000, patience: .seconds(10), feedWaits: true)
        backlog.becameUnwritable(drained: 0, now: self.at(0))
        #expect(backlog.timePassed(drained: 1, waiting: 1, now: self.at(9)) == .keep)
        #expect(backlog.timePassed(drained: 1, waiting: 1, now: self.at(18)) == .keep)
        #expect(backlog.timePassed(drained: 1, waiting: 1, now: self.at(19)) == .close(missed: 0))
        #expect(!backlog.holdsUpFeed)
    }

    @Test("replay: a feed that does not wait when asked to meets the limit")
    func replayOverflow() {
        var backlog = Backlog(limit: 1_000, patience: .seconds(10), feedWaits: true)
        backlog.becameUnwritable(drained: 0, now: self.at(0))
        #expect(backlog.offered(trades: 4, bytes: 701, waiting: 300, now: self.at(1)) == .leaveOut)
        #expect(!backlog.holdsUpFeed && backlog.isWatched)
        #expect(backlog.becameWritable() == .close(missed: 4))
    }

    @Test("live: many small messages are too much as well as many bytes")
    func messages() {
        var backlog = Backlog(limit: 1 << 20, messageLimit: 10, patience: .seconds(10), feedWaits: false)
        #expect(
            backlog.offered(trades: 2, bytes: 9, messages: 2, waiting: 60, waitingMessages: 8, now: self.at(0))
                == .write
        )
        #expect(
            backlog.offered(trades: 2, bytes: 9, messages: 2, waiting: 60, waitingMessages: 9, now: self.at(0))
                == .leaveOut
        )
        #expect(backlog.isBehind)
    }

    @Test("live: a client that reads nothing in time is behind though little waits; one that reads a little is not")
    func noProgress() {
        var backlog = Backlog(limit: 1_000, patience: .seconds(10), feedWaits: false)
        backlog.becameUnwritable(drained: 500, now: self.at(0))
        #expect(backlog.timePassed(drained: 501, waiting: 1, now: self.at(9)) == .keep)
        #expect(backlog.timePassed(drained: 501, waiting: 1, now: self.at(18)) == .keep)
        #expect(backlog.timePassed(drained: 501, waiting: 1, now: self.at(19)) == .close(missed: 0))
    }

    @Test("live: a client that has chosen to go on does, with the count, and may be slow again")
    func goesOn() {
        var backlog = Backlog(limit: 100, patience: .seconds(10), feedWaits: false, closes: false)
        for _ in 0..<2 {
            #expect(backlog.offered(trades: 7, bytes: 50, waiting: 60, now: self.at(1)) == .leaveOut)
            #expect(backlog.isWatched && backlog.timePassed(drained: 0, waiting: 1, now: self.at(1_000)) == .keep)
            backlog.reported()
            #expect(backlog.offered(trades: 2, bytes: 50, waiting: 0, now: self.at(1)) == .leaveOut)
            #expect(backlog.becameWritable() == .goOn(missed: 2))
            #expect(backlog.offered(trades: 1, bytes: 50, waiting: 0, now: self.at(2)) == .write)
        }
        backlog.becameUnwritable(drained: 0, now: self.at(2))
        #expect(backlog.timePassed(drained: 0, waiting: 1, now: self.at(12)) == .keep)
        #expect(backlog.isBehind)
    }

    @Test("live: bytes that could not leave at once must leave in time, however few")
    func leftWaiting() {
        for closes in [true, false] {
            var backlog = Backlog(limit: 1_000, patience: .seconds(10), feedWaits: false, closes: closes)
            backlog.leftWaiting(drained: 100, now: self.at(0))
            #expect(backlog.isWatched && !backlog.isBehind)
            // A repeated note before any byte has left does not extend the time.
            backlog.leftWaiting(drained: 100, now: self.at(5))
            #expect(backlog.offered(trades: 1, bytes: 50, waiting: 60, now: self.at(6)) == .write)
            #expect(backlog.timePassed(drained: 101, waiting: 9, now: self.at(9)) == .keep)
            #expect(backlog.timePassed(drained: 101, waiting: 9, now: self.at(18)) == .keep)
            let verdict = backlog.timePassed(drained: 101, waiting: 9, now: self.at(19))
            #expect(verdict == (closes ? .close(missed: 0) : .keep))
            #expect(backlog.isBehind)
        }
        var replay = Backlog(limit: 1_000, patience: .seconds(10), feedWaits: true)
        replay.leftWaiting(drained: 0, now: self.at(0))
        #expect(!replay.isWatched && !replay.holdsUpFeed)
    }

    @Test("live: a client with an empty queue keeps up again, though its channel never was full")
    func nothingWaits() {
        var slow = Backlog(limit: 1_000, patience: .seconds(10), feedWaits: false)
        slow.leftWaiting(drained: 0, now: self.at(0))
        #expect(slow.timePassed(drained: 0, waiting: 0, now: self.at(100)) == .keep)
        #expect(!slow.isWatched && !slow.isBehind)
        for closes in [true, false] {
            var behind = Backlog(limit: 100, patience: .seconds(10), feedWaits: false, closes: closes)
            #expect(behind.offered(trades: 7, bytes: 50, waiting: 60, now: self.at(1)) == .leaveOut)
            #expect(behind.timePassed(drained: 1, waiting: 1, now: self.at(2)) == .keep)
            let verdict = behind.timePassed(drained: 60, waiting: 0, now: self.at(3))
            #expect(verdict == (closes ? .close(missed: 7) : .goOn(missed: 7)))
            #expect(behind.isBehind == closes && !behind.isWatched)
        }
    }

    @Test("a client that leaves holds up no feed")
    func ends() {
        var backlog = Backlog(limit: 1_000, patience: .seconds(10), feedWaits: true)
        backlog.becameUnwritable(drained: 0, now: self.at(0))
        backlog.ended()
        #expect(!backlog.holdsUpFeed && !backlog.isWatched)
    }
}
