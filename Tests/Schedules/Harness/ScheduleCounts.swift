/// What happened in one run, or in many.
package struct ScheduleCounts: Sendable {
    /// The faults that met the program, by their kind.
    package private(set) var kinds: [String: Int] = [:]
    package var trades = 0
    package var filled = 0
    package var repeated = 0
    package var gaps = 0
    package var lives = 0
    package var attempts = 0
    package var requests = 0
    package var rotations = 0
    /// The rotations in which the program closed the announced connection before the venue did.
    package var rotationsClosedByProgram = 0
    /// The times from a reconnect after which trades were missing until none was, ns.
    package var recoveries: [Int64] = []
    /// The reconnects that another fault ended before that.
    package var interruptedRecoveries = 0

    /// The recordings of killed runs that were read back, and what was cut off from them, in bytes.
    package var killedRecordings = 0
    package var cutBytes: UInt64 = 0
    /// The trades that were read from recordings, and those of recordings that were replayed.
    package var recorded = 0
    package var replayed = 0

    package init() {}

    package mutating func exercised(_ fault: Fault) { self.exercised(fault.kind) }

    mutating func exercised(_ kind: String) { self.kinds[kind, default: 0] += 1 }

    package mutating func add(_ other: ScheduleCounts) {
        self.kinds.merge(other.kinds, uniquingKeysWith: +)
        self.trades += other.trades
        self.filled += other.filled
        self.repeated += other.repeated
        self.gaps += other.gaps
        self.lives += other.lives
        self.attempts += other.attempts
        self.requests += other.requests
        self.rotations += other.rotations
        self.rotationsClosedByProgram += other.rotationsClosedByProgram
        self.recoveries += other.recoveries
        self.interruptedRecoveries += other.interruptedRecoveries
        self.killedRecordings += other.killedRecordings
        self.cutBytes += other.cutBytes
        self.recorded += other.recorded
        self.replayed += other.replayed
    }
}
