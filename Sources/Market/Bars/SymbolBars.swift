/// The bars of one symbol in every width.
///
/// Each trade is counted once, in a piece of one second. All widths take the piece when the next second begins.
package struct SymbolBars: Sendable {
    /// The trades since the last piece was passed on, all of one second, in the order of arrival.
    private var piece: Bar?
    private var end = Int64.min
    /// Whether all of these trades are filled (``TradeMarks/filled``); otherwise none is.
    private var isFilled = false
    private var series: [BarSeries]
    /// The start of the second whose trades are not passed on yet, ns since 1970.
    package var pieceStart: Int64? { self.piece?.start }

    /// - Parameter capacity: the number of bars that each width keeps.
    package init(capacity: Int) {
        self.series = BarWidth.allCases.map { BarSeries(width: $0, capacity: capacity) }
    }

    /// Adds the next trade; returns whether it began another piece than the previous trade's: it is of another second, or
    /// only one of the two is filled.
    @discardableResult
    package mutating func take(_ trade: Trade) -> Bool {
        if let start = self.piece?.start, trade.exchangeTime >= start, trade.exchangeTime < self.end,
            trade.isFilled == self.isFilled
        {
            self.piece?.take(trade)
            return false
        }
        self.settle()
        let piece = Bar(pieceFrom: trade)
        self.piece = piece
        self.end = piece.end
        self.isFilled = trade.isFilled
        return true
    }

    /// Passes the newest trades on to all widths.
    package mutating func settle() {
        guard let piece = self.piece else { return }
        self.piece = nil
        self.end = .min
        for index in self.series.indices { self.series[index].take(piece, isFilled: self.isFilled) }
    }

    /// Notes that trades may be missing between two moments, both ns since 1970.
    ///
    /// - Parameter missing: the ids of the missing trades, all of which may still come; `nil` without ids.
    package mutating func gapFound(from: Int64, to: Int64, missing: ClosedRange<UInt64>? = nil) {
        self.settle()
        for index in self.series.indices { self.series[index].gapFound(from: from, to: to, missing: missing) }
    }

    /// Notes the outcome of a gap: its bars are complete if all trades have come and no other gap touches them.
    ///
    /// - Parameter published: the times of the gap, which tell it if it has no ids; `nil` if these are enough.
    package mutating func gapSettled(
        _ missing: ClosedRange<UInt64>?,
        published: ClosedRange<Int64>? = nil,
        isComplete: Bool
    ) {
        self.settle()
        for index in self.series.indices {
            self.series[index].gapSettled(missing, published: published, isComplete: isComplete)
        }
    }

    /// Notes that trades may be missing here; for gaps whose times are not of the trades' clock.
    ///
    /// - Parameters: those of ``BarSeries/interrupted(missing:published:)``.
    package mutating func interrupted(
        missing: ClosedRange<UInt64>? = nil,
        published: ClosedRange<Int64>? = nil
    ) {
        self.settle()
        for index in self.series.indices { self.series[index].interrupted(missing: missing, published: published) }
    }

    /// Starts a width with the bars of earlier runs, the newest of which ended at `end`. The caller does this before
    /// the first trade.
    package mutating func begin(with earlier: [Bar], of width: BarWidth, endedAt end: Int64) {
        let place = Self.place(of: width)
        self.series[place].begin(with: earlier)
        self.series[place].ended(at: end)
    }

    /// Changes how many bars each width keeps.
    package mutating func keep(_ capacity: Int) {
        for index in self.series.indices { self.series[index].keep(capacity) }
    }

    /// The bars of a width. They include those of the newest second only after ``settle()``.
    package subscript(width: BarWidth) -> BarSeries { self.series[Self.place(of: width)] }

    private static func place(of width: BarWidth) -> Int {
        switch width {
        case .second: 0
        case .minute: 1
        case .fiveMinutes: 2
        case .hour: 3
        }
    }
}
