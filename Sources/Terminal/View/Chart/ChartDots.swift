/// A chart as a raster of dots: the line of the price, the area below it, and the price at the beginning.
///
/// Braille and ASCII are drawn from the same dots.
struct ChartDots {
    /// What a dot belongs to. A character with several has the look of the last one.
    enum Part: UInt8, Comparable, CaseIterable {
        case none
        /// The area far below the line, and the one near it.
        case far
        case near
        /// The price at the beginning.
        case open
        case line

        static func < (left: Part, right: Part) -> Bool { left.rawValue < right.rawValue }
    }

    let columns: Int
    let rows: Int
    private var parts: [Part]

    /// - Parameters:
    ///   - samples: one for each column of dots.
    ///   - open: the price at the beginning; `nil` draws none.
    ///   - dash: the columns of dots of one character; every other character shows the price at the beginning.
    init(_ samples: [ChartSample], scale: ChartScale, rows: Int, open: Double?, dash: Int) {
        (self.columns, self.rows) = (samples.count, max(rows, 0))
        self.parts = Array(repeating: .none, count: self.columns * self.rows)
        let reach = self.rows / 4
        for (column, span) in Self.spans(samples, scale: scale, rows: self.rows).enumerated() {
            guard let span else { continue }
            for row in span { self[row, column] = .line }
            for row in span.upperBound + 1..<max(self.rows, span.upperBound + 1) {
                self[row, column] = row - span.upperBound <= reach ? .near : .far
            }
        }
        guard let open, self.rows > 0, (scale.bottom...scale.top).contains(open) else { return }
        let row = Self.row(open, scale: scale, rows: self.rows)
        for column in 0..<self.columns where column / dash % 2 == 0 && self[row, column] < .open {
            self[row, column] = .open
        }
    }

    private(set) subscript(row: Int, column: Int) -> Part {
        get { self.parts[row * self.columns + column] }
        set { self.parts[row * self.columns + column] = newValue }
    }

    /// Returns the row of a price, from the top.
    static func row(_ price: Double, scale: ChartScale, rows: Int) -> Int {
        Int(((1 - scale.height(price)) * Double(rows - 1)).rounded())
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
