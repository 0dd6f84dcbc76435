package import Market

/// What is asked of the recorded trades of a symbol.
package struct PastTradesQuery: Sendable, Equatable {
    /// Only trades before this place.
    package var before: TapePosition?
    /// Only trades that arrived from one moment to another (not at it), ns since 1970.
    package var from: Int64?
    package var to: Int64?
    /// The first so many where `from` is given, else the last.
    package var limit: Int

    package init(before: TapePosition? = nil, from: Int64? = nil, to: Int64? = nil, limit: Int) {
        self.before = before
        self.from = from
        self.to = to
        self.limit = limit
    }
}

/// Some recorded trades of one symbol.
package struct PastTrades: Sendable, Equatable {
    package struct Item: Sendable, Equatable {
        package var place: TapePosition
        package var trade: Trade
        /// Our wall clock at the arrival, ns since 1970.
        package var received: Int64

        package init(place: TapePosition, trade: Trade, received: Int64) {
            self.place = place
            self.trade = trade
            self.received = received
        }
    }

    /// The oldest first.
    package var items: [Item]
    /// Whether all was looked through that there is; if not, the limits on bytes or time were met, and there may be more.
    package var isComplete: Bool

    package init(items: [Item] = [], isComplete: Bool = true) {
        self.items = items
        self.isComplete = isComplete
    }
}
