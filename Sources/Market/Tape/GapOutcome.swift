/// The outcome of a gap whose missing trades have ids: each of them came later, or cannot be had.
///
/// A gap of a feed without ids, which has none in ``Gap/missing``, may have outcomes, too: for each symbol one without ids
/// if another source shows that nothing is missing in it, and else one for each range of ids that is missing. They have
/// its times, and the first of them tells readers whether all its trades came.
package struct GapOutcome: Sendable, Equatable {
    /// The symbol, by its name on the tape.
    package var symbol: String
    /// The ids that were missing when the gap was published (``Gap/missing``); `nil` if none was.
    package var missing: ClosedRange<UInt64>?
    /// The times of the gap (``Gap/from`` and ``Gap/to``), wall clock, ns since 1970.
    package var from: Int64
    package var to: Int64
    /// The ids that stay missing for good, in ascending order; empty if all trades came.
    package var lost: [ClosedRange<UInt64>]
    /// Why the lost ones cannot be had, in one line; `nil` if none is lost.
    package var reason: String?

    package init(
        symbol: String,
        missing: ClosedRange<UInt64>?,
        from: Int64,
        to: Int64,
        lost: [ClosedRange<UInt64>] = [],
        reason: String? = nil
    ) {
        self.symbol = symbol
        self.missing = missing
        self.from = from
        self.to = to
        self.lost = lost
        self.reason = reason
    }

    /// The times from ``from`` to ``to``; those of a file may be in the wrong order.
    package var times: ClosedRange<Int64> { min(self.from, self.to)...max(self.from, self.to) }

    /// Whether nothing is missing any more.
    package var isComplete: Bool { self.lost.isEmpty }
}
