import Feeds
import NIOCore
import Testing
import Wire

@Suite("EdgeMachine")
struct EdgeMachineTests {
    private var machine = EdgeMachine()
    private var now = NIODeadline.uptimeNanoseconds(1_000_000_000)

    /// Returns a frame with two trades.
    private static func frame(_ number: UInt64, epoch: UInt64 = 5) -> ClusterFrame {
        ClusterFrame(
            position: ClusterPosition(epoch: epoch, frame: number, sequence: number * 2),
            trades: 2,
            sent: 0,
            lines: ByteBuffer(string: "\(epoch):\(number)\n")
        )
    }

    private static func position(_ number: UInt64, epoch: UInt64 = 5) -> ClusterPosition {
        Self.frame(number, epoch: epoch).position
    }

    private static func beat(_ number: UInt64, epoch: UInt64 = 5) -> ClusterBeat {
        ClusterBeat(position: Self.position(number, epoch: epoch), sent: 0, member: "a")
    }

    private static func answer(_ numbers: ClosedRange<UInt64>, epoch: UInt64 = 5) -> ClusterHistoryAnswer {
        ClusterHistoryAnswer(isComplete: true, frames: numbers.map { Self.frame($0, epoch: epoch) })
    }

    private mutating func take(_ number: UInt64, epoch: UInt64 = 5) -> [EdgeMachine.Action] {
        self.machine.received(Self.frame(number, epoch: epoch), now: self.now)
    }

    private mutating func pass(_ milliseconds: Int64) -> [EdgeMachine.Action] {
        self.now = self.now + .milliseconds(milliseconds)
        return self.machine.timeReached(now: self.now)
    }

