/// The faults of a stand-in: what happens to which of its connections.
///
/// A value. The same seed gives the same faults to the same connection, whatever the others do.
package struct FaultPlan: Sendable, Equatable {
    package var faults: [Fault]
    package var seed: UInt64
    /// By how much everything that a client is sent comes later, in nanoseconds.
    package var latency: Int64 = 0
    /// By up to how much more, evenly drawn, in nanoseconds.
    package var jitter: Int64 = 0

    package init(_ faults: [Fault] = [], seed: UInt64 = 1) {
        self.faults = faults
        self.seed = seed
    }

    /// Reads each fault of a list.
    package init(parsing texts: [String], seed: UInt64 = 1) throws(FaultSyntaxError) {
        var faults: [Fault] = []
        for text in texts { faults.append(try Fault(text)) }
        self.init(faults, seed: seed)
    }

    /// What happens to the connection of that number, counted from 1.
    package func connection(_ number: Int) -> ConnectionFaults {
        ConnectionFaults(
            self.faults.filter { $0.connections.contains(number) },
            // Neighbours must not draw the same numbers shifted by one, as neighbouring seeds would.
            seed: self.seed ^ (UInt64(truncatingIfNeeded: number) &* 0xD1B5_4A32_D192_ED03),
            latency: self.latency,
            jitter: self.jitter
        )
    }
}
