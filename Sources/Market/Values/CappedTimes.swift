/// Arithmetic with times that a stranger may have sent: it ends at the nearest number there is, and never traps.
extension Int64 {
    /// The sum, or the nearest number there is.
    package func addingCapped(_ other: Int64) -> Int64 {
        let (sum, isOut) = self.addingReportingOverflow(other)
        return isOut ? (other > 0 ? .max : .min) : sum
    }

    /// The difference, or the nearest number there is.
    package func subtractingCapped(_ other: Int64) -> Int64 {
        let (difference, isOut) = self.subtractingReportingOverflow(other)
        return isOut ? (other < 0 ? .max : .min) : difference
    }

    /// The product with a positive number, or the nearest number there is.
    package func multipliedCapped(by other: Int64) -> Int64 {
        let (product, isOut) = self.multipliedReportingOverflow(by: other)
        return isOut ? (self > 0 ? .max : .min) : product
    }
}
