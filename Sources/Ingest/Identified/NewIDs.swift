/// The search for a venue that has begun its ids anew.
///
/// Then all trades have ids below the newest one, and would be left out as repeats or taken for late ones for ever. But
/// they are live, follow each other by one, and are later than the trade with the newest id, which no repeat and no
/// late trade is.
struct NewIDs {
    /// The number of such trades in a row that proves it.
    static let proof: UInt64 = 100

    private(set) var first: UInt64
    private(set) var last: UInt64
    /// Whether the trades were left out as repeats. Otherwise their ids were missing, and they are on the tape.
    let areLeftOut: Bool

    init(_ id: UInt64, isLeftOut: Bool) {
        (self.first, self.last, self.areLeftOut) = (id, id, isLeftOut)
    }

    /// Takes the symbol's next trade. Returns whether it continues the row.
    mutating func take(_ id: UInt64, isLeftOut: Bool) -> Bool {
        guard isLeftOut == self.areLeftOut, id > self.last, id - self.last == 1 else { return false }
        self.last = id
        return true
    }

    var isProven: Bool { self.last - self.first >= Self.proof - 1 }
}
