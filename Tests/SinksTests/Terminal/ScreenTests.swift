import Market
import Sinks
import Testing

@Suite("A screen and the bytes that paint it")
struct ScreenTests {
    @Test("No line is wider than the terminal and no control character reaches it, for any state and size")
    func widths() {
        var numbers = SeededGenerator(seed: 1)
        for _ in 0..<600 {
            let size = ScreenGrid.Size(
                columns: .random(in: 1...220, using: &numbers),
                rows: .random(in: 1...70, using: &numbers)
            )
            let frame = DisplayView.frame(
                of: randomDisplayState(&numbers),
                choice: randomDisplayChoice(&numbers),
                size: size,
                now: sampleNoon,
                look: randomLook(&numbers)
            )
            #expect(frame.grid.size == size)
            #expect(Self.faults(in: frame.grid) == [])
            #expect(frame.changesAt.map { $0 > sampleNoon.monotonic } ?? true)
            let title = frame.grid.title ?? ""
            #expect(title.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
        }
    }

    /// What a terminal could not show as it stands there.
    private static func faults(in grid: ScreenGrid) -> [String] {
        var faults: [String] = []
        for line in 0..<grid.size.rows {
            var width = 0
            for column in 0..<grid.size.columns {
                let cell = grid[line, column]
                width += Int(cell.width)
                if cell.width == 2, column + 1 == grid.size.columns { faults.append("half a character at the edge") }
                if cell.width == 0, column == 0 || grid[line, column - 1].width != 2 { faults.append("a lone half") }
                let scalars = cell.text.unicodeScalars
                if scalars.count > 3 { faults.append("\(scalars.count) scalars in one cell") }
                for scalar in scalars where [.control, .format].contains(scalar.properties.generalCategory) {
                    faults.append("control character \(scalar.value) at \(line), \(column)")
                }
            }
            if width != grid.size.columns { faults.append("line \(line) is \(width) wide") }
        }
        return faults
    }

    @Test("The painted bytes turn the old screen into the new one")
    func paints() {
        var numbers = SeededGenerator(seed: 2)
        let painter = ScreenPainter(palette: ScreenPalette(depth: .sixteen))
        for _ in 0..<30 {
            let size = ScreenGrid.Size(
                columns: .random(in: 1...120, using: &numbers),
                rows: .random(in: 1...30, using: &numbers)
            )
            var terminal = TerminalEmulator(size: size)
            var old: ScreenGrid?
            for _ in 0..<8 {
                let new = DisplayView.frame(
                    of: randomDisplayState(&numbers),
                    choice: randomDisplayChoice(&numbers),
                    size: size,
                    now: sampleNoon,
                    look: randomLook(&numbers)
                ).grid
                terminal.feed(painter.bytes(from: old, to: new))
                #expect(terminal.strange == [])
                for line in 0..<size.rows {
                    for column in 0..<size.columns {
                        let shown = terminal.cells[line][column]
                        let meant = new[line, column]
                        #expect(shown.text == meant.text && shown.width == meant.width, "\(line), \(column)")
                        if meant.style.attributes.contains(.dim) {
                            #expect(terminal.styles[line][column].contains(";2"))
                        }
                        if meant.style == .plain { #expect(terminal.styles[line][column] == "0") }
                    }
                }
                old = new
            }
        }
    }

    @Test("Nothing is written when nothing has changed")
    func calm() {
        var numbers = SeededGenerator(seed: 3)
        let painter = ScreenPainter(palette: ScreenPalette(depth: .sixteen))
        for _ in 0..<50 {
            let grid = DisplayView.frame(
                of: randomDisplayState(&numbers),
                size: .init(columns: 80, rows: 24),
                now: sampleNoon
            ).grid
            #expect(painter.bytes(from: grid, to: grid) == [])
        }
    }

    @Test("Only cells that differ are sent, within one synchronised frame")
    func sparing() {
        var state = DisplayState(rows: [sampleRow(sampleSummary())], status: sampleStatus())
        let size = ScreenGrid.Size(columns: 80, rows: 24)
        let old = DisplayView.frame(of: state, size: size, now: sampleNoon).grid
        state.rows[0].summary.price = sampleDecimal("61837.64")
        let new = DisplayView.frame(of: state, size: size, now: sampleNoon).grid
        let bytes = ScreenPainter(palette: ScreenPalette(depth: .sixteen)).bytes(from: old, to: new)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.hasPrefix("\u{1B}[?2026h"))
        #expect(text.hasSuffix("\u{1B}[?2026l"))
        var terminal = TerminalEmulator(size: size)
        terminal.feed(bytes)
        // The last digit: three cells by three where the price is large, one wherever it stands small.
        #expect((1...10).contains(terminal.cellsWritten), "\(terminal.cellsWritten)")
        #expect(bytes.count < 80)
    }

