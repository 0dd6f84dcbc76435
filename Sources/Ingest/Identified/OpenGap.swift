import Market

/// A published gap with ids, until each of its trades has come or is lost for good.
struct OpenGap {
    /// All that were missing when the gap was published.
    let ids: ClosedRange<UInt64>
    /// The times of the gap, wall clock, ns since 1970.
    let from: Int64
    let to: Int64
    /// Those that are lost so far, and why the newest of them are.
    var lost = IDRanges()
    var reason: String?

    func outcome(symbol: String) -> GapOutcome {
        GapOutcome(
            symbol: symbol,
            missing: self.ids,
            from: self.from,
            to: self.to,
            lost: self.lost.ranges,
            reason: self.reason
        )
    }
}
