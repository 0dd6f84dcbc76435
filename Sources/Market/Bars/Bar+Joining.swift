/// The assembly of bars from pieces and from stored values.
extension Bar {
    /// Restores a bar from its stored values.
    package init(
        start: Int64,
        width: BarWidth,
        open: (price: ExactDecimal, time: Int64),
        high: ExactDecimal,
        low: ExactDecimal,
        close: (price: ExactDecimal, time: Int64),
        volume: ExactSum,
        turnover: ExactSum,
        count: UInt64,
        possibleRepeats: UInt64 = 0,
        isIncomplete: Bool
    ) {
        self.init(
            start: start,
            width: width.nanoseconds,
            price: open.price,
            size: .zero,
            time: open.time,
            isIncomplete: isIncomplete
        )
        self.high = high
        self.low = low
        self.close = close.price
        self.closeTime = close.time
        self.volume = volume
        self.turnover = turnover
        self.count = count
        self.possibleRepeats = possibleRepeats
    }

    /// Begins a piece of one second with a trade.
    package init(pieceFrom trade: Trade) {
        self.init(
            start: BarWidth.second.start(of: trade.exchangeTime),
            width: BarWidth.second.nanoseconds,
            price: trade.price,
            size: trade.size,
            time: trade.exchangeTime,
            id: trade.id,
            marks: trade.marks,
            isIncomplete: false
        )
    }

    /// Adds a trade whose time lies within the bar.
    package mutating func take(_ trade: Trade) {
        self.take(
            price: trade.price,
            size: trade.size,
            time: trade.exchangeTime,
            id: trade.id,
            marks: trade.marks
        )
    }

    /// Returns this bar as a piece of the larger bar that contains it.
    package func widened(to width: BarWidth) -> Bar {
        var bar = self
        bar.start = width.start(of: self.start)
        bar.width = width.nanoseconds
        return bar
    }

    /// Appends a piece of the same period whose trades all arrived later.
    package mutating func append(_ later: Bar) {
        self.high = max(self.high, later.high)
        self.low = min(self.low, later.low)
        self.takeEnds(of: later)
        self.volume.add(later.volume)
        self.turnover.add(later.turnover)
        self.count &+= later.count
        self.possibleRepeats &+= later.possibleRepeats
        self.lacksTrades = self.lacksTrades || later.lacksTrades
        self.awaitsTrades = self.awaitsTrades || later.awaitsTrades
    }

    /// Whether the bar may lack trades, or its volume lacks an addend that could not be held.
    package var lacksSomething: Bool { self.isIncomplete || !self.volume.isWhole }

    /// The volume-weighted average price (VWAP): exact up to 18 significant digits, otherwise rounded to 18, half to
    /// even. `nil` if nothing was traded, or if the volume or the turnover lacks an addend.
    package var average: ExactDecimal? {
        guard self.volume.isWhole, self.turnover.isWhole else { return nil }
        return self.turnover.divided(by: self.volume)
    }
}
