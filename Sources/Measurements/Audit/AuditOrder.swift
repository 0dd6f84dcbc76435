/// The delivered trades that came after a trade with a later id: each of them was delayed, if a feed delays trades and
/// hurries none.
struct AuditOrder {
    /// The latest id so far, behind which the next trade is in order; 0 before the first.
    private(set) var newest: UInt64 = 0
    /// How many trades came behind a later one.
    private(set) var overtaken = 0

    /// Takes the id of the next trade.
    mutating func take(_ id: UInt64) {
        if id < self.newest { self.overtaken += 1 }
        self.newest = max(self.newest, id)
    }
}
