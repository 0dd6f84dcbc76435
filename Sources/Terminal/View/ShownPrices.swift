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

    /// How many of the newest ones are kept apart: the screen's thread holds the state that it draws, so that the next
    /// price copies what it changes.
    private static let few = 16

    /// Oldest first, both.
    private var older: [Entry] = []
    private var newer: [Entry] = []

    var count: Int { min(self.older.count + self.newer.count, Self.most) }

    /// Returns an entry; the newest one has index 0.
    subscript(index: Int) -> Entry {
        index < self.newer.count
            ? self.newer[self.newer.count - 1 - index]
            : self.older[self.older.count - 1 - (index - self.newer.count)]
    }

    mutating func add(_ entry: Entry) {
        if self.newer.count == Self.few {
            self.older = Array((self.older + self.newer).suffix(Self.most - 1))
            self.newer.removeAll(keepingCapacity: true)
        }
        self.newer.append(entry)
    }
}
