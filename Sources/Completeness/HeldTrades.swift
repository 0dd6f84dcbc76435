import Market

/// The trades of one symbol that wait for missing ones before them, by ascending id.
struct HeldTrades: Sendable {
    /// Those that came in the order of their ids, as nearly all do, from ``head`` on.
    private var ordered: [Trade] = []
    private var head = 0
    /// The others: a binary heap, the lowest id first.
    private var others: [Trade] = []

    var count: Int { self.ordered.count - self.head + self.others.count }
    var isEmpty: Bool { self.count == 0 }

    /// The lowest id.
    var first: UInt64? {
        let ordered = self.head < self.ordered.count ? self.ordered[self.head].id : nil
        guard let other = self.others.first?.id else { return ordered }
        return min(other, ordered ?? .max)
    }

    /// Adds a trade beyond all others.
    mutating func append(_ trade: Trade) { self.ordered.append(trade) }

    /// Adds a trade between others.
    mutating func insert(_ trade: Trade) {
        self.others.append(trade)
        var place = self.others.count - 1
        while place > 0 {
            let parent = (place - 1) / 2
            guard Self.isBefore(self.others[place], self.others[parent]) else { return }
            self.others.swapAt(place, parent)
            place = parent
        }
    }

    /// Removes the trade with the lowest id.
    mutating func removeFirst() -> Trade? {
        if let other = self.others.first,
            self.head >= self.ordered.count || Self.isBefore(other, self.ordered[self.head])
        {
            return self.removeOther()
        }
        guard self.head < self.ordered.count else { return nil }
        let trade = self.ordered[self.head]
        self.head += 1
        if self.head == self.ordered.count {
            // The memory is not needed for a long time.
            self.ordered = []
            self.head = 0
        } else if self.head >= 4_096, self.head * 2 >= self.ordered.count {
            self.ordered.removeFirst(self.head)
            self.head = 0
        }
        return trade
    }

    private mutating func removeOther() -> Trade? {
        guard let first = self.others.first, let last = self.others.popLast() else { return nil }
        guard !self.others.isEmpty else { return first }
        self.others[0] = last
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < self.others.count {
                if Self.isBefore(self.others[child], self.others[least]) { least = child }
            }
            guard least != place else { return first }
            self.others.swapAt(place, least)
            place = least
        }
    }

    /// Removes and returns all trades, in no order.
    mutating func removeAll() -> [Trade] {
        defer { self = HeldTrades() }
        return self.ordered[self.head...] + self.others
    }

    private static func isBefore(_ one: Trade, _ other: Trade) -> Bool { one.id ?? .max < other.id ?? .max }
}
