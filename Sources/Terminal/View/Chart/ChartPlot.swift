import Market

/// A chart's dots as characters.
struct ChartPlot {
    struct Cell: Equatable {
        /// A space where nothing is drawn.
        var text: String
        var part: ChartDots.Part
    }

    /// The lines from the top.
    var lines: [[Cell]]

    init(_ dots: ChartDots, drawing: ChartDrawing) {
        let (width, height) = (drawing.columns, drawing.rows)
        let columns = (dots.columns + width - 1) / width
        self.lines = (0..<dots.rows / height).map { row in
            (0..<columns).map { column in
                var bits = 0
                var part = ChartDots.Part.none
                for place in 0..<min(width, dots.columns - column * width) {
                    for line in 0..<height {
                        let dot = dots[row * height + line, column * width + place]
                        guard dot != .none else { continue }
                        part = max(part, dot)
                        bits |= 1 << (width * line + place)
                    }
                }
                let text =
                    switch drawing {
                    case .braille: Self.braille[bits]
                    case .octants: Self.octants[bits]
                    case .ascii: Self.ascii(part, dots, row: height * row, column)
                    }
                return Cell(text: text, part: part)
            }
        }
    }

    /// The Braille patterns by their dots, row by row from the upper left.
    private static let braille: [String] = (0..<256).map { bits in
        // Unicode numbers the upper three rows column by column, then the last row (U+2800).
        let places = [0, 3, 1, 4, 2, 5, 6, 7]
        let pattern = places.enumerated().reduce(0) { $0 | (bits >> $1.offset & 1) << $1.element }
        return bits == 0 ? " " : Unicode.Scalar(0x2800 + UInt32(pattern)).map { String(Character($0)) } ?? " "
    }

    /// The octants by their dots, row by row from the upper left.
    private static let octants: [String] = {
        // Unicode had 26 of the 256 patterns before, or has them beside the octants; U+1CD00 to U+1CDE5 are the others in
        // the order of their dots.
        let others: [Int: UInt32] = [
            0x00: 0x20, 0x01: 0x1CEA8, 0x02: 0x1CEAB, 0x03: 0x1FB82, 0x05: 0x2598, 0x0A: 0x259D, 0x0F: 0x2580,
            0x14: 0x1FBE6, 0x28: 0x1FBE7, 0x3F: 0x1FB85, 0x40: 0x1CEA3, 0x50: 0x2596, 0x55: 0x258C, 0x5A: 0x259E,
            0x5F: 0x259B, 0x80: 0x1CEA0, 0xA0: 0x2597, 0xA5: 0x259A, 0xAA: 0x2590, 0xAF: 0x259C, 0xC0: 0x2582,
            0xF0: 0x2584, 0xF5: 0x2599, 0xFA: 0x259F, 0xFC: 0x2586, 0xFF: 0x2588,
        ]
        var next: UInt32 = 0x1CD00
        return (0..<256).map { bits in
            let scalar = others[bits] ?? next
            if others[bits] == nil { next += 1 }
            return Unicode.Scalar(scalar).map { String(Character($0)) } ?? " "
        }
    }()

    /// Returns the character of three dots from a row on.
    private static func ascii(_ part: ChartDots.Part, _ dots: ChartDots, row: Int, _ column: Int) -> String {
        let places = (0..<3).filter { dots[row + $0, column] == part }
        switch part {
        case .none: return " "
        case .far: return "."
        case .near: return ":"
        case .open: return "="
        case .volume: return [".", ":", "|"][places.count - 1]
        case .line:
            let isAbove = row > 0 && dots[row, column] == .line && dots[row - 1, column] == .line
            let isBelow = row + 3 < dots.rows && dots[row + 2, column] == .line && dots[row + 3, column] == .line
            // A steep line is one of several characters.
            guard let last = places.last, places.count < 3, !isAbove, !isBelow else { return "|" }
            return Self.heights[last]
        case .risingWick, .fallingWick: return places == [0] ? "'" : places == [2] ? "." : "|"
        case .rising: return places.count == 1 ? Self.heights[places[0]] : "O"
        case .falling: return places.count == 1 ? Self.heights[places[0]] : "#"
        case .risingHatched: return "o"
        case .fallingHatched: return "%"
        }
    }

    /// The characters of one dot, from the top.
    private static let heights = ["'", "-", "_"]

    private static let levels = ["▁", "▂", "▃", "▄", "▅", "▆", "▇"].map { Array($0.utf8) }
    private static let plainLevels = ["_", ".", "-", "=", "^"].map { Array($0.utf8) }

    /// Returns a chart of one line. Its characters leave a gap above, so that the charts of two lines stay apart.
    static func sparkline(_ samples: [ChartSample], glyphs: ScreenGlyphs) -> String {
        let low = samples.lazy.compactMap(\.low).min() ?? 0
        let high = samples.lazy.compactMap(\.high).max() ?? 0
        let levels = glyphs == .unicode ? Self.levels : Self.plainLevels
        let top = levels.count - 1
        // The screen has such a chart for each symbol, so no character of one is a text of its own.
        return String(unsafeUninitializedCapacity: samples.count * levels[0].count) { text in
            var end = 0
            for sample in samples {
                guard let close = sample.close else {
                    text[end] = UInt8(ascii: " ")
                    end += 1
                    continue
                }
                // A constant price is drawn in the middle.
                let height = high > low ? (close - low) / (high - low) : 0.5
                let level = height.isFinite ? Int((height * Double(top)).rounded()) : 0
                for byte in levels[min(max(level, 0), top)] {
                    text[end] = byte
                    end += 1
                }
            }
            return end
        }
    }
}
