/// The sum of many schedules.
package struct LeaseScheduleReport: Sendable {
    package var counts = LeaseCounts()
    /// The seeds of the schedules that broke a rule.
    package var broken: [LeaseViolation: [UInt64]] = [:]
    /// The first of them: its seed, its faults and all that happened.
    package var firstTrace: String?

    /// Runs schedules.
    ///
    /// - Parameter stops: whether to end with the first that breaks a rule.
    package static func run(
        _ seeds: Range<UInt64>,
        storage: LeaseSchedule.Storage = .kept,
        planted: PlantedLeaseFault? = nil,
        stops: Bool = false
    ) -> LeaseScheduleReport {
        var report = LeaseScheduleReport()
        for seed in seeds {
            let schedule = LeaseSchedule(seed: seed, storage: storage)
            let outcome = LeaseRun.run(schedule, planted: planted)
            report.counts += outcome.counts
            guard let violation = outcome.violation else { continue }
            report.broken[violation.kind, default: []].append(seed)
            if report.firstTrace == nil {
                let traced = LeaseRun.run(schedule, planted: planted, isTraced: true)
                report.firstTrace = "seed \(seed), \(violation.text)\n" + traced.trace.joined(separator: "\n")
            }
            if stops { break }
        }
        return report
    }
}
