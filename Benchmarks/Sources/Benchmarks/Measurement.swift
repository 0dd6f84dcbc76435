import CMallocCount

/// The cost of work that was measured in several passes.
struct Measurement {
    /// The fastest and the median pass, ns per unit.
    var best: Double
    var median: Double
    /// The allocations of the last pass, per unit.
    var allocations: Double

    /// Runs `work` once to warm up and then `passes` times; `work` returns the number of units it did.
    static func take(passes: Int = 25, _ work: () -> Int) -> Measurement {
        _ = work()
        var times: [Double] = []
        var allocations = 0.0
        for _ in 0..<passes {
            let countBefore = malloc_count()
            let start = thread_cpu_ns()
            let units = work()
            let end = thread_cpu_ns()
            allocations = Double(malloc_count() - countBefore) / Double(units)
            times.append(Double(end - start) / Double(units))
        }
        times.sort()
        return Measurement(best: times[0], median: times[times.count / 2], allocations: allocations)
    }

    /// Returns one line: the name, ns per unit, units per second, allocations per unit.
    func line(_ name: String) -> String {
        let padded = name + String(repeating: " ", count: max(1, 34 - name.count))
        return "\(padded)\(Self.short(self.best)) ns best, \(Self.short(self.median)) ns median, "
            + "\(Self.short(1_000 / self.best)) M/s, \(Self.short(self.allocations)) allocations"
    }

    static func short(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
    }
}
