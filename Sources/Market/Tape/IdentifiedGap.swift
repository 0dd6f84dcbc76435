/// The trades of one symbol that are missing in a gap of a feed without ids, as another source of the same trades shows
/// them.
package struct IdentifiedGap: Sendable, Equatable {
    /// The symbol, by its name on the tape.
    package var symbol: String
    /// The times of the gap (``Gap/from`` and ``Gap/to``), wall clock, ns since 1970; of several gaps without a trade
    /// between them, those of all.
    package var from: Int64
    package var to: Int64
    /// The exchange's time before which none of the missing trades was made, ns since 1970.
    package var after: Int64
    /// The ids of the missing trades, in ascending order without a common id.
    package var missing: [ClosedRange<UInt64>]
    /// The ids of trades that the other source lacks for good and that may be missing, too; in ascending order, none of
    /// them in ``missing``.
    package var lost: [ClosedRange<UInt64>]
    /// Why they are lost, in one line; `nil` if none is.
    package var reason: String?

    package init(
        symbol: String,
        from: Int64,
        to: Int64,
        after: Int64,
        missing: [ClosedRange<UInt64>],
        lost: [ClosedRange<UInt64>] = [],
        reason: String? = nil
    ) {
        self.symbol = symbol
        self.from = from
        self.to = to
        self.after = after
        self.missing = missing
        self.lost = lost
        self.reason = reason
    }
}
