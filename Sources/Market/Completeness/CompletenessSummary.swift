/// The completeness of the tape, for all symbols whose trades have ids.
package struct CompletenessSummary: Sendable, Equatable {
    package var symbols = 0
    /// The hours with every trade, and those with a missing one. The first and the newest hour of a symbol are in
    /// neither while nothing is missing, since they have no known beginning or end.
    package var complete = 0
    package var incomplete = 0
    package var totals = CompletenessTotals()

    package init() {}

    /// Two lines of at most 40 columns with usual numbers: the hours, and the trades.
    package var lines: [String] {
        let missing = self.totals.missing == 0 ? "nothing missing" : "\(self.totals.missing) missing"
        return [
            "hours: \(self.complete) complete, \(self.incomplete) incomplete",
            "trades: \(self.totals.trades), \(missing), \(self.totals.filled) filled",
        ]
    }

    /// The text `ids: 34419 trades of 3 symbols, 0 missing, 12 filled, 3 repeated; hours: 9 complete, 0 incomplete`;
    /// `nil` without a symbol.
    package var line: String? {
        guard self.symbols > 0 else { return nil }
        return
            "ids: \(self.totals.trades) trades of \(self.symbols) symbol\(self.symbols == 1 ? "" : "s"), "
            + "\(self.totals.missing) missing, \(self.totals.filled) filled, \(self.totals.repeated) repeated; "
            + self.lines[0]
    }
}
