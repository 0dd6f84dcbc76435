import LeaseSchedules
import Testing

/// Seeded schedules of faults; `scripts/lease-simulation` runs them by the hundred thousand.
@Suite struct LeaseSimulationTests {
    @Test("keeps all rules in every schedule")
    func schedules() {
        let report = LeaseScheduleReport.run(1..<121)
        #expect(report.broken.isEmpty, "\(report.firstTrace ?? "")")
        // A run in which nothing happens proves little.
        let counts = report.counts
        #expect(counts.acquisitions > 100 && counts.expired > 10 && counts.lost > 5 && counts.stops > 50)
        #expect(counts.pausesInTurn > 10 && counts.inFlight > 2 && counts.accepted > 1_000 && counts.refused > 0)
    }

    /// Each begins shortly before the first seed that finds it, for the time of a debug build.
    @Test(
        "finds a fault that is planted",
        arguments: [
            (PlantedLeaseFault.lateFence, UInt64(1)), (.readExtends, 1), (.proofFromAnswer, 1), (.noWait, 1),
            (.unaskedGuard, 1), (.forgetfulEdge, 560), (.slowStop, 1_500),
        ]
    )
    func planted(fault: PlantedLeaseFault, seed: UInt64) {
        let seeds = seed..<seed + 60
        let report = LeaseScheduleReport.run(seeds, planted: fault, stops: true)
        let found: Set<LeaseViolation> =
            switch fault {
            case .unaskedGuard: [.readsOn]
            case .forgetfulEdge: [.staleFrame]
            case .lateFence, .readExtends, .proofFromAnswer, .noWait, .slowStop: [.twoHolders, .sharedLease, .readsOn]
            }
        #expect(!found.isDisjoint(with: report.broken.keys), "\(report.broken)")
        // The same schedules break nothing without the fault.
        #expect(LeaseScheduleReport.run(seed..<seed + UInt64(report.counts.schedules)).broken.isEmpty)
    }

    @Test("keeps all rules where the store loses all, unless its revisions come again")
    func losses() {
        // An ingest that stood still between its read and its write.
        let seed: UInt64 = 212_461
        #expect(!LeaseScheduleReport.run(seed..<seed + 1, storage: .lostRevisions).broken.isEmpty)
        let report = LeaseScheduleReport.run(seed..<seed + 20, storage: .lost)
        #expect(report.broken.isEmpty, "\(report.firstTrace ?? "")")
    }

    @Test("runs a seed again in the same way, with its trace")
    func again() {
        let schedule = LeaseSchedule(seed: 7)
        let first = LeaseRun.run(schedule, isTraced: true)
        let second = LeaseRun.run(schedule, isTraced: true)
        #expect(first.trace == second.trace && first.trace.count > 20)
        #expect(LeaseRun.run(schedule).counts.events == first.counts.events)
    }
}
