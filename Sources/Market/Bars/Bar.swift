/// What the trades of one symbol did within a stretch of time: an OHLCV bar (a candle).
package struct Bar: Sendable, Equatable {
    /// When it begins: a multiple of its width; ns since 1970 by the exchange's clock.
    package var start: Int64
    /// How long it is, ns.
    package var width: Int64
    /// The first and the last price by the exchange's clock, and the extremes; price updates (`v = 0`) are among them.
    package var open: ExactDecimal
    package var high: ExactDecimal
    package var low: ExactDecimal
    package var close: ExactDecimal
    /// When the prices of ``open`` and ``close`` were made; ns since 1970 by the exchange's clock.
    package var openTime: Int64
    package var closeTime: Int64
    /// The sum of all sizes; exact.
    package var volume: ExactSum
    /// The sum of all prices times their sizes; exact. Where 38 digits cannot hold it with another trade, that one is
    /// missing, and ``ExactSum/omitted`` counts it; then there is no ``average``.
    package var turnover: ExactSum
    /// How many trades; price updates are none.
    package var count: UInt64
    /// How many of them may have been counted before: those marked ``TradeMarks/possibleRepeat``.
    package var possibleRepeats: UInt64 = 0
    /// Whether trades of this stretch may be missing: the tape has a gap in it, or began or ended within it.
    package var isIncomplete: Bool

    /// The first moment after it.
    package var end: Int64 { self.start &+ self.width }

    /// Begins a bar with the first price that falls into it.
    init(
        start: Int64,
        width: Int64,
        price: ExactDecimal,
        size: ExactDecimal,
        time: Int64,
        marks: TradeMarks = [],
        isIncomplete: Bool
    ) {
        self.start = start
        self.width = width
        self.open = price
        self.high = price
        self.low = price
        self.close = price
        self.openTime = time
        self.closeTime = time
        self.volume = ExactSum()
        self.turnover = ExactSum()
        self.count = 0
        self.isIncomplete = isIncomplete
        self.count(price: price, size: size, marks)
    }

    /// Takes in one more price. Of equal times the first to arrive opens, and the last to arrive closes.
    mutating func take(price: ExactDecimal, size: ExactDecimal, time: Int64, marks: TradeMarks = []) {
        if self.high < price { self.high = price }
        if price < self.low { self.low = price }
        if time < self.openTime { (self.open, self.openTime) = (price, time) }
        if time >= self.closeTime { (self.close, self.closeTime) = (price, time) }
        self.count(price: price, size: size, marks)
    }

    private mutating func count(price: ExactDecimal, size: ExactDecimal, _ marks: TradeMarks) {
        guard !size.isZero else { return }
        self.volume.add(size)
        self.turnover.add(price, times: size)
        self.count += 1
        if marks.contains(.possibleRepeat) { self.possibleRepeats += 1 }
    }
}
