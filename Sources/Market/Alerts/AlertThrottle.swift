/// The decision whether a rule whose condition has come true may fire: cool-down, quiet hours, once.
///
/// A lasting condition that is held back (the price is still above, the symbol is still stale) fires when the hold
/// ends. A momentary event that is held back (a crossing, a new high) is only counted.
struct AlertThrottle: Sendable, Equatable {
    /// The reason why an alert is held back, and the time at which the hold ends, ns since 1970.
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
    /// The number of alerts held back, and the hold that is in force.
    private(set) var heldBack: UInt64 = 0
    private(set) var hold: Hold?

    init(cooldown: Int64, quiet: QuietHours?, isOnce: Bool) {
        self.cooldown = cooldown
        self.quiet = quiet
        self.isOnce = isOnce
    }

    var isDone: Bool { self.isOnce && self.count > 0 }

    /// Lets an alert through and counts it, or holds it back.
    ///
    /// - Parameter offset: how far local time is ahead of UTC at a given time, ns.
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

    /// Notes that the condition is over, so that the next alert held back counts as another one.
    mutating func conditionEnded() { self.hold = nil }

    private func hold(at time: Int64, offset: (Int64) -> Int64) -> Hold? {
        // The cool-down does not apply to times before the last alert. A clock that was set back would otherwise keep
        // the rule silent until it caught up.
        if let lastFired, lastFired <= time {
            let (until, overflow) = lastFired.addingReportingOverflow(self.cooldown)
            if overflow || time < until { return .cooling(until: overflow ? .max : until) }
        }
        return self.quiet?.end(at: time, offset: offset(time)).map { .quiet(until: $0) }
    }
}
