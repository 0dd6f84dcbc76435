/// The faults of a mock server's connections.
///
/// The same seed gives the same faults to the same connection, independently of the other connections.
package struct FaultPlan: Sendable, Equatable {
    package var faults: [Fault]
    package var seed: UInt64
    /// The delay of everything that a client is sent, in nanoseconds.
    package var latency: Int64 = 0
    /// The largest additional delay, evenly distributed, in nanoseconds.
    package var jitter: Int64 = 0

    package init(_ faults: [Fault] = [], seed: UInt64 = 1) {
        self.faults = faults
        self.seed = seed
    }

    /// Parses each fault of a list.
    package init(parsing texts: [String], seed: UInt64 = 1) throws(FaultSyntaxError) {
        var faults: [Fault] = []
        for text in texts { faults.append(try Fault(text)) }
        self.init(faults, seed: seed)
    }

    /// Returns the faults of a connection by its number, counted from 1.
    package func connection(_ number: Int) -> ConnectionFaults {
        ConnectionFaults(
            self.faults.filter { $0.connections.contains(number) },
            // Neighbouring seeds would make neighbouring connections draw the same numbers, shifted by one.
            seed: self.seed ^ (UInt64(truncatingIfNeeded: number) &* 0xD1B5_4A32_D192_ED03),
            latency: self.latency,
            jitter: self.jitter
        )
    }
}
