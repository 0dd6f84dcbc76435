import Market

/// What a chart shows of one symbol: its prices as an area or as candles, and its volumes.
struct ChartPicture {
    let form: ChartForm
    let drawing: ChartDrawing
    /// The columns of characters of the whole chart, and those of its time.
    let columns: Int
    let timed: Range<Int>
    /// The time of these columns.
    let stretch: Range<Int64>
    /// The prices in each column of dots.
    let samples: [ChartSample]
    let periods: ChartPeriods
    /// The candles of the periods, whose volumes an area has as well.
    let candles: [ChartCandle?]
    /// The columns of dots of each candle; empty for an area.
    private let places: [ChartDots.CandlePlace]
    /// The first price and the last one.
    let ends: (first: Double, last: Double)?

    /// The narrowest candle, in columns of characters.
    private static let candleColumns = 2

    /// - Parameters:
    ///   - now: the end of the drawing, ns of the history's clock.
    ///   - start: the time of the history's first price.
    ///   - isCut: whether the connection is lost, so that the price since the newest trade is unknown.
    init(
        of history: PriceHistory,
        _ form: ChartForm,
        span: ChartSpan,
        now: Int64,
        start: Int64,
        isCut: Bool,
        columns: Int,
        drawing: ChartDrawing
    ) {
        (self.form, self.drawing, self.columns) = (form, drawing, columns)
        let length = span.length ?? max(now - start, 1)
        let rounded = history.series(span: length)
        let most = max(columns / Self.candleColumns, 1)
        let dots = columns * drawing.columns
        switch form {
        case .area:
            self.stretch = span.stretch(now: now, start: start, columns: dots)
            self.timed = 0..<columns
            let whole = self.stretch.upperBound - self.stretch.lowerBound
            let width = ChartPeriods.width(holding: whole, most: most, unit: rounded.width)
            self.periods = ChartPeriods(self.stretch, width: width)
            self.candles = ChartCandle.candles(of: rounded, in: self.periods, isCut: isCut)
            self.places = []
            self.samples = ChartSample.samples(
                of: history.series(span: span.length),
                from: self.stretch.lowerBound,
                to: self.stretch.upperBound,
                now: now,
                isCut: isCut,
                columns: dots
            )
            let closes = self.samples.compactMap(\.close)
            self.ends = closes.first.flatMap { first in closes.last.map { (first, $0) } }
        case .candles:
            // The session's first and last period may be parts.
            let room = span.length == nil ? max(most - 1, 1) : most
            let width = ChartPeriods.width(holding: length, most: room, unit: rounded.width)
            let count = span.length.map { Int(($0 + width - 1) / width) } ?? most
            self.periods = ChartPeriods(upTo: now, count: count, width: width)
            self.stretch = self.periods.start..<self.periods.end
            self.timed = columns - columns / count * count..<columns
            let (left, pitch) = (self.timed.lowerBound * drawing.columns, columns / count * drawing.columns)
            self.places = (0..<count).map { ChartDots.CandlePlace(start: left + $0 * pitch, pitch: pitch) }
            self.candles = ChartCandle.candles(of: rounded, in: self.periods, isCut: isCut)
            let known = self.candles.compactMap(\.self)
            self.ends = known.first.flatMap { first in known.last.map { (first.open, $0.close) } }
            var samples = [ChartSample](repeating: .unknown, count: dots)
            for (candle, place) in zip(self.candles, self.places) {
                guard let candle else { continue }
                samples[place.wick] = .traded(low: candle.low, high: candle.high, close: candle.close)
            }
            self.samples = samples
        }
    }

    /// The lines of characters that volumes take below the prices; none on a low chart, and none if no volume is known.
    func volumeRows(of rows: Int) -> Int {
        guard rows >= 8, self.candles.contains(where: { ($0?.volume ?? 0) > 0 }) else { return 0 }
        return min((rows + 2) / 5, 6)
    }

    /// Returns the columns of dots of each period's volume.
    private var volumeColumns: [Range<Int>] {
        guard self.form == .area else { return self.places.map(\.body) }
        let dots = self.columns * self.drawing.columns
        let perNanosecond = Double(dots) / Double(self.stretch.upperBound - self.stretch.lowerBound)
        func column(_ index: Int) -> Int {
            let time = self.periods.start + Int64(index) * self.periods.width
            let place = Double(time - self.stretch.lowerBound) * perNanosecond
            return min(max(Int(place.rounded()), 0), dots)
        }
        return (0..<self.periods.count).map { index in
            let (from, to) = (column(index), column(index + 1))
            return from..<(to - from > 1 ? to - 1 : to)
        }
    }

    /// Returns the dots of the chart.
    ///
    /// - Parameters:
    ///   - rows: the lines of characters for prices.
    ///   - volumeRows: the lines of characters for volumes below these.
    ///   - open: the price at the beginning, at which a dashed line is drawn; `nil` draws none.
    func dots(scale: ChartScale, rows: Int, volumeRows: Int, open: Double?) -> ChartDots {
        let height = self.drawing.rows
        var dots = ChartDots(columns: self.columns * self.drawing.columns, rows: (rows + volumeRows) * height)
        if self.form == .area { dots.drawArea(self.samples, scale: scale, rows: rows * height) }
        if let open { dots.drawOpen(open, scale: scale, rows: rows * height, dash: self.drawing.columns) }
        for (candle, place) in zip(self.candles, self.places) {
            guard let candle else { continue }
            dots.draw(candle, at: place, scale: scale, rows: rows * height, hasPatterns: self.drawing.hasPatterns)
        }
        if volumeRows > 0 {
            dots.drawVolumes(
                self.candles.map { $0?.volume ?? 0 },
                columns: self.volumeColumns,
                rows: rows * height..<(rows + volumeRows) * height
            )
        }
        return dots
    }
}
