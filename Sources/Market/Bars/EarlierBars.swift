/// The newest bars of a symbol from an earlier run.
package struct EarlierBars: Sendable {
    package var symbol: String
    package var width: BarWidth
    /// The oldest first.
    package var bars: [Bar]
    /// The newest time of all trades of that run, ns since 1970; bars that had not ended by then are incomplete.
    package var endedAt: Int64

    package init(symbol: String, width: BarWidth, bars: [Bar], endedAt: Int64) {
        self.symbol = symbol
        self.width = width
        self.bars = bars
        self.endedAt = endedAt
    }
}
