/// What makes a feed a good neighbour of other programs with the same key, and of itself before and after a restart.
///
/// A replay has none of it.
package struct KeyHolding: Sendable {
    /// Keeps a second program from connecting.
    package var ownership: (any KeyOwnership)?
    /// Keeps a restarted program from connecting at once.
    package var ledger: (any AttemptLedger)?

    package init(ownership: (any KeyOwnership)? = nil, ledger: (any AttemptLedger)? = nil) {
        self.ownership = ownership
        self.ledger = ledger
    }
}
