package import Market

/// Charts that begin with what was before.
extension DisplayModel {
    /// How far back a chart begins: what is older would leave no room for the session, ns.
    package static let earlierReach: Int64 = 7_200_000_000_000

    /// Takes bars of an earlier run, with which the charts of their symbols begin; a hole marks where they end.
    ///
    /// Bars have the exchange's clock. Where charts are drawn by another one they mean nothing: the demo's market is of
    /// another day.
    ///
    /// - Parameter wall: our wall clock, ns since 1970.
    package mutating func begin(with earlier: [EarlierBars], wall: Int64) {
        guard self.state.status.source != .demo else { return }
        for symbol in Set(earlier.map(\.symbol)) where self.earlier.count < SymbolTable.capacity {
            func bars(_ width: BarWidth) -> [Bar] {
                earlier.filter { $0.symbol == symbol && $0.width == width }.flatMap(\.bars)
                    .filter { self.state.followsExchangeClock || $0.start > wall - Self.earlierReach && $0.end <= wall }
            }
            let history = PriceHistory(seconds: bars(.second), minutes: bars(.minute))
            guard history.start != nil else { continue }
            guard let row = self.rowOf[symbol] else {
                self.earlier[symbol] = history
                continue
            }
            // The session has begun already: what was before goes in front of it.
            self.state.rows[row].history = history.followed(by: self.state.rows[row].history)
        }
    }
}
