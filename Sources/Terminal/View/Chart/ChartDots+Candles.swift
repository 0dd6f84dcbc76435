/// The drawing of candles.
extension ChartDots {
    /// The columns of dots of a candle: of its period, its body and its wick.
    struct CandlePlace {
        var period: Range<Int>
        var body: Range<Int>
        var wick: Int

        /// - Parameters:
        ///   - start: the first column of dots of the candle's period.
        ///   - pitch: the columns of dots from one candle to the next.
        init(start: Int, pitch: Int) {
            // An odd number has a middle, and space remains beside it.
            let room = max(pitch - max(pitch / 4, 1), 1)
            let width = room - (room + 1) % 2
            let left = start + (pitch - width) / 2
            self.period = start..<start + pitch
            self.body = left..<left + width
            self.wick = left + width / 2
        }
    }

    /// Draws a candle in the upper rows. A rise has a hollow body and a fall a full one; a body in which trades may be
    /// missing is hatched.
    ///
    /// - Parameter hasPatterns: whether hollow and hatched bodies are patterns of dots; otherwise all dots of a body are
    ///   set, and characters tell the kinds apart (``ChartDrawing/hasPatterns``).
    mutating func draw(
        _ candle: ChartCandle,
        at place: CandlePlace,
        scale: ChartScale,
        rows: Int,
        hasPatterns: Bool
    ) {
        guard rows > 0, place.body.lowerBound >= 0, place.body.upperBound <= self.columns else { return }
        func row(_ price: Double) -> Int { Self.row(price, scale: scale, rows: rows) }
        // A dash beside the candle would have its colour.
        for row in row(candle.high)...row(candle.low) {
            for column in place.period.clamped(to: 0..<self.columns) where self[row, column] == .open {
                self[row, column] = .none
            }
        }
        let body = row(max(candle.open, candle.close))...row(min(candle.open, candle.close))
        for row in row(candle.high)...row(candle.low) {
            self[row, place.wick] = candle.isRising ? .risingWick : .fallingWick
        }
        let part: Part =
            candle.isIncomplete
            ? (candle.isRising ? .risingHatched : .fallingHatched) : (candle.isRising ? .rising : .falling)
        for row in body {
            for column in place.body {
                let isEdge =
                    row == body.lowerBound || row == body.upperBound || column == place.body.lowerBound
                    || column == place.body.upperBound - 1
                let isHollow = candle.isRising && !isEdge
                let isSkipped = candle.isIncomplete && (row + column - place.body.lowerBound) % 2 != 0
                self[row, column] = hasPatterns && (isHollow || isSkipped) ? .none : part
            }
        }
    }
}
