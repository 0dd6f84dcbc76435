/// The trades of one symbol within one period, summarised: an OHLCV bar (a candle).
package struct Bar: Sendable, Equatable {
    /// The start of the period: a multiple of its width, ns since 1970 by the exchange's clock.
    package var start: Int64
    /// The length of the period, ns.
    package var width: Int64
    /// The first and the last price by the exchange's clock, and the extremes. Price updates (`v = 0`) count.
    package var open: ExactDecimal
    package var high: ExactDecimal
    package var low: ExactDecimal
    package var close: ExactDecimal
    /// The times of ``open`` and ``close``, ns since 1970 by the exchange's clock.
    package var openTime: Int64
    package var closeTime: Int64
    /// The ids of the trades of ``open`` and ``close``, which order trades of the same time; 0 where they have none.
    private var openID: UInt64
    private var closeID: UInt64
    /// The exact sum of all sizes.
    package var volume: ExactSum
    /// The exact sum of all prices times their sizes. An addend that 38 digits cannot hold is left out and counted by
    /// ``ExactSum/omitted``; the bar then has no ``average``.
    package var turnover: ExactSum
    /// The number of trades, without price updates.
    package var count: UInt64
    /// The number of trades that may have been counted before: those marked ``TradeMarks/possibleRepeat``.
    package var possibleRepeats: UInt64 = 0
    /// Whether trades of this period may be missing for good: the tape has a gap in it, or began or ended within it.
    package var lacksTrades: Bool
    /// Whether trades of this period are missing that have ids and may still come.
    package var awaitsTrades = false
    /// Whether trades of this period may be missing. Setting it says whether they may be missing for good.
    package var isIncomplete: Bool {
        get { self.lacksTrades || self.awaitsTrades }
        set {
            self.lacksTrades = newValue
            if !newValue { self.awaitsTrades = false }
        }
    }

    /// The first moment after the period.
    package var end: Int64 { self.start &+ self.width }

    /// Begins a bar with the first price of its period.
    init(
        start: Int64,
        width: Int64,
        price: ExactDecimal,
        size: ExactDecimal,
        time: Int64,
        id: UInt64? = nil,
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
        self.openID = id ?? 0
        self.closeID = id ?? 0
        self.volume = ExactSum()
        self.turnover = ExactSum()
        self.count = 0
        self.lacksTrades = isIncomplete
        self.count(price: price, size: size, marks)
    }

    /// Adds a price. Among equal times the ids decide; without ids the first to arrive opens and the last to arrive
    /// closes.
    mutating func take(
        price: ExactDecimal,
        size: ExactDecimal,
        time: Int64,
        id: UInt64? = nil,
        marks: TradeMarks = []
    ) {
        if self.high < price { self.high = price }
        if price < self.low { self.low = price }
        self.takeOpen(price, at: time, id: id ?? 0)
        self.takeClose(price, at: time, id: id ?? 0)
        self.count(price: price, size: size, marks)
    }

    /// Takes the ends of a piece of the same period.
    mutating func takeEnds(of piece: Bar) {
        self.takeOpen(piece.open, at: piece.openTime, id: piece.openID)
        self.takeClose(piece.close, at: piece.closeTime, id: piece.closeID)
    }

    private mutating func takeOpen(_ price: ExactDecimal, at time: Int64, id: UInt64) {
        guard time < self.openTime || (time == self.openTime && id > 0 && id < self.openID) else { return }
        (self.open, self.openTime, self.openID) = (price, time, id)
    }

    private mutating func takeClose(_ price: ExactDecimal, at time: Int64, id: UInt64) {
        guard time > self.closeTime || (time == self.closeTime && (id == 0 || id > self.closeID)) else { return }
        (self.close, self.closeTime, self.closeID) = (price, time, id)
    }

    private mutating func count(price: ExactDecimal, size: ExactDecimal, _ marks: TradeMarks) {
        guard !size.isZero else { return }
        self.volume.add(size)
        self.turnover.add(price, times: size)
        self.count += 1
        if marks.contains(.possibleRepeat) { self.possibleRepeats += 1 }
    }
}
