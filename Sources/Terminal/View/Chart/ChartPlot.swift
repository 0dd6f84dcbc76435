import Market

/// A line through samples as characters: Braille patterns with two columns and four rows of dots each, or plain ASCII.
struct ChartPlot {
    /// The lines from the top; a blank cell is a space.
    var lines: [[String]]

    /// Returns the number of samples for a chart of this width.
    static func sampleCount(columns: Int, glyphs: ScreenGlyphs) -> Int { glyphs == .unicode ? 2 * columns : columns }

    init(_ samples: [ChartSample], scale: ChartScale, rows: Int, glyphs: ScreenGlyphs) {
        switch glyphs {
        case .unicode: self.lines = Self.braille(samples, scale: scale, rows: rows)
        case .ascii: self.lines = Self.ascii(samples, scale: scale, rows: rows)
        }
    }

    /// Returns the range of dots of each sample, from the top. Each range reaches the preceding sample, so that the
    /// line is continuous.
    private static func spans(_ samples: [ChartSample], scale: ChartScale, dots: Int) -> [ClosedRange<Int>?] {
        func dot(_ value: Double) -> Int { Int(((1 - scale.height(value)) * Double(dots - 1)).rounded()) }
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
            return dot(high)...dot(low)
        }
    }

    /// The bit of each dot in a character: the left column, then the right one, from the top (Unicode, U+2800).
    private static let bits: [[UInt8]] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]]
    private static let patterns: [String] = (0..<256).map { bits in
        bits == 0 ? " " : Unicode.Scalar(0x2800 + UInt32(bits)).map { String(Character($0)) } ?? " "
    }

    private static func braille(_ samples: [ChartSample], scale: ChartScale, rows: Int) -> [[String]] {
        let columns = (samples.count + 1) / 2
        var cells = [UInt8](repeating: 0, count: rows * columns)
        for (column, span) in Self.spans(samples, scale: scale, dots: 4 * rows).enumerated() {
            guard let span else { continue }
            for dot in span { cells[dot / 4 * columns + column / 2] |= Self.bits[column % 2][dot % 4] }
        }
        return (0..<rows).map { row in cells[(row * columns)..<((row + 1) * columns)].map { Self.patterns[Int($0)] } }
    }

    private static func ascii(_ samples: [ChartSample], scale: ChartScale, rows: Int) -> [[String]] {
        var lines = [[String]](repeating: Array(repeating: " ", count: samples.count), count: rows)
        for (column, span) in Self.spans(samples, scale: scale, dots: 3 * rows).enumerated() {
            guard let span else { continue }
            let (first, last) = (span.lowerBound / 3, span.upperBound / 3)
            for row in first...last { lines[row][column] = "|" }
            if first == last, span.count < 3 { lines[first][column] = ["'", "-", "."][span.upperBound % 3] }
        }
        return lines
    }

    /// Returns a chart of one line.
    static func sparkline(_ samples: [ChartSample], glyphs: ScreenGlyphs) -> String {
        let low = samples.compactMap(\.low).min() ?? 0
        let high = samples.compactMap(\.high).max() ?? 0
        let levels = glyphs == .unicode ? ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] : ["_", ".", "-", "=", "^"]
        return samples.map { sample in
            guard let close = sample.close else { return " " }
            // A constant price is drawn in the middle.
            let height = high > low ? (close - low) / (high - low) : 0.5
            let level = height.isFinite ? Int((height * Double(levels.count - 1)).rounded()) : 0
            return levels[min(max(level, 0), levels.count - 1)]
        }.joined()
    }
}
