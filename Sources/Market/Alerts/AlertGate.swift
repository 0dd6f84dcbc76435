/// Whether a rule whose condition has come true may say so: cool-down, quiet hours, once.
///
/// What is held back is not forgotten: a price that is still above, a symbol that is still stale, is told when the hold is
/// over. What happens in a moment (a crossing, a new high) is counted only.
struct AlertGate: Sendable, Equatable {
    /// What holds an alert back, until when, ns.
    enum Hold: Sendable, Equatable {
        case cooling(until: Int64)
        case quiet(until: Int64)

        var until: Int64 {
            switch self {
            case .cooling(let until), .quiet(let until): until
            }
        }
    }

    let cooldown: Int64
    let quiet: QuietHours?
    let isOnce: Bool
    var count: UInt64 = 0
    var lastFired: Int64?
    /// Alerts that were held back, and the hold of the last one.
    private(set) var heldBack: UInt64 = 0
    private(set) var hold: Hold?

    init(cooldown: Int64, quiet: QuietHours?, isOnce: Bool) {
        self.cooldown = cooldown
        self.quiet = quiet
        self.isOnce = isOnce
    }

    var isDone: Bool { self.isOnce && self.count > 0 }

    /// Lets an alert through, and counts it, or holds it back.
    ///
    /// - Parameter offset: how far local time is ahead of UTC at a time, ns.
    mutating func pass(at time: Int64, offset: (Int64) -> Int64) -> Bool {
        guard !self.isDone else { return false }
        if let hold = self.hold(at: time, offset: offset) {
            if self.hold == nil { self.heldBack &+= 1 }
            self.hold = hold
            return false
        }
        self.hold = nil
        self.count &+= 1
        self.lastFired = time
        return true
    }

    /// Notes that the condition is over, so that the next time is another one.
    mutating func calm() { self.hold = nil }

    private func hold(at time: Int64, offset: (Int64) -> Int64) -> Hold? {
        // A clock that was set back behind the last alert would else keep the rule silent for as long as that.
        if let lastFired, lastFired <= time {
            let (until, overflow) = lastFired.addingReportingOverflow(self.cooldown)
            if overflow || time < until { return .cooling(until: overflow ? .max : until) }
        }
        return self.quiet?.end(at: time, offset: offset(time)).map { .quiet(until: $0) }
    }
}
