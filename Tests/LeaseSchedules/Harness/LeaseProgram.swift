import Cluster
import NIOCore
import Wire

/// A program of a schedule with its driver, which performs the actions of its leases on virtual sockets.
struct LeaseProgram {
    enum Act {
        case open(epoch: UInt64)
        case read
        case publish
        case answer(LeaseRequest, edge: Int, connection: Int)
    }

    /// A part of a turn of the loop. Before each the program may be stopped.
    enum Step {
        /// Hand an event to the leases, with the clocks as they were read when the turn began.
        case event(Incoming, LeaseMoment)
        case action(LeaseSet.Action)
        /// Ask the guard, and then act.
        case ask(Act)
        case act(Act)
    }

    enum Incoming {
        case answer(lease: Int, UInt64, LeaseAnswer)
        case upstream(Int)
        case request(LeaseRequest, edge: Int, connection: Int)
        case timer
        /// The upstream is closed after a fence.
        case closed
    }

    /// The newest request of a lease.
    struct Outstanding {
        var number: UInt64
        /// The boottime of its sending.
        var sent: Int64
    }

    /// `nil` for a program that does not exist.
    var leases: LeaseSet?
    /// Counts the starts; an event of an earlier one has no effect.
    var life = 0
    /// The boottime at time 0 of the schedule, and how much faster the clock is, in millionths.
    var bootOffset: Int64 = 0
    var drift: Int64 = 0
    var wallOffset: Int64 = 0
    var timerVersion = 0
    /// Whether a timer is due.
    var isArmed = false
    var epoch: UInt64 { self.position.epoch }
    var position = ClusterPosition(epoch: 0, frame: 0, sequence: 0)
    /// The newest frames of the epoch.
    private var log: [ClusterFrame] = []
    /// The number of the open connection to the upstream.
    var connection: Int?
    /// Whether a clean stop still closes it.
    var isClosing = false
    /// Whether it was stopped, and the news of the connection's end has not come.
    var endsCleanly = false

    var isPaused = false
    /// Whether the program was stopped and has not handled an event since.
    var isWaking = false
    /// What a stop within a turn has left to do.
    var rest: [Step] = []
    var inbox: [Incoming] = []

    /// The ends of the network's faults.
    var requestsCutUntil: Int64 = .min
    var answersCutUntil: Int64 = .min
    var disconnectedUntil: Int64 = .min
    var slowUntil: Int64 = .min
    var slowRequests: ClosedRange<Int64> = 0...0
    var slowAnswers: ClosedRange<Int64> = 0...0
    var outstanding: [Int: Outstanding] = [:]

    /// For planted faults: until when the driver wrongly believes that it holds each lease, and whether it was fenced.
    var beliefs: [Int64] = []
    var isFenceDeferred = false
    var ownTokenPrefix = ""

    /// Whether the program has its upstream open at this moment, and does not stand still.
    var isLive: Bool { (self.connection != nil || self.isClosing) && !self.isPaused && !self.isWaking }

    /// The end of a wrong belief.
    var wrongUntil: Int64 { self.beliefs.min() ?? .min }

    mutating func begin(epoch: UInt64) {
        self.position = ClusterPosition(epoch: epoch, frame: 0, sequence: 0)
        self.log = []
    }

    /// Puts a trade onto the tape.
    mutating func makeFrame() -> ClusterFrame {
        self.position.frame += 1
        self.position.sequence += 1
        let frame = ClusterFrame(position: self.position, trades: 1, sent: 0, lines: ByteBuffer())
        if self.log.count == 64 { self.log.removeFirst(32) }
        self.log.append(frame)
        return frame
    }

    func history(after position: ClusterPosition) -> ClusterHistoryAnswer {
        let first = self.log.first?.position.frame ?? self.position.frame + 1
        guard position.epoch == self.epoch, position.frame + 1 >= first, position.frame <= self.position.frame else {
            return ClusterHistoryAnswer(isComplete: false, frames: [])
        }
        let frames = self.log.filter { $0.position.frame > position.frame }
        return ClusterHistoryAnswer(
            isComplete: true,
            newest: frames.last?.position,
            frames: Array(frames.prefix(16))
        )
    }

    func boottime(at now: Int64) -> Int64 { self.bootOffset + now + now * self.drift / 1_000_000 }

    /// Returns the time of the schedule at a boottime, not earlier.
    func time(of boottime: Int64, now: Int64) -> Int64 {
        let wait = boottime - self.boottime(at: now)
        return now + max(0, wait - wait * self.drift / 1_000_000 + 2_000)
    }
}
