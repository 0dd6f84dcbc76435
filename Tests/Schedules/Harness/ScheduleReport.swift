/// The sum of many runs, in words.
package struct ScheduleReport: Sendable {
    package private(set) var counts = ScheduleCounts()
    package private(set) var runs = 0
    package private(set) var failed: [UInt64] = []

    package init() {}

    package mutating func add(_ outcome: ScheduleOutcome) {
        self.runs += 1
        self.counts.add(outcome.counts)
        if !outcome.faults.isEmpty { self.failed.append(outcome.schedule.seed) }
    }

    /// The time from a reconnect to a complete tape that this share of the reconnects does not exceed, ns.
    package func recovery(_ share: Double) -> Int64? {
        let sorted = self.counts.recoveries.sorted()
        guard !sorted.isEmpty else { return nil }
        return sorted[min(Int(Double(sorted.count) * share), sorted.count - 1)]
    }

    /// The kinds of faults that met no program.
    package var missingKinds: [String] { Fault.kinds.filter { self.counts.kinds[$0] == nil } }

    package var text: String {
        let counts = self.counts
        var lines = [
            "\(self.runs) schedules, \(self.failed.count) failed\(self.failed.isEmpty ? "" : ": \(self.failed)")",
            "\(counts.trades) trades on \(counts.lives) tapes, \(counts.filled) filled, \(counts.repeated) repeats left out, "
                + "\(counts.gaps) gaps",
            "\(counts.attempts) connections, \(counts.requests) REST requests, \(counts.rotations) rotations, "
                + "\(counts.rotationsClosedByProgram) of them ended by the program",
            "\(counts.killedRecordings) recordings of killed runs, \(counts.cutBytes) bytes cut off; "
                + "\(counts.recorded) trades read from recordings, \(counts.replayed) replayed",
            "reconnect to complete: \(counts.recoveries.count) times, median \(self.words(0.5)), 90 % \(self.words(0.9)), "
                + "99 % \(self.words(0.99)), longest \(self.words(1)); \(counts.interruptedRecoveries) interrupted",
            "faults: "
                + counts.kinds.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "),
        ]
        if !self.missingKinds.isEmpty { lines.append("never exercised: \(self.missingKinds.joined(separator: ", "))") }
        return lines.joined(separator: "\n")
    }

    private func words(_ share: Double) -> String { self.recovery(share).map { "\(Schedule.seconds($0)) s" } ?? "-" }
}
