import Market
import Testing
import TickertapeTesting
@testable import Terminal

/// Charts are painted by the real painter into a terminal emulator, which knows nothing of charts. What it shows is read
/// back and compared with the model.
@Suite("Charts as a terminal shows them")
struct ChartRenderingTests {
    /// Where the chart begins on the screen.
    private static let (top, left) = (2, 3)

    @Test("Every dot stands where the model has it, in every frame", arguments: ChartDrawing.allCases, [UInt64](1...4))
    func dots(drawing: ChartDrawing, seed: UInt64) throws {
        var numbers = SeededGenerator(seed: seed)
        for (columns, rows) in [(5, 1), (24, 6), (66, 13), (141, 44)] {
            var terminal = Self.terminal(columns, rows)
            var history = PriceHistory()
            for _ in 0..<5 {
                Self.trade(&history, &numbers)
                let dots = try Self.randomDots(history, columns, rows, drawing, &numbers)
                terminal.show(ChartPlot(dots, drawing: drawing).lines)
                #expect(terminal.emulator.strange.isEmpty)
                let faults = Self.faults(terminal.emulator, dots, drawing)
                #expect(faults.isEmpty, "\(columns)x\(rows), seed \(seed): \(faults.prefix(3))")
            }
        }
    }

    @Test("A single wrong dot is found, and so is a character at the wrong place", arguments: ChartDrawing.allCases)
    func plantedFaults(drawing: ChartDrawing) throws {
        var numbers = SeededGenerator(seed: 7)
        var history = PriceHistory()
        Self.trade(&history, &numbers)
        let dots = try Self.randomDots(history, 40, 12, drawing, &numbers)
        var terminal = Self.terminal(40, 12)
        terminal.show(ChartPlot(dots, drawing: drawing).lines)
        #expect(Self.faults(terminal.emulator, dots, drawing).isEmpty)
        for _ in 0..<40 {
            var wrong = dots
            let row = Int.random(in: 0..<dots.rows, using: &numbers)
            let column = Int.random(in: 0..<dots.columns, using: &numbers)
            wrong[row, column] = wrong[row, column] == .none ? .line : .none
            // A character of ASCII shows one height of a line, and no number of dots in an area.
            if drawing == .ascii, wrong[row, column] == .none { continue }
            #expect(!Self.faults(terminal.emulator, wrong, drawing).isEmpty, "\(row) \(column)")
        }
        var lines = ChartPlot(dots, drawing: drawing).lines
        let place = try #require(lines.firstIndex { Set($0.map(\.text)).count > 2 })
        lines[place].swapAt(0, try #require(lines[place].firstIndex { $0 != lines[place][0] }))
        terminal.show(lines)
        #expect(!Self.faults(terminal.emulator, dots, drawing).isEmpty)
    }

    // MARK: The painted screen

    private struct Screen {
        var emulator: TerminalEmulator
        var shown: ScreenGrid?
        var painter = ScreenPainter(palette: ScreenPalette(depth: .full, background: .dark))
        let size: ScreenGrid.Size

        mutating func show(_ lines: [[ChartPlot.Cell]]) {
            var grid = ScreenGrid(size: self.size)
            grid.put("a heading", row: 0, column: 0)
            for (row, line) in lines.enumerated() {
                for (column, cell) in line.enumerated() where cell.part != .none {
                    grid.set(cell.text, row: top + row, column: left + column, style: Self.style(cell.part))
                }
            }
            self.emulator.feed(self.painter.bytes(from: self.shown, to: grid))
            self.shown = grid
        }

        private static func style(_ part: ChartDots.Part) -> CellStyle {
            CellStyle(CellStyle.Ink.allCases[Int(part.rawValue) % CellStyle.Ink.allCases.count])
        }
    }

    private static func terminal(_ columns: Int, _ rows: Int) -> Screen {
        let size = ScreenGrid.Size(columns: columns + Self.left + 2, rows: rows + Self.top + 1)
        return Screen(emulator: TerminalEmulator(size: size), size: size)
    }

    // MARK: The comparison

    /// Returns a line for each character on the screen that differs from the model.
    private static func faults(_ emulator: TerminalEmulator, _ dots: ChartDots, _ drawing: ChartDrawing) -> [String] {
        var faults: [String] = []
        let (width, height) = drawing == .ascii ? (1, 3) : (2, 4)
        for row in 0..<emulator.rows - Self.top {
            for column in 0..<emulator.columns - Self.left {
                var parts: [[ChartDots.Part]] = []
                for line in 0..<height {
                    parts.append(
                        (0..<width).map {
                            let (y, x) = (row * height + line, column * width + $0)
                            return y < dots.rows && x < dots.columns ? dots[y, x] : .none
                        }
                    )
                }
                let text = emulator.cells[Self.top + row][Self.left + column].text
                let isRight =
                    drawing == .ascii
                    ? Self.isRight(
                        text,
                        parts.map { $0[0] },
                        above: row * 3 > 0 ? Self.dot(dots, row * 3 - 1, column) : .none,
                        below: Self.dot(dots, row * 3 + 3, column)
                    )
                    : Self.pattern(of: text, drawing) == parts.map { $0.map { $0 != .none } }
                if !isRight { faults.append("\(row),\(column): \(text) for \(parts)") }
            }
        }
        return faults
    }

    private static func dot(_ dots: ChartDots, _ row: Int, _ column: Int) -> ChartDots.Part {
        row < dots.rows && column < dots.columns ? dots[row, column] : .none
    }

    /// Returns the dots of a character, row by row; `nil` for a character that is no pattern.
    private static func pattern(of text: String, _ drawing: ChartDrawing) -> [[Bool]]? {
        guard let scalar = text.unicodeScalars.first, text.unicodeScalars.count == 1 else { return nil }
        let filled: Set<Int>
        if scalar == " " {
            filled = []
        } else if drawing == .braille {
            guard 0x2801...0x28FF ~= scalar.value else { return nil }
            // Dots 1 to 3 and 7 stand in the left column, 4 to 6 and 8 in the right one (Unicode, 21.1).
            let places = [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (3, 0), (3, 1)]
            filled = Set((0..<8).filter { scalar.value >> $0 & 1 == 1 }.map { 2 * places[$0].0 + places[$0].1 + 1 })
        } else if 0x1CD00...0x1CDE5 ~= scalar.value {
            filled = Set(Self.octantNames[Int(scalar.value - 0x1CD00)].compactMap(\.wholeNumberValue))
        } else {
            guard let octants = Self.otherOctants[scalar] else { return nil }
            filled = Set(octants)
        }
        return (0..<4).map { row in (0..<2).map { filled.contains(2 * row + $0 + 1) } }
    }

    /// The ends of the names BLOCK OCTANT-3 (U+1CD00) to BLOCK OCTANT-2345678 (U+1CDE5) of Unicode 16: the filled ones
    /// of eight parts, row by row.
    private static let octantNames = """
        3 23 123 4 14 124 34 134 234 5 15 25 125 135 235 1235 45 145 245 1245 345 1345 2345 12345 6 16 26
        126 36 136 236 1236 146 246 1246 346 1346 2346 12346 56 156 256 1256 356 1356 2356 12356 456 1456
        2456 12456 3456 13456 23456 17 27 127 37 137 237 1237 47 147 247 1247 347 1347 2347 12347 157 257
        1257 357 2357 12357 457 1457 12457 3457 13457 23457 67 167 267 1267 367 1367 2367 12367 467 1467
        2467 12467 3467 13467 23467 123467 567 1567 2567 12567 3567 13567 23567 123567 4567 14567 24567
        124567 34567 134567 234567 1234567 18 28 128 38 138 238 1238 48 148 248 1248 348 1348 2348 12348 58
        158 258 1258 358 1358 2358 12358 458 1458 2458 12458 3458 13458 23458 123458 168 268 1268 368 2368
        12368 468 1468 12468 3468 13468 23468 568 1568 2568 12568 3568 13568 23568 123568 4568 14568 24568
        124568 34568 134568 234568 1234568 178 278 1278 378 1378 2378 12378 478 1478 2478 12478 3478 13478
        23478 123478 578 1578 2578 12578 3578 13578 23578 123578 4578 14578 24578 124578 34578 134578 234578
        1234578 678 1678 2678 12678 3678 13678 23678 123678 4678 14678 24678 124678 34678 134678 234678
        1234678 15678 25678 125678 35678 235678 1235678 45678 145678 1245678 1345678 2345678
        """.split { $0 == " " || $0 == "\n" }

    /// The patterns with other names.
    private static let otherOctants: [Unicode.Scalar: [Int]] = [
        "\u{1CEA8}": [1], "\u{1CEAB}": [2], "\u{1FB82}": [1, 2], "▘": [1, 3], "▝": [2, 4], "▀": [1, 2, 3, 4],
        "\u{1FBE6}": [3, 5], "\u{1FBE7}": [4, 6], "\u{1FB85}": [1, 2, 3, 4, 5, 6], "\u{1CEA3}": [7], "▖": [5, 7],
        "▌": [1, 3, 5, 7], "▞": [2, 4, 5, 7], "▛": [1, 2, 3, 4, 5, 7], "\u{1CEA0}": [8], "▗": [6, 8],
        "▚": [1, 3, 6, 8], "▐": [2, 4, 6, 8], "▜": [1, 2, 3, 4, 6, 8], "▂": [7, 8], "▄": [5, 6, 7, 8],
        "▙": [1, 3, 5, 6, 7, 8], "▟": [2, 4, 5, 6, 7, 8], "▆": [3, 4, 5, 6, 7, 8], "█": [1, 2, 3, 4, 5, 6, 7, 8],
    ]

    /// Whether an ASCII character stands for three dots.
    private static func isRight(
        _ text: String,
        _ parts: [ChartDots.Part],
        above: ChartDots.Part,
        below: ChartDots.Part
    ) -> Bool {
        let part = parts.max() ?? .none
        let set = (0..<3).filter { parts[$0] == part }
        let height = set == [0] ? "'" : set == [1] ? "-" : "_"
        switch part {
        case .none: return text == " "
        case .far: return text == "."
        case .near: return text == ":"
        case .open: return text == "="
        case .volume: return text == [1: ".", 2: ":", 3: "|"][set.count]
        case .line:
            let isSteep = set.count == 3 || set.first == 0 && above == .line || set.last == 2 && below == .line
            return text == (isSteep ? "|" : ["'", "-", "_"][set.last ?? 0])
        case .risingWick, .fallingWick: return text == (set == [0] ? "'" : set == [2] ? "." : "|")
        case .rising: return text == (set.count == 1 ? height : "O")
        case .falling: return text == (set.count == 1 ? height : "#")
        case .risingHatched: return text == "o"
        case .fallingHatched: return text == "%"
        }
    }

    // MARK: Random charts

    /// Adds some trades, with silences and gaps.
    private static func trade(_ history: inout PriceHistory, _ numbers: inout SeededGenerator) {
        var time = history.newest ?? sampleNoon.wall
        var price = Int64.random(in: 9_000...11_000, using: &numbers)
        for _ in 0..<Int.random(in: 20...200, using: &numbers) {
            time += .random(in: 1...5 * oneSecond, using: &numbers)
            price += .random(in: -60...60, using: &numbers)
            if Int.random(in: 0..<30, using: &numbers) == 0 { history.interrupted() }
            if Int.random(in: 0..<60, using: &numbers) == 0 { time += .random(in: 0...90 * oneSecond, using: &numbers) }
            let value = ExactDecimal(significand: price, exponent: -2) ?? .zero
            history.take(value, at: time, volume: .random(in: 0...9, using: &numbers), arrived: time)
        }
    }

    private static func randomDots(
        _ history: PriceHistory,
        _ columns: Int,
        _ rows: Int,
        _ drawing: ChartDrawing,
        _ numbers: inout SeededGenerator
    ) throws -> ChartDots {
        let picture = ChartPicture(
            of: history,
            ChartForm.allCases.randomElement(using: &numbers) ?? .area,
            span: ChartSpan.allCases.randomElement(using: &numbers) ?? .session,
            now: (history.newest ?? 0) + .random(in: 0...3 * oneSecond, using: &numbers),
            start: history.start ?? 0,
            isCut: .random(using: &numbers),
            columns: columns,
            drawing: drawing
        )
        let scale = try #require(ChartScale(picture.samples, maximumTicks: max(rows / 3, 1), fractionDigits: 2))
        let volumeRows = picture.volumeRows(of: rows)
        return picture.dots(scale: scale, rows: rows - volumeRows, volumeRows: volumeRows, open: picture.ends?.first)
    }
}
