/// Bars that are put together of pieces, and of what was kept of them.
extension Bar {
    /// Makes a bar again of what was kept of one.
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
            marks: trade.marks,
            isIncomplete: false
        )
    }

    /// Takes a trade whose time lies within the bar.
    package mutating func take(_ trade: Trade) {
        self.take(price: trade.price, size: trade.size, time: trade.exchangeTime, marks: trade.marks)
    }

    /// The piece of a bar that this one is, as a bar of a larger width.
    package func widened(to width: BarWidth) -> Bar {
        var bar = self
        bar.start = width.start(of: self.start)
        bar.width = width.nanoseconds
        return bar
    }

    /// Adds a piece of the same stretch whose trades all arrived later.
    package mutating func append(_ later: Bar) {
        self.high = max(self.high, later.high)
        self.low = min(self.low, later.low)
        if later.openTime < self.openTime { (self.open, self.openTime) = (later.open, later.openTime) }
        if later.closeTime >= self.closeTime { (self.close, self.closeTime) = (later.close, later.closeTime) }
        self.volume.add(later.volume)
        self.turnover.add(later.turnover)
        self.count &+= later.count
        self.possibleRepeats &+= later.possibleRepeats
        self.isIncomplete = self.isIncomplete || later.isIncomplete
    }

    /// Whether something of the bar may be missing: trades, or an addend of its volume that could not be held.
    package var lacksSomething: Bool { self.isIncomplete || !self.volume.isWhole }

    /// The volume-weighted average price (VWAP): exact where it has up to 18 significant digits, else rounded to so many, half
    /// to even. `nil` where nothing was traded, or a sum is not the whole sum.
    package var average: ExactDecimal? {
        guard self.volume.isWhole, self.turnover.isWhole else { return nil }
        return self.turnover.divided(by: self.volume)
    }
}