    /// Joins at frame 10.
    private mutating func join() {
        #expect(self.machine.connected(now: self.now) == [.askSnapshot(epoch: 0, request: 1)])
        #expect(
            self.machine.answered(snapshot: Self.position(10), request: 1, now: self.now)
                == [.begin(Self.position(10)), .state, .present]
        )
    }

    @Test("an edge joins by a snapshot: older frames are left out, later ones wait for it")
    mutating func joins() {
        #expect(self.machine.connected(now: self.now) == [.askSnapshot(epoch: 0, request: 1)])
        #expect(self.take(9) == [])
        #expect(self.take(10) == [])
        #expect(self.take(11) == [])
        #expect(
            self.machine.answered(snapshot: Self.position(10), request: 1, now: self.now)
                == [.begin(Self.position(10)), .state, .deliver(Self.frame(11)), .present]
        )
        #expect(self.take(12) == [.deliver(Self.frame(12))])
        #expect(self.take(12) == [])
        #expect(self.take(3) == [])
    }

    @Test("a snapshot that does not come is asked for again")
    mutating func asksAgain() {
        #expect(self.machine.connected(now: self.now) == [.askSnapshot(epoch: 0, request: 1)])
        #expect(self.pass(1_000) == [])
        #expect(self.pass(500) == [.silent, .askSnapshot(epoch: 0, request: 2)])
        // Late: that request is over.
        #expect(self.machine.failed(request: 1, now: self.now) == [])
        #expect(self.pass(499) == [])
        #expect(self.machine.failed(request: 2, now: self.now) == [])
        #expect(self.pass(499) == [])
        #expect(self.pass(1) == [.askSnapshot(epoch: 0, request: 3)])
    }

    @Test("a hole is asked for once, and frames wait behind it")
    mutating func fills() {
        self.join()
        #expect(self.take(13) == [.askHistory(Self.position(10), request: 2)])
        #expect(self.take(14) == [])
        #expect(
            self.machine.answered(Self.answer(11...13), request: 2, now: self.now)
                == [11, 12, 13, 14].map { .deliver(Self.frame($0)) }
        )
    }

    @Test("a long hole is filled by several answers")
    mutating func fillsInParts() {
        self.join()
        #expect(self.take(15) == [.askHistory(Self.position(10), request: 2)])
        #expect(
            self.machine.answered(Self.answer(11...12), request: 2, now: self.now)
                == [.deliver(Self.frame(11)), .deliver(Self.frame(12)), .askHistory(Self.position(12), request: 3)]
        )
        #expect(
            self.machine.answered(Self.answer(13...14), request: 3, now: self.now)
                == [13, 14, 15].map { .deliver(Self.frame($0)) }
        )
    }

    @Test("frames that the ingest no longer has are a gap, and the tape goes on behind it")
    mutating func namesGap() {
        self.join()
        #expect(self.take(13) == [.askHistory(Self.position(10), request: 2)])
        let gone = ClusterHistoryAnswer(isComplete: false, frames: [])
        #expect(
            self.machine.answered(gone, request: 2, now: self.now)
                == [
                    .begin(Self.position(12)), .gap(.framesLost), .deliver(Self.frame(13)),
                    .askSnapshot(epoch: 5, request: 3),
                ]
        )
    }

    @Test("an ingest that does not answer costs a gap, not a standstill")
    mutating func unanswered() {
        self.join()
        #expect(self.take(13) == [.askHistory(Self.position(10), request: 2)])
        #expect(
            self.pass(1_000) == [
                .begin(Self.position(12)), .gap(.framesLost), .deliver(Self.frame(13)),
                .askSnapshot(epoch: 5, request: 3),
            ]
        )
        #expect(self.machine.answered(Self.answer(11...12), request: 2, now: self.now) == [])
    }

    @Test("an answer without the missing frame ends in a gap, not in a circle")
    mutating func emptyAnswer() {
        self.join()
        #expect(self.take(13) == [.askHistory(Self.position(10), request: 2)])
        let empty = ClusterHistoryAnswer(isComplete: true, frames: [])
        #expect(
            self.machine.answered(empty, request: 2, now: self.now)
                == [
                    .begin(Self.position(12)), .gap(.framesLost), .deliver(Self.frame(13)),
                    .askSnapshot(epoch: 5, request: 3),
                ]
        )
    }

    @Test("a heartbeat shows a hole at the end of a burst")
    mutating func beatShowsHole() {
        self.join()
        #expect(self.machine.received(Self.beat(10), now: self.now) == [])
        #expect(self.machine.received(Self.beat(12), now: self.now) == [.askHistory(Self.position(10), request: 2)])
        #expect(
            self.machine.answered(Self.answer(11...12), request: 2, now: self.now)
                == [.deliver(Self.frame(11)), .deliver(Self.frame(12))]
        )
    }

    @Test("a hole that a heartbeat shows, of frames that are gone, leads to a new snapshot and a gap")
    mutating func beatShowsLostFrames() {
        self.join()
        #expect(self.machine.received(Self.beat(12), now: self.now) == [.askHistory(Self.position(10), request: 2)])
        let gone = ClusterHistoryAnswer(isComplete: false, frames: [])
        #expect(self.machine.answered(gone, request: 2, now: self.now) == [.askSnapshot(epoch: 5, request: 3)])
        #expect(
            self.machine.answered(snapshot: Self.position(12), request: 3, now: self.now)
                == [.begin(Self.position(12)), .gap(.behind), .state, .present]
        )
    }

    @Test("without a heartbeat for 1.5 s there is no ingest, and the next frame shows one")
    mutating func silence() {
        self.join()
        #expect(self.pass(1_499) == [])
        #expect(self.pass(1) == [.silent])
        #expect(self.pass(60_000) == [])
        #expect(self.take(11) == [.deliver(Self.frame(11)), .present])
    }

    @Test("an ingest with a higher epoch takes over from its first frame, and the gap is named")
    mutating func takesOver() {
        self.join()
        #expect(
            self.take(1, epoch: 6)
                == [
                    .begin(ClusterPosition(epoch: 6, frame: 0, sequence: 0)), .gap(.takenOver),
                    .deliver(Self.frame(1, epoch: 6)), .present,
                ]
        )
        #expect(self.take(2, epoch: 6) == [.deliver(Self.frame(2, epoch: 6))])
    }

    @Test("frames and heartbeats of a lower epoch are left out for good")
    mutating func refusesOldEpoch() {
        self.join()
        _ = self.take(1, epoch: 6)
        #expect(self.take(11) == [])
        #expect(self.take(12) == [])
        #expect(self.machine.received(Self.beat(12), now: self.now) == [])
        #expect(self.machine.refused == 2)
        // Not even when the newer ingest has fallen silent.
        #expect(self.pass(1_500) == [.silent])
        #expect(self.take(13) == [])
        #expect(self.machine.received(Self.beat(13), now: self.now) == [])
        // Nor after a new connection.
        self.machine.disconnected()
        #expect(self.machine.connected(now: self.now) == [.askHistory(Self.position(1, epoch: 6), request: 2)])
        #expect(self.take(14) == [])
        let gone = ClusterHistoryAnswer(isComplete: false, frames: [])
        #expect(
            self.machine.answered(gone, request: 2, now: self.now) == [.askSnapshot(epoch: 6, request: 3)]
        )
        #expect(self.machine.answered(snapshot: Self.position(14), request: 3, now: self.now) == [])
    }

    @Test("the first frames of a new ingest are asked for if they were missed")
    mutating func takesOverLate() {
        self.join()
        let start = ClusterPosition(epoch: 6, frame: 0, sequence: 0)
        #expect(self.take(3, epoch: 6) == [.begin(start), .gap(.takenOver), .askHistory(start, request: 2)])
        #expect(
            self.machine.answered(Self.answer(1...2, epoch: 6), request: 2, now: self.now)
                == [1, 2, 3].map { .deliver(Self.frame($0, epoch: 6)) } + [.present]
        )
    }

    @Test("a heartbeat of a new ingest takes over, too")
    mutating func beatTakesOver() {
        self.join()
        let start = ClusterPosition(epoch: 6, frame: 0, sequence: 0)
        #expect(
            self.machine.received(Self.beat(2, epoch: 6), now: self.now)
                == [.begin(start), .gap(.takenOver), .askHistory(start, request: 2)]
        )
    }

    @Test("a takeover while a hole is open leaves the old frames out")
    mutating func takesOverInHole() {
        self.join()
        #expect(self.take(13) == [.askHistory(Self.position(10), request: 2)])
        #expect(
            self.take(1, epoch: 6)
                == [
                    .begin(ClusterPosition(epoch: 6, frame: 0, sequence: 0)), .gap(.takenOver),
                    .deliver(Self.frame(1, epoch: 6)), .present,
                ]
        )
        #expect(self.machine.answered(Self.answer(11...12), request: 2, now: self.now) == [])
    }

    @Test("a lost connection to NATS is silence, and afterwards the edge asks for what it missed")
    mutating func reconnects() {
        self.join()
        self.machine.disconnected()
        #expect(self.take(11) == [])
        #expect(self.pass(60_000) == [])
        #expect(self.machine.connected(now: self.now) == [.askHistory(Self.position(10), request: 2)])
        #expect(self.take(14) == [])
        #expect(
            self.machine.answered(Self.answer(11...13), request: 2, now: self.now)
                == [11, 12, 13, 14].map { .deliver(Self.frame($0)) } + [.present]
        )
    }

    @Test("the state after a gap is that of the newest frame on the tape, or else is asked for again")
    mutating func fetchesState() {
        self.join()
        #expect(self.take(13) == [.askHistory(Self.position(10), request: 2)])
        #expect(self.machine.failed(request: 2, now: self.now).last == .askSnapshot(epoch: 5, request: 3))
        #expect(self.take(14) == [.deliver(Self.frame(14))])
        #expect(self.machine.answered(snapshot: Self.position(13), request: 3, now: self.now) == [])
        #expect(self.pass(500) == [.askSnapshot(epoch: 5, request: 4)])
        #expect(self.machine.answered(snapshot: Self.position(14), request: 4, now: self.now) == [.state, .present])
    }

    @Test("frames that wait have a bound")
    mutating func bound() {
        var settings = EdgeMachine.Settings()
        settings.maximumWaitingBytes = 20
        self.machine = EdgeMachine(settings: settings)
        self.join()
        #expect(self.take(13) == [.askHistory(Self.position(10), request: 2)])
        var actions: [EdgeMachine.Action] = []
        var number: UInt64 = 14
        while actions.isEmpty, number < 30 {
            actions = self.take(number)
            number += 1
        }
        #expect(Array(actions.prefix(2)) == [.begin(Self.position(12)), .gap(.tooManyWaiting)])
        #expect(actions.count == Int(number) - 13 + 3)
    }
}
