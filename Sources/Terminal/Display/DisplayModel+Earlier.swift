import Market

/// The charts' prices from before the session.
extension DisplayModel {
    /// How far back a chart begins, ns: older prices would leave too little space for the session.
    package static let earlierReach: Int64 = 7_200_000_000_000

    /// How far back a chart of a day begins, ns.
    package static let earlierDay: Int64 = 2 * 86_400_000_000_000

    /// How much later than the exchange's clock this machine's may date a trade, ns.
    private static let lag: Int64 = 2_000_000_000

    /// Takes bars of an earlier run, or of a relay, with which the charts of their symbols begin. A hole marks their
    /// end, unless they reach into the session.
    ///
    /// Bars have the exchange's clock. Charts of the demo get none: its market is of another day.
    ///
    /// - Parameter wall: this machine's wall clock, ns since 1970.
    mutating func begin(with earlier: [EarlierBars], wall: Int64) {
        guard self.state.status.source != .demo else { return }
        for symbol in Set(earlier.map(\.symbol)) where self.earlier.count < SymbolTable.capacity {
            let row = self.rowOf[symbol]
            let session = row.map { self.state.rows[$0].sessionPrices }
            func known(_ width: BarWidth, reach: Int64 = Self.earlierReach) -> [Bar] {
                let bars = earlier.filter { $0.symbol == symbol && $0.width == width }.flatMap(\.bars)
                // A replay has its own time, which the newest bar shows.
                let now = self.state.followsExchangeClock ? bars.last?.end ?? 0 : wall
                return bars.filter { $0.start > now - reach }
            }
            let (seconds, minutes) = (known(.second), known(.minute))
            let newestKnown = max(seconds.last?.end ?? .min, minutes.last?.end ?? .min)
            let end = session?.start ?? (self.state.followsExchangeClock ? newestKnown : wall)
            var drawn = seconds.filter { $0.end <= end }
            // The bars by the second begin within a minute. That minute's bar replaces them if it is complete.
            if let first = drawn.first,
                let around = minutes.last(where: { $0.start < first.start && $0.end <= end }), !around.isIncomplete
            {
                drawn.removeAll { $0.start < around.end }
            }
            let fiveMinutes = known(.fiveMinutes, reach: Self.earlierDay)
            var history = PriceHistory(seconds: drawn, minutes: minutes, fiveMinutes: fiveMinutes, end: end)
            guard let row, let session else {
                if history.newest != nil { self.earlier[symbol] = history }
                continue
            }
            guard let start = session.start else {
                if history.newest != nil { self.state.rows[row].history = history }
                continue
            }
            // A session that begins before the bars has no use for them.
            guard let oldest = [seconds.first?.start, minutes.first?.start].compactMap(\.self).min(),
                start >= oldest
            else { continue }
            // The session has begun: the bars go in front of it.
            let last = drawn.last ?? minutes.last { $0.end <= end }
            let isSeamless = last.map { Self.isSeamless($0, seconds, minutes, start) } ?? false
            // The second in which the session begins also holds earlier prices.
            let shared = seconds.first { $0.start <= start && start < $0.end }
            if let shared { history.take(last: shared, isSeamless: isSeamless) }
            self.state.rows[row].history = history.followed(by: session, isSeamless: isSeamless)
        }
    }

    /// Whether no trade can be missing between the last bar in front of a session and the session's first trade: a bar
    /// by the second reaches into the session, and no bar between the two is incomplete.
    ///
    /// The bar of the first trade itself is not in front, however long the silence before it was.
    private static func isSeamless(_ last: Bar, _ seconds: [Bar], _ minutes: [Bar], _ start: Int64) -> Bool {
        let reaching = seconds.filter { $0.start <= start + Self.lag && $0.end > start - Self.lag }
        guard let first = reaching.first else { return !last.isIncomplete && last.end >= start - Self.lag }
        guard !last.isIncomplete, !reaching.contains(where: \.isIncomplete) else { return false }
        // Adjoining bars leave no time for a gap.
        return first.start <= last.end
            || !minutes.contains { $0.isIncomplete && $0.start < start && $0.end > last.end }
    }
}

extension DisplayRow {
    /// The session's prices; they include the last known price where there is no other.
    fileprivate var sessionPrices: PriceHistory {
        guard self.history.start == nil, let known = self.lastKnown else { return self.history }
        var prices = self.history
        prices.take(known.price, at: known.time, arrived: self.arrived, isWhole: false)
        return prices
    }
}
