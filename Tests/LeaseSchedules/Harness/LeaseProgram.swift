import Cluster

/// A program of a schedule with its driver, which performs the machine's actions on virtual sockets.
struct LeaseProgram {
    enum Act {
        case open(LeaseGrant)
        case read
        case publish
    }

    /// A part of a turn of the loop. Before each the program may be stopped.
    enum Step {
        /// Hand an event to the machine, with the clocks as they were read when the turn began.
        case event(Incoming, LeaseMoment)
        case action(LeaseMachine.Action)
        /// Ask the guard, and then act.
        case ask(Act)
        case act(Act)
    }

    enum Incoming {
        case answer(UInt64, LeaseAnswer)
        case upstream(Int)
        case timer
    }

    var machine: LeaseMachine?
    /// Counts the starts; an event of an earlier one has no effect.
    var life = 0
    /// The boottime at time 0 of the schedule, and how much faster the clock is, in millionths.
    var bootOffset: Int64 = 0
    var drift: Int64 = 0
    var wallOffset: Int64 = 0
    var timerVersion = 0
    /// The driver's copy of the guard.
    var guarding = LeaseGuard.closed
    var epoch: UInt64 = 0
    /// The number of the open connection to the upstream.
    var connection: Int?
    var frames = 0

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
    var outstanding: UInt64?

    /// For planted faults: until when the driver wrongly believes that it may run, and whether the machine has fenced.
    var wrongUntil: Int64 = .min
    var isFenceDeferred = false
    var ownTokenPrefix = ""

    /// Whether the program reads and publishes at this moment, as far as others can see.
    var isLive: Bool { self.connection != nil && !self.isPaused && !self.isWaking }

    func boottime(at now: Int64) -> Int64 { self.bootOffset + now + now * self.drift / 1_000_000 }

    /// Returns the time of the schedule at a boottime, not earlier.
    func time(of boottime: Int64, now: Int64) -> Int64 {
        let wait = boottime - self.boottime(at: now)
        return now + max(0, wait - wait * self.drift / 1_000_000 + 2_000)
    }
}
