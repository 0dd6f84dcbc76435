import Market

/// The newest displayed prices of one symbol, newest first.
struct ShownPrices: Sendable {
    struct Entry: Sendable, Equatable {
        /// The exchange's clock, ns since 1970.
        var time: Int64
        var price: ExactDecimal
        var size: ExactDecimal
        var direction: PriceDirection
    }

    /// More than a screen has lines beside a chart.
    static let most = 64

    /// A ring buffer, filled from the front.
    private var ring: [Entry] = []
    private var newest = 0

    var count: Int { self.ring.count }

    /// Returns an entry; the newest one has index 0.
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
