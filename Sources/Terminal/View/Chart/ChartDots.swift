/// A chart as a raster of dots: prices as a line with an area or as candles, the price at the beginning, and volumes.
///
/// Braille, octants and ASCII are drawn from the same dots.
struct ChartDots: Equatable {
    /// What a dot belongs to. A character with several has the look of the last one.
    enum Part: UInt8, Comparable, CaseIterable {
        case none
        /// The area far below the line, and the one near it.
        case far
        case near
        case volume
        /// The price at the beginning.
        case open
        case line
        /// The line from a candle's body to the highest and the lowest price.
        case risingWick
        case fallingWick
        case rising
        case falling
        /// The bodies of candles in which trades may be missing.
        case risingHatched
        case fallingHatched

        static func < (left: Part, right: Part) -> Bool { left.rawValue < right.rawValue }
    }

    let columns: Int
    let rows: Int
    private var parts: [Part]

    init(columns: Int, rows: Int) {
        (self.columns, self.rows) = (max(columns, 0), max(rows, 0))
        self.parts = Array(repeating: .none, count: self.columns * self.rows)
    }

    subscript(row: Int, column: Int) -> Part {
        get { self.parts[row * self.columns + column] }
        set { self.parts[row * self.columns + column] = newValue }
    }

    /// Returns the row of a price, from the top.
    static func row(_ price: Double, scale: ChartScale, rows: Int) -> Int {
        Int(((1 - scale.height(price)) * Double(rows - 1)).rounded())
    }

    /// Draws the line of the price, and the area below it, in the upper rows.
    ///
    /// - Parameter samples: one for each column of dots.
    mutating func drawArea(_ samples: [ChartSample], scale: ChartScale, rows: Int) {
        let reach = rows / 4
        for (column, span) in Self.spans(samples, scale: scale, rows: rows).enumerated() {
            guard let span else { continue }
            for row in span { self[row, column] = .line }
            for row in span.upperBound + 1..<max(rows, span.upperBound + 1) {
                self[row, column] = row - span.upperBound <= reach ? .near : .far
            }
        }
    }

    /// Draws the price at the beginning as a dashed line behind the prices.
    ///
    /// - Parameter dash: the columns of dots of one character; every other character has the line.
    mutating func drawOpen(_ open: Double, scale: ChartScale, rows: Int, dash: Int) {
        guard rows > 0, (scale.bottom...scale.top).contains(open) else { return }
        let row = Self.row(open, scale: scale, rows: rows)
        for column in 0..<self.columns where column / dash % 2 == 0 && self[row, column] < .open {
            self[row, column] = .open
        }
    }

    /// Draws volumes in the lower rows, as high as their part of the largest. The uppermost row stays free.
    ///
    /// - Parameter columns: the columns of dots of each volume.
    mutating func drawVolumes(_ volumes: [Double], columns: [Range<Int>], rows: Range<Int>) {
        guard let most = volumes.max(), most > 0, most.isFinite, rows.count > 1 else { return }
        for (volume, columns) in zip(volumes, columns) where volume > 0 {
            let height = max(Int((volume / most * Double(rows.count - 1)).rounded()), 1)
            for row in rows.suffix(height) {
                for column in columns { self[row, column] = .volume }
            }
        }
    }

    /// Returns the rows of the line in each column. They reach the line before them, so that it is continuous.
    private static func spans(_ samples: [ChartSample], scale: ChartScale, rows: Int) -> [ClosedRange<Int>?] {
        guard rows > 0 else { return samples.map { _ in nil } }
        var before: Double?
        return samples.map { sample in
            guard var low = sample.low, var high = sample.high else {
                before = nil
                return nil
            }
            if let before {
                low = min(low, before)
                high = max(high, before)
            }
            before = sample.close
            return Self.row(high, scale: scale, rows: rows)...Self.row(low, scale: scale, rows: rows)
        }
    }
}
