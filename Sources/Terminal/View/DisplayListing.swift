import Market

/// The order in which a table lists its symbols.
enum DisplayListing {
    /// Returns the symbols of the open tab from top to bottom: those with a price in the chosen order, then those without
    /// one.
    ///
    /// The selection moves along this list. Symbols with equal keys keep the watchlist's order, so that rows do not
    /// swap without a reason.
    static func symbols(of state: DisplayState, choice: DisplayChoice, now: Moment) -> [String] {
        Self.rows(of: state, choice: choice, now: now).map { state.rows[$0].summary.symbol }
            + Self.waiting(of: state, choice: choice)
    }

    /// Returns the indices of the open tab's rows, in the order of the watchlist or of the group.
    private static func places(of state: DisplayState, choice: DisplayChoice) -> [Int] {
        guard let group = choice.group else { return Array(state.rows.indices) }
        var placeOf: [String: Int] = [:]
        for (index, row) in state.rows.enumerated() { placeOf[row.summary.symbol] = index }
        return group.symbols.compactMap { placeOf[$0] }
    }

    /// Returns the symbol of the marked row: the selected one, or the first if that symbol is gone.
    static func selected(of state: DisplayState, choice: DisplayChoice, now: Moment) -> String? {
        let symbols = Self.symbols(of: state, choice: choice, now: now)
        if let selected = choice.selected, symbols.contains(selected) { return selected }
        return symbols.first
    }

    /// Returns the symbols of the open tab without a price.
    static func waiting(of state: DisplayState, choice: DisplayChoice) -> [String] {
        let waiting = choice.group.map { $0.symbols.filter(state.waiting.contains) } ?? state.waiting
        guard let text = choice.narrowing else { return waiting }
        return waiting.filter { Self.matches($0, text) }
    }

    /// Whether a symbol contains a text, in upper or lower case.
    private static func matches(_ symbol: String, _ text: String) -> Bool {
        text.isEmpty || symbol.lowercased().contains(text.lowercased())
    }

    /// Returns the indices of the listed ones of ``DisplayState/rows``, in the chosen order.
    static func rows(of state: DisplayState, choice: DisplayChoice, now: Moment) -> [Int] {
        let rows = state.rows
        var places = Self.places(of: state, choice: choice)
        if let text = choice.narrowing { places.removeAll { !Self.matches(rows[$0].summary.symbol, text) } }
        // Descending for numbers and ascending for names and ages.
        let sorted: [Int] =
            switch choice.order {
            case .watchlist: places
            case .symbol: Self.sorted(places, by: { rows[$0].summary.symbol }, <)
            case .price: Self.sorted(places, by: { rows[$0].summary.price }, >)
            case .change:
                Self.sorted(places, by: { Self.change(rows[$0], wall: now.wall) }, >)
            case .volume: Self.sorted(places, by: { rows[$0].summary.volume.approximation }, >)
            case .rate: Self.sorted(places, by: { rows[$0].rate.tenthsPerSecond(now: now.monotonic) ?? -1 }, >)
            // Compares whole seconds, as the screen shows them, since busy symbols would otherwise swap ten times a
            // second.
            case .age: Self.sorted(places, by: { AgeText.seconds(now.monotonic - rows[$0].arrived) }, <)
            case .value, .profit: Self.sorted(places, of: state, by: choice.order, wall: now.wall)
            }
        return choice.isReversed ? sorted.reversed() : sorted
    }

    private static func sorted<Key>(_ places: [Int], by key: (Int) -> Key, _ isBefore: (Key, Key) -> Bool) -> [Int] {
        let keyed = places.enumerated().map { (rank: $0, place: $1, key: key($1)) }
        return keyed.sorted { left, right in
            if isBefore(left.key, right.key) { return true }
            if isBefore(right.key, left.key) { return false }
            return left.rank < right.rank
        }.map(\.place)
    }

    /// Sorts by an amount of the holdings; rows without one stand last.
    private static func sorted(_ places: [Int], of state: DisplayState, by order: DisplayOrder, wall: Int64) -> [Int] {
        let portfolio = Portfolio(of: state, wall: wall)
        func amount(_ place: Int) -> Double {
            guard let worth = portfolio.worth(of: state.rows[place].summary.symbol) else { return -.infinity }
            return (order == .value ? worth.value : worth.profit).approximation
        }
        return Self.sorted(places, by: amount, >)
    }

    /// Returns the relative change that the row shows, for comparisons only.
    private static func change(_ row: DisplayRow, wall: Int64) -> Double {
        let base = ChangeBase(of: row, wall: wall).price.approximation
        let change = (row.summary.price.approximation - base) / base
        return change.isFinite ? change : -.greatestFiniteMagnitude
    }
}
