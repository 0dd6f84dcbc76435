package import Market

/// What a line output has to say.
package enum LineItem: Sendable, Equatable {
    /// With the arrival of its trade where that is measured, monotonic ns.
    case price(PriceUpdate, arrived: Int64? = nil)
    /// One that a relay had before this program came; its trade arrived there at that time, monotonic ns.
    case snapshot(PriceUpdate, arrived: Int64)
    case status(FeedStatus)
    case gap(Gap)
    case symbol(SymbolStatus)
    /// Nobody asks for the symbol any more; since when, wall clock, ns since 1970.
    case unsubscribed(String, since: Int64)
    /// The symbols that the feed has, for an output that was not told which ones to wait for.
    case expected([String])
    /// A replay stands still, or goes on; since when, wall clock, ns since 1970.
    case paused(Bool, since: Int64 = 0)
    /// With what a terminal at the errors is sent beside the line.
    case alert(Alert, call: [UInt8])
}

/// A bounded queue of lines to come: when the reader is too slow the oldest price goes, and is counted.
package struct LineQueue: Sendable {
    /// The most items held.
    package let capacity: Int
    /// With the number of each item, in order.
    private var prices = Line()
    private var others = Line()
    private var next: UInt64 = 0
    private var dropped: UInt64 = 0

    /// Items of which the first go, without the others being moved each time.
    private struct Line: Sendable {
        var items: [(number: UInt64, item: LineItem)] = []
        /// So many of them are gone.
        var gone = 0

        var count: Int { self.items.count - self.gone }

        mutating func dropFirst() {
            self.gone += 1
            guard self.gone * 2 > self.items.count else { return }
            self.items.removeFirst(self.gone)
            self.gone = 0
        }

        mutating func take() -> ArraySlice<(number: UInt64, item: LineItem)> {
            defer { self = Line() }
            return self.items[self.gone...]
        }
    }

    package init(capacity: Int) {
        self.capacity = max(capacity, 1)
    }

    package var isEmpty: Bool { self.prices.count + self.others.count == 0 && self.dropped == 0 }

    /// Adds an item; where there is no room the oldest price makes some, or else the oldest item.
    package mutating func append(_ item: LineItem) {
        if self.prices.count + self.others.count == self.capacity {
            if self.prices.count > 0 { self.prices.dropFirst() } else { self.others.dropFirst() }
            self.dropped += 1
        }
        switch item {
        case .price, .snapshot: self.prices.items.append((self.next, item))
        case .status, .gap, .symbol, .unsubscribed, .expected, .paused, .alert:
            self.others.items.append((self.next, item))
        }
        self.next += 1
    }

    /// Takes everything out as it lies, for whoever holds a lock here; what is taken is put in order by its ``take()``.
    package mutating func takeOut() -> LineQueue {
        let taken = self
        self = LineQueue(capacity: self.capacity)
        return taken
    }

    /// Takes everything out, with the number of items dropped since the last time; those came before what is left.
    package mutating func take() -> (items: [LineItem], dropped: UInt64) {
        defer { self.dropped = 0 }
        var prices = self.prices.take()
        var others = self.others.take()
        var items: [LineItem] = []
        items.reserveCapacity(prices.count + others.count)
        while let price = prices.first {
            while let other = others.first, other.number < price.number {
                items.append(other.item)
                others.removeFirst()
            }
            items.append(price.item)
            prices.removeFirst()
        }
        items += others.map(\.item)
        return (items, self.dropped)
    }
}
