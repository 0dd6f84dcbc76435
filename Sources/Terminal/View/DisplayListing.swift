import Market

/// The order in which a table lists its symbols.
enum DisplayListing {
    /// Returns all symbols from top to bottom: those with a price in the chosen order, then those without one.
    ///
    /// The selection moves along this list. Symbols with equal keys keep the watchlist's order, so that rows do not
    /// swap without a reason.
    static func symbols(of state: DisplayState, choice: DisplayChoice, now: Moment) -> [String] {
        Self.rows(of: state, choice: choice, now: now).map { state.rows[$0].summary.symbol } + state.waiting
    }

    /// Returns the symbol of the marked row: the selected one, or the first if that symbol is gone.
    static func selected(of state: DisplayState, choice: DisplayChoice, now: Moment) -> String? {
        let symbols = Self.symbols(of: state, choice: choice, now: now)
        if let selected = choice.selected, symbols.contains(selected) { return selected }
        return symbols.first
    }

    /// Returns the indices of ``DisplayState/rows`` in the chosen order.
    static func rows(of state: DisplayState, choice: DisplayChoice, now: Moment) -> [Int] {
        let rows = state.rows
        let places = Array(rows.indices)
        // Descending for numbers and ascending for names and ages.
        let sorted: [Int] =
            switch choice.order {
            case .watchlist: places
            case .symbol: Self.sorted(places, by: { rows[$0].summary.symbol }, <)
            case .price: Self.sorted(places, by: { rows[$0].summary.price }, >)
            case .change:
                Self.sorted(places, by: { Self.change(rows[$0], wall: now.wall) }, >)
            case .volume: Self.sorted(places, by: { Self.approximation(rows[$0].summary.volume) }, >)
            case .rate: Self.sorted(places, by: { rows[$0].rate.tenthsPerSecond(now: now.monotonic) ?? -1 }, >)
            // Compares whole seconds, as the screen shows them, since busy symbols would otherwise swap ten times a
            // second.
            case .age: Self.sorted(places, by: { AgeText.seconds(now.monotonic - rows[$0].arrived) }, <)
            }
        return choice.isReversed ? sorted.reversed() : sorted
    }

    private static func sorted<Key>(_ places: [Int], by key: (Int) -> Key, _ isBefore: (Key, Key) -> Bool) -> [Int] {
        let keyed = places.map { (place: $0, key: key($0)) }
        return keyed.sorted { left, right in
            if isBefore(left.key, right.key) { return true }
            if isBefore(right.key, left.key) { return false }
            return left.place < right.place
        }.map(\.place)
    }

    /// Returns the relative change that the row shows, for comparisons only.
    private static func change(_ row: DisplayRow, wall: Int64) -> Double {
        let base = ChangeBase(of: row, wall: wall).price.approximation
        let change = (row.summary.price.approximation - base) / base
        return change.isFinite ? change : -.greatestFiniteMagnitude
    }

    private static func approximation(_ sum: ExactSum) -> Double {
        sum.decimal?.approximation ?? Double(sum.description) ?? 0
    }
}
