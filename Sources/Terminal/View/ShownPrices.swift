import Market

/// The newest prices of one symbol that were shown, as a list with the newest first: the tape as a person can follow it.
///
/// What the debounce left out between two of them is counted in the later one.
struct ShownPrices: Sendable {
    struct Entry: Sendable, Equatable {
        /// The exchange's clock, ns since 1970.
        var time: Int64
        var price: ExactDecimal
        var size: ExactDecimal
        var direction: PriceDirection
        /// Trades left out since the entry before.
        var skipped: UInt64
    }

    /// More than the highest screen has lines for beside a chart.
    static let most = 64

    /// A ring, filled from the front.
    private var ring: [Entry] = []
    private var newest = 0

    var count: Int { self.ring.count }

    /// The entries from the newest on.
    subscript(index: Int) -> Entry {
        self.ring[(self.newest + self.ring.count - index) % self.ring.count]
    }

    mutating func add(_ entry: Entry) {
        guard self.ring.count == Self.most else {
            self.ring.append(entry)
            self.newest = self.ring.count - 1
            return
        }
        self.newest = (self.newest + 1) % Self.most
        self.ring[self.newest] = entry
    }
}
