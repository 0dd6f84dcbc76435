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

    package init() {}

    package mutating func exercised(_ fault: Fault) { self.kinds[fault.kind, default: 0] += 1 }

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
    }
}
