import Market

/// The order in which a table lists its symbols.
enum DisplayListing {
    /// All symbols as the table has them from top to bottom: those with a price by the chosen order, then those that wait
    /// for one.
    ///
    /// The selection moves along this list. Equal ones keep the order of the watchlist, so that no two rows change places
    /// without a reason.
    static func symbols(of state: DisplayState, choice: DisplayChoice, now: Moment) -> [String] {
        Self.rows(of: state, choice: choice, now: now).map { state.rows[$0].summary.symbol } + state.waiting
    }

    /// The symbol whose row is marked: the one chosen, or the first where that has gone.
    static func selected(of state: DisplayState, choice: DisplayChoice, now: Moment) -> String? {
        let symbols = Self.symbols(of: state, choice: choice, now: now)
        if let selected = choice.selected, symbols.contains(selected) { return selected }
        return symbols.first
    }

    /// The places in ``DisplayState/rows`` in the chosen order.
    static func rows(of state: DisplayState, choice: DisplayChoice, now: Moment) -> [Int] {
        let rows = state.rows
        let places = Array(rows.indices)
        // What is largest, newest or busiest comes first; names begin at A.
        let sorted: [Int] =
            switch choice.order {
            case .watchlist: places
            case .symbol: Self.sorted(places, by: { rows[$0].summary.symbol }, <)
            case .price: Self.sorted(places, by: { rows[$0].summary.price }, >)
            case .change:
                Self.sorted(places, by: { Self.change(rows[$0].summary) }, >)
            case .volume: Self.sorted(places, by: { Self.approximation(rows[$0].summary.volume) }, >)
            case .rate: Self.sorted(places, by: { rows[$0].rate.tenthsPerSecond(now: now.monotonic) ?? -1 }, >)
            // Whole seconds, as they are shown: else busy symbols would change places ten times a second.
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

    /// The change since the session's start as a part of it; for comparing only.
    private static func change(_ summary: SymbolSummary) -> Double {
        let open = summary.open.approximation
        let change = (summary.price.approximation - open) / open
        return change.isFinite ? change : -.greatestFiniteMagnitude
    }

    private static func approximation(_ sum: ExactSum) -> Double {
        sum.decimal?.approximation ?? Double(sum.description) ?? 0
    }
}