    @Test("Without colour no colour is selected, and what is old is dim all the same")
    func colourless() {
        let state = DisplayState(
            rows: [sampleRow(sampleSummary(), age: 9 * oneSecond)],
            status: sampleStatus(.late, checked: false)
        )
        let grid = DisplayView.frame(of: state, size: .init(columns: 80, rows: 24), now: sampleNoon).grid
        let text = String(
            decoding: ScreenPainter(palette: ScreenPalette(depth: .none)).bytes(from: nil, to: grid),
            as: UTF8.self
        )
        for colour in 30...37 { #expect(!text.contains(";\(colour)")) }
        #expect(text.contains("\u{1B}[0;2m"))
    }

    @Test("Foreign text is shown, never obeyed", arguments: awkwardTexts)
    func foreignText(_ text: String) {
        for columns in [0, 1, 2, 7, 40] {
            let units = ScreenText.units(text, columns: columns)
            #expect(units.reduce(0) { $0 + $1.width } <= columns)
            #expect(units.allSatisfy { $0.width == 1 || $0.width == 2 })
        }
        #expect(ScreenText.clean("\u{1B}[31m", columns: 10) == "␛[31m")
        #expect(ScreenText.clean("abcdef", columns: 4) == "abc…")
        #expect(ScreenText.width(of: "東京") == 4)
    }
}

@Suite("The rhythm of drawing")
struct FramePacerTests {
    @Test("However fast news come, frames are a tenth of a second apart, and the first comes at once")
    func cap() {
        var pacer = FramePacer(framesPerSecond: 10)
        var frames: [Int64] = []
        // News every millisecond for three seconds of virtual time.
        for millisecond in Int64(0)..<3_000 {
            let now = millisecond * 1_000_000
            pacer.contentChanged()
            if pacer.next(now: now) == .draw {
                frames.append(now)
                pacer.drew(now: now, contentChangesAt: nil)
            }
        }
        #expect(frames.count == 30)
        #expect(frames.first == 0)
        for (one, next) in zip(frames, frames.dropFirst()) { #expect(next - one == 100_000_000) }
    }

    @Test("It sleeps without limit when neither news nor the clock can change the picture")
    func sleeps() {
        var pacer = FramePacer()
        #expect(pacer.next(now: 5) == .draw)
        pacer.drew(now: 5, contentChangesAt: nil)
        #expect(pacer.next(now: 6) == .sleep(until: nil))
    }

    @Test("It wakes when the age on the screen changes, and not earlier than the cap allows")
    func clockwork() {
        var pacer = FramePacer()
        pacer.drew(now: 0, contentChangesAt: 500_000_000)
        #expect(pacer.next(now: 1) == .sleep(until: 500_000_000))
        #expect(pacer.next(now: 500_000_000) == .draw)
        pacer.drew(now: 500_000_000, contentChangesAt: 500_000_001)
        #expect(pacer.next(now: 500_000_001) == .sleep(until: 600_000_000))
        pacer.contentChanged()
        #expect(pacer.next(now: 599_999_999) == .sleep(until: 600_000_000))
        #expect(pacer.next(now: 600_000_000) == .draw)
    }
}
