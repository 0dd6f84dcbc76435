/// A named list of symbols, which the screen shows as a tab.
package struct SymbolGroup: Sendable, Equatable {
    package var name: String
    /// Their names on the tape, in the group's own order.
    package var symbols: [String]
    package var sort = TableSort()

    package init(name: String, symbols: [String], sort: TableSort = TableSort()) {
        (self.name, self.symbols, self.sort) = (name, symbols, sort)
    }
}

/// The order of a table, and whether it is reversed.
package struct TableSort: Sendable, Equatable {
    package var order = DisplayOrder.watchlist
    package var isReversed = false

    package init(order: DisplayOrder = .watchlist, isReversed: Bool = false) {
        (self.order, self.isReversed) = (order, isReversed)
    }
}
