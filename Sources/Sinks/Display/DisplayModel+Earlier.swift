import Market

/// Charts that begin with what was before.
extension DisplayModel {
    /// How far back a chart begins: what is older would leave no room for the session, ns.
    package static let earlierReach: Int64 = 7_200_000_000_000

    /// How much later than the exchange's clock ours may have a trade, ns.
    private static let lag: Int64 = 2_000_000_000

    /// Takes bars of an earlier run, or of a relay, with which the charts of their symbols begin; a hole marks where they
    /// end, unless they reach into the session.
    ///
    /// Bars have the exchange's clock. Where charts are drawn by another one they mean nothing: the demo's market is of
    /// another day.
    ///
    /// - Parameter wall: our wall clock, ns since 1970.
    package mutating func begin(with earlier: [EarlierBars], wall: Int64) {
        guard self.state.status.source != .demo else { return }
        for symbol in Set(earlier.map(\.symbol)) where self.earlier.count < SymbolTable.capacity {
            let row = self.rowOf[symbol]
            let session = row.map { self.state.rows[$0].history }
            func bars(_ width: BarWidth) -> [Bar] {
                let bars = earlier.filter { $0.symbol == symbol && $0.width == width }.flatMap(\.bars)
                // A replay has a clock of its own, which stands where its newest bar is.
                let now = self.state.followsExchangeClock ? bars.last?.end ?? 0 : wall
                let end = session?.start ?? now
                return bars.filter { $0.start > now - Self.earlierReach && $0.end <= end }
            }
            var seconds = bars(.second)
            let minutes = bars(.minute)
            // They begin within a minute, whose bar then stands for its time if it is whole.
            if let first = seconds.first, let around = minutes.last(where: { $0.start < first.start }),
                !around.isIncomplete
            {
                seconds.removeAll { $0.start < around.end }
            }
            let history = PriceHistory(seconds: seconds, minutes: minutes)
            guard let newest = history.newest else { continue }
            guard let row, let session else {
                self.earlier[symbol] = history
                continue
            }
            guard let start = session.start else {
                self.state.rows[row].history = history
                continue
            }
            // The session has begun already: what was before goes in front of it.
            self.state.rows[row].history = history.followed(by: session, isSeamless: newest >= start - Self.lag)
        }
    }
}
