import Market

/// The faults of one REST service: a state machine with time as an argument, monotonic ns; chance comes from the seed and
/// the number of requests alone.
struct RestFaults {
    private let faults: [(fault: Fault, kind: RestFault, share: Double)]
    private let start: Int64
    private var generator: SeededGenerator
    private var requests = 0

    /// - Parameter start: the time from which the faults' times count.
    init(_ plan: FaultPlan, start: Int64) {
        self.faults = plan.faults.compactMap { fault in
            guard case .rest(let kind, let share) = fault.kind else { return nil }
            return (fault, kind, share)
        }
        self.start = start
        self.generator = SeededGenerator(seed: plan.seed)
    }

    /// The longest time by which answers lag, ns; 0 without one.
    var longestLag: Int64 {
        self.faults.reduce(0) { longest, fault in
            if case .lag(let time) = fault.kind { max(longest, time) } else { longest }
        }
    }

    /// Notes a request for trades and returns its faults, in the order in which they were given.
    mutating func requested(now: Int64) -> [RestFault] {
        self.requests += 1
        var found: [RestFault] = []
        for fault in self.faults
        where fault.fault.connections.contains(self.requests) && fault.fault.holds(at: now - self.start) {
            guard fault.share == 1 || Double.random(in: 0..<1, using: &self.generator) < fault.share else { continue }
            found.append(fault.kind)
        }
        return found
    }
}
