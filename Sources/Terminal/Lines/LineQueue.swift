import Market

/// A bounded queue of items to print: when the reader is too slow, the oldest price is dropped and counted.
package struct LineQueue: Sendable {
    /// The most items held.
    package let capacity: Int
    /// The items in order, each with its number.
    private var prices = Line()
    private var others = Line()
    private var next: UInt64 = 0
    private var dropped: UInt64 = 0

    /// A queue whose first items are removed without moving the others each time.
    private struct Line: Sendable {
        var items: [(number: UInt64, item: LineItem)] = []
        /// The number of removed items at the front of `items`.
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

    /// Adds an item. Where the queue is full, drops the oldest price, or else the oldest item.
    package mutating func append(_ item: LineItem) {
        if self.prices.count + self.others.count == self.capacity {
            if self.prices.count > 0 { self.prices.dropFirst() } else { self.others.dropFirst() }
            self.dropped += 1
        }
        switch item {
        case .price, .snapshot: self.prices.items.append((self.next, item))
        case .status, .day, .gap, .settled, .symbol, .unsubscribed, .expected, .paused, .step, .alert:
            self.others.items.append((self.next, item))
        }
        self.next += 1
    }

    /// Takes everything out unsorted, to hold a lock briefly; ``take()`` of the result puts it in order.
    package mutating func takeOut() -> LineQueue {
        let taken = self
        self = LineQueue(capacity: self.capacity)
        return taken
    }

    /// Takes everything out, with the number of items dropped since the last call; those came before the rest.
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
