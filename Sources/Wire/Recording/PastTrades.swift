package import Market

/// A query for recorded trades of a symbol.
package struct PastTradesQuery: Sendable, Equatable {
    /// Only trades before this place.
    package var before: TapePosition?
    /// Only trades that arrived in the interval from `from` up to, but not including, `to`, ns since 1970.
    package var from: Int64?
    package var to: Int64?
    /// The number of trades: the first ones where `from` is given, else the last.
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
        /// This machine's wall clock at the arrival, ns since 1970.
        package var received: Int64

        package init(place: TapePosition, trade: Trade, received: Int64) {
            self.place = place
            self.trade = trade
            self.received = received
        }
    }

    /// The oldest first.
    package var items: [Item]
    /// Whether the search was exhaustive; if not, it reached its limits of bytes or time, and there may be more trades.
    package var isComplete: Bool

    package init(items: [Item] = [], isComplete: Bool = true) {
        self.items = items
        self.isComplete = isComplete
    }
}
