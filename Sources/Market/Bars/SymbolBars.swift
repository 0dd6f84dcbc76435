/// The bars of one symbol in every width.
///
/// A trade is counted once, in a piece of one second; the piece goes into all widths when the next second begins.
package struct SymbolBars: Sendable {
    /// The trades since the last piece was passed on: of one second, in the order in which they came.
    private var piece: Bar?
    private var end = Int64.min
    private var series: [BarSeries]
    /// When the second of the newest trades begins, ns since 1970, while they are not passed on.
    package var pieceStart: Int64? { self.piece?.start }

    /// - Parameter capacity: how many bars each width keeps.
    package init(capacity: Int) {
        self.series = BarWidth.allCases.map { BarSeries(width: $0, capacity: capacity) }
    }

    /// Takes the next trade; returns whether it began another second than the one before it.
    @discardableResult
    package mutating func take(_ trade: Trade) -> Bool {
        if let start = self.piece?.start, trade.exchangeTime >= start, trade.exchangeTime < self.end {
            self.piece?.take(trade)
            return false
        }
        self.settle()
        let piece = Bar(pieceFrom: trade)
        self.piece = piece
        self.end = piece.end
        return true
    }

    /// Passes the newest trades on to all widths.
    package mutating func settle() {
        guard let piece = self.piece else { return }
        self.piece = nil
        self.end = .min
        for index in self.series.indices { self.series[index].take(piece) }
    }

    /// Notes that trades may be missing from one moment to another, both ns since 1970.
    package mutating func gapFound(from: Int64, to: Int64) {
        self.settle()
        for index in self.series.indices { self.series[index].gapFound(from: from, to: to) }
    }

    /// Notes that trades may be missing here, where the gap's times are of another clock than the trades'.
    package mutating func interrupted() {
        self.settle()
        for index in self.series.indices { self.series[index].interrupted() }
    }

    /// Puts bars of earlier runs in front, the newest of which ended at `end`; to be called before the first trade.
    package mutating func begin(with earlier: [Bar], of width: BarWidth, endedAt end: Int64) {
        let place = Self.place(of: width)
        self.series[place].begin(with: earlier)
        self.series[place].ended(at: end)
    }

    /// Keeps so many bars of each width from now on.
    package mutating func keep(_ capacity: Int) {
        for index in self.series.indices { self.series[index].keep(capacity) }
    }

    /// The bars of a width; those of the newest second are among them only after ``settle()``.
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
