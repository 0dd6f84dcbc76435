import Market

/// A chart as characters: Braille patterns with two columns and four rows of dots each, or plain ASCII with one and three.
struct ChartPlot {
    struct Cell: Equatable {
        /// A space where nothing is drawn.
        var text: String
        var part: ChartDots.Part
    }

    /// The lines from the top.
    var lines: [[Cell]]

    /// Returns the number of samples for a chart of this width.
    static func sampleCount(columns: Int, glyphs: ScreenGlyphs) -> Int { glyphs == .unicode ? 2 * columns : columns }

    /// - Parameter open: the price at the beginning, at which a dashed line is drawn; `nil` draws none.
    init(_ samples: [ChartSample], scale: ChartScale, rows: Int, open: Double? = nil, glyphs: ScreenGlyphs) {
        let (width, height) = glyphs == .unicode ? (2, 4) : (1, 3)
        let dots = ChartDots(samples, scale: scale, rows: height * rows, open: open, dash: width)
        let columns = (samples.count + width - 1) / width
        self.lines = (0..<rows).map { row in
            (0..<columns).map { column in
                var bits: UInt8 = 0
                var part = ChartDots.Part.none
                for place in 0..<min(width, dots.columns - column * width) {
                    for line in 0..<height {
                        let dot = dots[row * height + line, column * width + place]
                        guard dot != .none else { continue }
                        part = max(part, dot)
                        bits |= Self.bits[place][line]
                    }
                }
                let text =
                    glyphs == .unicode
                    ? Self.patterns[Int(bits)] : Self.ascii(part, dots, row: height * row, column)
                return Cell(text: text, part: part)
            }
        }
    }

    /// The bit of each dot in a character: the left column, then the right one, from the top (Unicode, U+2800).
    private static let bits: [[UInt8]] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]]
    private static let patterns: [String] = (0..<256).map { bits in
        bits == 0 ? " " : Unicode.Scalar(0x2800 + UInt32(bits)).map { String(Character($0)) } ?? " "
    }

    /// Returns the character of three dots from a row on. Only the line has characters of several heights.
    private static func ascii(_ part: ChartDots.Part, _ dots: ChartDots, row: Int, _ column: Int) -> String {
        switch part {
        case .none: return " "
        case .far: return "."
        case .near: return ":"
        case .open: return "="
        case .line:
            let line = (0..<3).filter { dots[row + $0, column] == .line }
            let isAbove = row > 0 && dots[row, column] == .line && dots[row - 1, column] == .line
            let isBelow = row + 3 < dots.rows && dots[row + 2, column] == .line && dots[row + 3, column] == .line
            // A steep line is one of several characters.
            guard let last = line.last, line.count < 3, !isAbove, !isBelow else { return "|" }
            return ["'", "-", "_"][last]
        }
    }

    /// Returns a chart of one line. Its characters leave a gap above, so that the charts of two lines stay apart.
    static func sparkline(_ samples: [ChartSample], glyphs: ScreenGlyphs) -> String {
        let low = samples.compactMap(\.low).min() ?? 0
        let high = samples.compactMap(\.high).max() ?? 0
        let levels = glyphs == .unicode ? ["▁", "▂", "▃", "▄", "▅", "▆", "▇"] : ["_", ".", "-", "=", "^"]
        return samples.map { sample in
            guard let close = sample.close else { return " " }
            // A constant price is drawn in the middle.
            let height = high > low ? (close - low) / (high - low) : 0.5
            let level = height.isFinite ? Int((height * Double(levels.count - 1)).rounded()) : 0
            return levels[min(max(level, 0), levels.count - 1)]
        }.joined()
    }
}
