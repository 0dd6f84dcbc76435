import Market

/// A candle of a chart: the prices and the volume of one period, for drawing.
struct ChartCandle: Equatable {
    var open: Double
    var high: Double
    var low: Double
    var close: Double
    var volume: Double
    /// Whether trades of the period may be missing.
    var isIncomplete: Bool

    var isRising: Bool { self.close >= self.open }

    private mutating func append(_ next: ChartCandle) {
        self.high = max(self.high, next.high)
        self.low = min(self.low, next.low)
        self.close = next.close
        self.volume += next.volume
        self.isIncomplete = self.isIncomplete || next.isIncomplete
    }

    /// Returns the candles of periods; `nil` for one without a price.
    ///
    /// A gap makes the candles on its two sides incomplete.
    ///
    /// - Parameter isCut: whether the connection is lost, so that trades since the newest may be missing.
    static func candles(of series: PriceSeries, in periods: ChartPeriods, isCut: Bool) -> [ChartCandle?] {
        var candles = [ChartCandle?](repeating: nil, count: periods.count)
        var before: Int?
        func lackTrades() {
            if let before { candles[before]?.isIncomplete = true }
        }
        for index in max(0, series.index(from: periods.start) - 1)..<max(series.count, 0) {
            let point = series[index]
            if point.followsGap, !point.hasGapWithin { lackTrades() }
            guard point.start < periods.end else { return candles }
            before = periods.place(of: point.start)
            guard let place = before, let next = ChartCandle(point) else { continue }
            if candles[place] == nil { candles[place] = next } else { candles[place]?.append(next) }
        }
        if isCut { lackTrades() }
        return candles
    }
}

extension ChartCandle {
    /// Creates the candle of one point; `nil` if it cannot be drawn.
    fileprivate init?(_ point: PricePoint) {
        (self.open, self.high, self.low) = (point.open, point.high, point.low)
        self.close = point.close.approximation
        self.volume = point.volume.isFinite ? point.volume : 0
        self.isIncomplete = point.isIncomplete || point.followsGap
        guard [self.open, self.high, self.low, self.close].allSatisfy(\.isFinite) else { return nil }
    }
}
