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
    /// Nobody asks for the symbol any more.
    case unwished(String)
    /// The symbols that the feed has, for an output that was not told which ones to wait for.
    case expected([String])
    /// A replay stands still, or goes on.
    case paused(Bool)
    /// With what a terminal at the errors is sent beside the line.
    case alert(Alert, call: [UInt8])
}

/// A bounded queue of lines to come: when the reader is too slow the oldest price goes, and is counted.
package struct LineQueue: Sendable {
    /// The most items held.
    package let capacity: Int
    private var items: [LineItem] = []
    private var dropped: UInt64 = 0

    package init(capacity: Int) {
        self.capacity = max(capacity, 1)
    }

    package var isEmpty: Bool { self.items.isEmpty && self.dropped == 0 }

    /// Adds an item; where there is no room the oldest price makes some, or else the oldest item.
    package mutating func append(_ item: LineItem) {
        if self.items.count == self.capacity {
            let oldest = self.items.firstIndex {
                switch $0 {
                case .price, .snapshot: true
                default: false
                }
            }
            self.items.remove(at: oldest ?? 0)
            self.dropped += 1
        }
        self.items.append(item)
    }

    /// Takes everything out, with the number of items dropped since the last time; those came before what is left.
    package mutating func take() -> (items: [LineItem], dropped: UInt64) {
        defer {
            self.items.removeAll(keepingCapacity: true)
            self.dropped = 0
        }
        return (self.items, self.dropped)
    }
}
