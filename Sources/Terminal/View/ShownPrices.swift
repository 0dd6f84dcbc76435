package import Market

/// The newest prices of one symbol that were shown, as a list with the newest first: the tape as a person can follow it.
///
/// What the debounce left out between two of them is counted in the later one.
package struct ShownPrices: Sendable {
    package struct Entry: Sendable, Equatable {
        /// The exchange's clock, ns since 1970.
        package var time: Int64
        package var price: ExactDecimal
        package var size: ExactDecimal
        package var direction: PriceDirection
        /// Trades left out since the entry before.
        package var skipped: UInt64

        package init(
            time: Int64,
            price: ExactDecimal,
            size: ExactDecimal,
            direction: PriceDirection,
            skipped: UInt64
        ) {
            self.time = time
            self.price = price
            self.size = size
            self.direction = direction
            self.skipped = skipped
        }
    }

    /// More than the highest screen has lines for beside a chart.
    package static let most = 64

    /// A ring, filled from the front.
    private var ring: [Entry] = []
    private var newest = 0

    package init() {}

    package var count: Int { self.ring.count }

    /// The entries from the newest on.
    package subscript(index: Int) -> Entry {
        self.ring[(self.newest + self.ring.count - index) % self.ring.count]
    }

    package mutating func add(_ entry: Entry) {
        guard self.ring.count == Self.most else {
            self.ring.append(entry)
            self.newest = self.ring.count - 1
            return
        }
        self.newest = (self.newest + 1) % Self.most
        self.ring[self.newest] = entry
    }
}
