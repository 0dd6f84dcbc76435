/// A rule that a schedule has broken.
package enum LeaseViolation: Hashable, Sendable {
    /// Two programs that do not stand still have their upstream open.
    case twoHolders
    /// Two programs hold one lease.
    case sharedLease
    /// A program reads or publishes after another one's claim.
    case readsOn
    /// A program that was stopped for too long keeps its upstream open after its first turn.
    case staysOpen
    /// An edge that has heard an epoch takes something of an earlier one, or is live without a message of the newest.
    case staleFrame
    /// An edge's tape has a frame that does not follow the one before, and no gap.
    case order
    /// A program opens its upstream with an epoch that is not higher than all before.
    case epoch
    /// No program runs in the time in which one must, or no edge accepts what it publishes.
    case late
    /// The holder changed although nothing failed.
    case unsteady
}

/// A fault in the program, which the simulation must find.
package enum PlantedLeaseFault: String, Sendable, CaseIterable {
    /// The holder fences itself after 13 s.
    case lateFence
    /// A read that shows this program's own value proves the lease.
    case readExtends
    /// A proof counts from the arrival of the answer.
    case proofFromAnswer
    /// A candidate takes the lease without waiting for the time to live.
    case noWait
    /// A program that was stopped does not ask the guard in its first turn.
    case unaskedGuard
    /// An edge does not remember the epochs before its newest connection.
    case forgetfulEdge
    /// A clean end of the connection goes on after the end of the proven time.
    case slowStop
}

/// What happened in a schedule.
package struct LeaseOutcome: Sendable {
    package var violation: (kind: LeaseViolation, text: String)?
    package var counts = LeaseCounts()
    package var trace: [String] = []
}

package struct LeaseCounts: Sendable {
    package var schedules = 0
    package var events = 0
    package var acquisitions = 0
    /// Fences because the time was over, and because the key had another value.
    package var expired = 0
    package var lost = 0
    package var stops = 0
    package var pauses = 0
    /// Pauses within a turn of the loop.
    package var pausesInTurn = 0
    /// The reads and publishes that followed a pause between the guard's answer and them.
    package var inFlight = 0
    package var reads = 0
    package var accepted = 0
    package var refused = 0

    package init() {}

    package static func += (left: inout Self, right: Self) {
        left.schedules += right.schedules
        left.events += right.events
        left.acquisitions += right.acquisitions
        left.expired += right.expired
        left.lost += right.lost
        left.stops += right.stops
        left.pauses += right.pauses
        left.pausesInTurn += right.pausesInTurn
        left.inFlight += right.inFlight
        left.reads += right.reads
        left.accepted += right.accepted
        left.refused += right.refused
    }
}

extension LeaseCounts: CustomStringConvertible {
    package var description: String {
        """
        \(self.schedules) schedules, \(self.events) events, \(self.acquisitions) acquisitions
        fences: \(self.expired) expired, \(self.lost) lost, \(self.stops) for a stop
        pauses: \(self.pauses), \(self.pausesInTurn) of them within a turn; acts in flight then: \(self.inFlight)
        reads of the upstream: \(self.reads); frames at edges: \(self.accepted) accepted, \(self.refused) of an old epoch
        """
    }
}
