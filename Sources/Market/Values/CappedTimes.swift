/// Saturating arithmetic for times from untrusted input; it never traps.
extension Int64 {
    /// Returns the sum, saturated.
    package func addingCapped(_ other: Int64) -> Int64 {
        let (sum, isOut) = self.addingReportingOverflow(other)
        return isOut ? (other > 0 ? .max : .min) : sum
    }

    /// Returns the difference, saturated.
    package func subtractingCapped(_ other: Int64) -> Int64 {
        let (difference, isOut) = self.subtractingReportingOverflow(other)
        return isOut ? (other < 0 ? .max : .min) : difference
    }

    /// Returns the product with a positive number, saturated.
    package func multipliedCapped(by other: Int64) -> Int64 {
        let (product, isOut) = self.multipliedReportingOverflow(by: other)
        return isOut ? (self > 0 ? .max : .min) : product
    }

    /// Returns a wait that was doubled so many times, at most the limit.
    package func doubled(times: Int, limit: Int64) -> Int64 {
        var step = self
        for _ in 0..<Swift.max(Swift.min(times, 62), 0) where step < limit {
            step = step > limit / 2 ? limit : step * 2
        }
        return Swift.min(step, limit)
    }
}
