/// The counts of one symbol since the program's start, of all hours.
package struct CompletenessTotals: Sendable, Equatable {
    /// The trades with an id on the tape.
    package var trades: UInt64 = 0
    /// The ids that are not on the tape now.
    package var missing: UInt64 = 0
    /// The trades that came again and were left out.
    package var repeated: UInt64 = 0
    /// How many of ``trades`` had been missing and came later.
    package var filled: UInt64 = 0

    package init() {}

    package static func + (one: CompletenessTotals, other: CompletenessTotals) -> CompletenessTotals {
        var sum = one
        sum.trades &+= other.trades
        // Ids are untrusted, and a gap may have nearly all of them.
        sum.missing = one.missing.addingCapped(other.missing)
        sum.repeated &+= other.repeated
        sum.filled &+= other.filled
        return sum
    }
}

extension UInt64 {
    /// Returns the sum, limited to the largest number.
    package func addingCapped(_ other: UInt64) -> UInt64 {
        let (sum, isOut) = self.addingReportingOverflow(other)
        return isOut ? .max : sum
    }
}
