/// The limits of an audit.
package struct AuditLimits: Sendable {
    /// How long a trade waits for its partner before it is judged, ns.
    package var wait: Int64 = 120_000_000_000
    /// How long it is remembered since its arrival, because the partner may still come; ns.
    package var memory: Int64 = 600_000_000_000
    /// The most trades of a symbol that wait on one side, and the most that have found their partners and are still
    /// compared with repeats. Beyond that the oldest are judged earlier, and forgotten earlier.
    package var trades = 65_536
    /// The most trades of a symbol on one side that were judged and are remembered.
    package var remembered = 4_096
    /// How long after the end of one of Finnhub's gaps its missing trades may still come from Finnhub, ns. After that
    /// they are named (``AuditMachine/takeIdentifiedGaps(now:)``); with `nil` they never are.
    package var gapWait: Int64?
    /// The most symbols; others are not compared.
    package var symbols = 1_024

    package init() {}
}
