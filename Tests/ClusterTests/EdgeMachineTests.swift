import Feeds
import NIOCore
import Testing
import Wire

@Suite("EdgeMachine")
struct EdgeMachineTests {
    private var machine = EdgeMachine(settings: Self.settings)
    private var now = NIODeadline.uptimeNanoseconds(1_000_000_000)

    /// Without chance.
    private static var settings: EdgeMachine.Settings {
        var settings = EdgeMachine.Settings()
        settings.jitter = 0
        return settings
    }

    private static let gone = ClusterHistoryAnswer(isComplete: false, frames: [])

    private static func snapshot(
        _ number: UInt64,
        epoch: UInt64 = 5,
        after: String? = nil,
        upTo: String? = nil
    ) -> ClusterSnapshot {
        let position = Self.position(number, epoch: epoch)
        return ClusterSnapshot(
            position: position,
            sent: 0,
            member: "a",
            after: after,
            upTo: upTo,
            lines: ByteBuffer(string: "state\n")
        )
    }

    /// Returns a request for the state.
    private static func state(_ epoch: UInt64, after: String? = nil, request: UInt64) -> EdgeMachine.Action {
        .askSnapshot(ClusterSnapshotRequest(epoch: epoch, after: after), request: request)
    }

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
        #expect(self.machine.connected(now: self.now) == [Self.state(0, request: 1)])
        #expect(
            self.machine.answered(Self.snapshot(10), request: 1, now: self.now)
                == [.begin(Self.position(10)), .state(Self.snapshot(10)), .present]
        )
    }

    @Test("an edge joins by a snapshot: older frames are left out, later ones wait for it")
    mutating func joins() {
        #expect(self.machine.connected(now: self.now) == [Self.state(0, request: 1)])
        #expect(self.take(9) == [])
        #expect(self.take(10) == [])
        #expect(self.take(11) == [])
        #expect(
            self.machine.answered(Self.snapshot(10), request: 1, now: self.now)
                == [.begin(Self.position(10)), .state(Self.snapshot(10)), .deliver(Self.frame(11)), .present]
        )
        #expect(self.take(12) == [.deliver(Self.frame(12))])
        #expect(self.take(12) == [])
        #expect(self.take(3) == [])
    }

    @Test("a snapshot that does not come is asked for again")
    mutating func asksAgain() {
        #expect(self.machine.connected(now: self.now) == [Self.state(0, request: 1)])
        #expect(self.pass(1_000) == [])
        #expect(self.pass(500) == [.silent, Self.state(0, request: 2)])
        // Late: that request is over.
        #expect(self.machine.failed(request: 1, now: self.now) == [])
        #expect(self.pass(499) == [])
        #expect(self.machine.failed(request: 2, now: self.now) == [])
        #expect(self.pass(499) == [])
        #expect(self.pass(1) == [Self.state(0, request: 3)])
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
        #expect(
            self.machine.answered(Self.gone, request: 2, now: self.now)
                == [
                    .begin(Self.position(12)), .gap(.framesLost), .deliver(Self.frame(13)),
                    Self.state(5, request: 3),
                ]
        )
    }

    @Test("frames without an answer are asked for again while the ingest may have them, and then are a gap")
    mutating func unanswered() {
        self.join()
        #expect(self.take(13) == [.askHistory(Self.position(10), request: 2)])
        #expect(self.pass(1_000) == [])
        // Frames that come in the meantime wait as well.
        #expect(self.take(14) == [])
        #expect(self.pass(499) == [])
        var actions = self.pass(1)
        #expect(actions == [.askHistory(Self.position(10), request: 3)])
        // Late: that request is over.
        #expect(self.machine.answered(Self.answer(11...12), request: 2, now: self.now) == [])
        for request in 4...80 as ClosedRange<UInt64> {
            _ = self.machine.received(Self.beat(14), now: self.now)
            actions = self.pass(1_000)
            #expect(!actions.contains { if case .gap = $0 { true } else { false } })
            actions = self.pass(500)
            #expect(actions.last == .askHistory(Self.position(10), request: request))
        }
        // Two minutes after the newest frame on the tape.
        #expect(self.pass(1_000) == [])
        self.now = self.now + .seconds(3)
        #expect(
            self.machine.timeReached(now: self.now).last == .askHistory(Self.position(10), request: 81)
                && self.pass(1_000).filter { if case .gap = $0 { true } else { false } } == [.gap(.framesLost)]
        )
        #expect(self.machine.position == Self.position(14))
    }

    @Test("an answer with a part of the frames is followed by the next request, and makes nothing live")
    mutating func partialAnswer() {
        self.join()
        #expect(self.machine.isPresent)
        self.machine.disconnected()
        #expect(self.machine.connected(now: self.now) == [.askHistory(Self.position(10), request: 2)])
        var answer = Self.answer(11...12)
        answer.newest = Self.position(13)
        let first = self.machine.answered(answer, request: 2, now: self.now)
        #expect(first.last == .askHistory(Self.position(12), request: 3))
        #expect(!self.machine.isPresent && !first.contains(.present))
        answer = Self.answer(13...13)
        answer.newest = Self.position(13)
        #expect(self.machine.answered(answer, request: 3, now: self.now).last == .present)
    }

    @Test("frames that this user may not ask for are a gap at once")
    mutating func mayNotAsk() {
        self.join()
        #expect(self.take(13) == [.askHistory(Self.position(10), request: 2)])
        #expect(
            self.machine.failed(request: 2, isFinal: true, now: self.now)
                == [
                    .begin(Self.position(12)), .gap(.framesLost), .deliver(Self.frame(13)), Self.state(5, request: 3),
                ]
        )
    }

    @Test("an edge with an ingest that is heard and does not answer for 2 s is not present")
    mutating func notPresent() {
        self.join()
        #expect(self.take(13) == [.askHistory(Self.position(10), request: 2)])
        for _ in 0..<11 {
            #expect(!self.pass(250).contains(.unanswered))
            _ = self.machine.received(Self.beat(13), now: self.now)
        }
        // The first request has failed after 1 s.
        #expect(self.pass(250).contains(.unanswered) && !self.machine.isPresent)
    }

    @Test("requests without an answer are not repeated in step, and new connections do not ask in step")
    mutating func jitter() {
        var waits: Set<TimeAmount> = []
        for seed in 0..<20 as Range<UInt64> {
            var machine = EdgeMachine(seed: seed)
            _ = machine.connected(now: self.now)
            _ = machine.failed(request: 1, now: self.now)
            let wait = machine.deadline.map { $0 - self.now } ?? .zero
            #expect(wait >= .milliseconds(250) && wait <= .milliseconds(750))
            waits.insert(wait)
            _ = machine.timeReached(now: self.now + wait)
            _ = machine.answered(Self.snapshot(10), request: 2, now: self.now)
            machine.disconnected()
            #expect(machine.connected(now: self.now) == [])
            let first = machine.deadline.map { $0 - self.now } ?? .zero
            #expect(first <= .milliseconds(250))
            waits.insert(first)
            #expect(machine.timeReached(now: self.now + first) == [.askHistory(Self.position(10), request: 3)])
        }
        #expect(waits.count > 30)
    }

    @Test("a snapshot in parts is complete with the last one, and frames since the first one follow")
    mutating func joinsInParts() {
        #expect(self.machine.connected(now: self.now) == [Self.state(0, request: 1)])
        let first = Self.snapshot(10, upTo: "B")
        #expect(self.machine.answered(first, request: 1, now: self.now) == [Self.state(5, after: "B", request: 2)])
        #expect(self.take(11) == [])
        let second = Self.snapshot(11, after: "B", upTo: "D")
        #expect(self.machine.answered(second, request: 2, now: self.now) == [Self.state(5, after: "D", request: 3)])
        let third = Self.snapshot(11, after: "D")
        #expect(
            self.machine.answered(third, request: 3, now: self.now)
                == [
                    .begin(Self.position(10)), .state(first), .state(second), .state(third),
                    .deliver(Self.frame(11)), .present,
                ]
        )
    }

    @Test("parts of two ingests are no snapshot")
    mutating func joinsAnew() {
        _ = self.machine.connected(now: self.now)
        _ = self.machine.answered(Self.snapshot(10, upTo: "B"), request: 1, now: self.now)
        let other = Self.snapshot(3, epoch: 6, after: "B")
        #expect(self.machine.answered(other, request: 2, now: self.now) == [])
        #expect(self.pass(500) == [Self.state(6, request: 3)])
        let whole = Self.snapshot(3, epoch: 6)
        #expect(
            self.machine.answered(whole, request: 3, now: self.now)
                == [.begin(Self.position(3, epoch: 6)), .state(whole), .present]
        )
    }

    @Test("each part of the state after a gap is that of the newest frame on the tape")
    mutating func fetchesStateInParts() {
        self.join()
        #expect(self.take(13) == [.askHistory(Self.position(10), request: 2)])
        let actions = self.machine.answered(Self.gone, request: 2, now: self.now)
        #expect(actions.last == Self.state(5, request: 3))
        let first = Self.snapshot(13, upTo: "B")
        #expect(
            self.machine.answered(first, request: 3, now: self.now)
                == [.state(first), Self.state(5, after: "B", request: 4)]
        )
        #expect(self.take(14) == [.deliver(Self.frame(14))])
        #expect(self.machine.answered(Self.snapshot(13, after: "B"), request: 4, now: self.now) == [])
        #expect(self.pass(500) == [Self.state(5, after: "B", request: 5)])
        let second = Self.snapshot(14, after: "B")
        #expect(self.machine.answered(second, request: 5, now: self.now) == [.state(second), .present])
    }

    @Test("the first frame of an epoch that the same ingest began anew is asked for if it was lost")
    mutating func renewsBehindLoss() {
        self.join()
        var second = Self.frame(2, epoch: 6)
        second.predecessor = Self.position(10)
        #expect(self.machine.received(second, now: self.now) == [.askHistory(Self.position(10), request: 2)])
        var first = Self.frame(1, epoch: 6)
        first.predecessor = Self.position(10)
        let answer = ClusterHistoryAnswer(isComplete: true, frames: [first, second])
        #expect(
            self.machine.answered(answer, request: 2, now: self.now)
                == [
                    .begin(ClusterPosition(epoch: 6, frame: 0, sequence: 0)), .deliver(first), .deliver(second),
                ]
        )
        self.machine = EdgeMachine(settings: Self.settings)
        self.join()
        var beat = Self.beat(2, epoch: 6)
        beat.predecessor = Self.position(10)
        #expect(self.machine.received(beat, now: self.now) == [.askHistory(Self.position(10), request: 2)])
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
                    Self.state(5, request: 3),
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
        #expect(self.machine.answered(Self.gone, request: 2, now: self.now) == [Self.state(5, request: 3)])
        #expect(
            self.machine.answered(Self.snapshot(12), request: 3, now: self.now)
                == [.begin(Self.position(12)), .gap(.behind), .state(Self.snapshot(12)), .present]
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
        #expect(
            self.machine.answered(Self.gone, request: 2, now: self.now) == [Self.state(6, request: 3)]
        )
        #expect(self.machine.answered(Self.snapshot(14), request: 3, now: self.now) == [])
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
        let actions = self.machine.answered(Self.gone, request: 2, now: self.now)
        #expect(actions.last == Self.state(5, request: 3))
        #expect(self.take(14) == [.deliver(Self.frame(14))])
        #expect(self.machine.answered(Self.snapshot(13), request: 3, now: self.now) == [])
        #expect(self.pass(500) == [Self.state(5, request: 4)])
        #expect(
            self.machine.answered(Self.snapshot(14), request: 4, now: self.now) == [
                .state(Self.snapshot(14)), .present,
            ]
        )
    }

    @Test("frames that wait have a bound")
    mutating func bound() {
        var settings = Self.settings
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
