import Market
@testable import Terminal
import Testing
import TickertapeTesting

@Suite("A screen and the bytes that paint it")
struct ScreenTests {
    @Test("No line is wider than the terminal and no control character reaches it, for any state and size")
    func widths() {
        var numbers = SeededGenerator(seed: 1)
        for _ in 0..<600 {
            let size = ScreenGrid.Size(
                columns: .random(in: 1...250, using: &numbers),
                rows: .random(in: 1...80, using: &numbers)
            )
            let frame = DisplayView.frame(
                of: randomDisplayState(&numbers),
                choice: randomDisplayChoice(&numbers),
                size: size,
                now: sampleNoon,
                look: randomLook(&numbers),
                latency: randomLatency(&numbers)
            )
            #expect(frame.grid.size == size)
            #expect(Self.faults(in: frame.grid) == [])
            #expect(frame.changesAt.map { $0 > sampleNoon.monotonic } ?? true)
            let title = frame.grid.title ?? ""
            #expect(title.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
        }
    }

    @Test(
        "Every pane, the prompt and the banners of a screen that is full of long and wide text fit every size",
        arguments: Self.panes.indices
    )
    func sizes(pane: Int) {
        var numbers = SeededGenerator(seed: 7)
        let state = Self.full
        for columns in [1, 2, 3, 5, 8, 12, 13, 19, 20, 21, 34, 40, 59, 60, 79, 80, 81, 120, 200, 250] {
            for rows in [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 40, 60, 80] {
                var choice = DisplayChoice()
                choice.pane = Self.panes[pane]
                choice.opened = rows % 3 == 0 ? state.rows[rows % 2].summary.symbol : nil
                choice.frozenSince = columns % 2 == 0 ? sampleNoon : nil
                choice.span = ChartSpan.allCases[columns % ChartSpan.allCases.count]
                let size = ScreenGrid.Size(columns: columns, rows: rows)
                let frame = DisplayView.frame(
                    of: state,
                    choice: choice,
                    size: size,
                    now: sampleNoon,
                    look: randomLook(&numbers),
                    latency: randomLatency(&numbers)
                )
                #expect(Self.faults(in: frame.grid) == [], "\(columns)x\(rows)")
            }
        }
    }

    private static let wide = "株式市場は静かであった、しかし誰も知らない理由で" + String(repeating: "長い", count: 60)

    private static let panes: [DisplayPane?] = {
        var prompt = DisplayPrompt(title: "add a symbol", text: Self.wide, message: Self.wide)
        prompt.caret = 30
        prompt.suggestions = awkwardTexts.map { DisplayPrompt.Suggestion(text: $0, note: $0) }
        prompt.chosen = 3
        let keys = KeyBindings().help(isReplay: true, glyphs: .unicode)
        return [
            nil, .list(.help(keys), at: 0), .list(.latency, at: 0), .list(.events, at: 0), .list(.events, at: 3),
            .list(.news, at: 0),
            .list(.news, at: 1),
            .list(.alerts, at: 2), .prompt(prompt),
        ]
    }()

    /// A state with everything: a disconnected replay with an unchecked certificate, gaps, a notice and an alert.
    private static var full: DisplayState {
        let reason = "the relay at \(Self.wide) has gone: " + String(repeating: "and nobody knows why ", count: 20)
        var state = DisplayState(
            status: sampleStatus(
                .reconnecting(attempt: .max, retryAt: sampleNoon.wall + 90_000 * oneSecond),
                .replay(file: "/x/\(Self.wide).jsonl", speed: 0.25),
                reason: reason,
                checked: false
            )
        )
        let symbols = ["BINANCE:" + String(repeating: "VERYLONG", count: 30), "東京証券取引所:" + Self.wide, "A:B"]
        for (symbol, price) in zip(symbols, ["12345678901.2345678", "0.000000000000000001", "1e10"]) {
            let row = sampleRow(sampleSummary(symbol, price: price, open: "-5.25"), age: 90_000 * oneSecond)
            state.rows.append(sampleSession(row, seconds: 300, gapAt: 100))
            state.rows[state.rows.count - 1].summary.size = sampleDecimal("99999999999999.9999")
            // More digits than a random walk can have.
            state.rows[state.rows.count - 1].summary.high = sampleDecimal("123456789012345678")
        }
        state.waiting = [Self.wide, "X:Y"]
        for symbol in symbols + state.waiting {
            state.symbolStates[symbol] = SymbolStatus(
                symbol: symbol,
                state: .refused(.noSuchSymbol, retryAt: 0),
                since: 0,
                reason: reason
            )
        }
        state.replay = ReplayPosition(
            start: sampleNoon.wall - 900 * oneSecond,
            end: sampleNoon.wall + 90_000 * oneSecond,
            at: sampleNoon.wall,
            speed: 0.25,
            isPaused: true
        )
        state.gaps = 1_000_000
        state.lastGap = Gap(from: 0, to: sampleNoon.wall, reason: reason, nextSequence: 3)
        state.notice = DisplayNotice(text: reason, since: sampleNoon.monotonic)
        state.events = awkwardTexts.map {
            DisplayEvent(time: sampleNoon.wall, text: "\($0) \(Self.wide)", isTrouble: true)
        }
        state.alerts = awkwardTexts.map {
            ListedAlert(text: "\($0) above 1", state: Self.wide, fired: sampleNoon.monotonic - 100_000_000)
        }
        state.news = .headlines(
            (awkwardTexts + [Self.wide]).map {
                DisplayHeadline(time: sampleNoon.wall, source: $0, text: "\($0) \(Self.wide)")
            }
        )
        state.relay = .open("ws://" + String(repeating: "host.", count: 40))
        state.clients = .max
        return state
    }

    /// Returns the cells that a terminal could not display.
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
        for round in 0..<30 {
            let depth = ScreenPalette.Depth.allCases[round % 4]
            let palette = ScreenPalette(depth: depth, background: .dark, hues: round % 8 < 4 ? .standard : .colourBlind)
            var painter = ScreenPainter(palette: palette)
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
                        let style = TerminalRendition(palette.codes(meant.style))
                        #expect(terminal.styles[line][column] == style && style.strange == [], "\(line), \(column)")
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
            #expect(painter.firstBytes(from: grid, to: grid) == [])
        }
    }

    @Test("Only cells that differ are sent, within one synchronised frame")
    func sparing() {
        var state = DisplayState(rows: [sampleRow(sampleSummary())], status: sampleStatus())
        let size = ScreenGrid.Size(columns: 80, rows: 24)
        let old = DisplayView.frame(of: state, size: size, now: sampleNoon).grid
        state.rows[0].summary.price = sampleDecimal("61837.64")
        let new = DisplayView.frame(of: state, size: size, now: sampleNoon).grid
        let bytes = ScreenPainter(palette: ScreenPalette(depth: .sixteen)).firstBytes(from: old, to: new)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.hasPrefix("\u{1B}[?2026h"))
        #expect(text.hasSuffix("\u{1B}[?2026l"))
        var terminal = TerminalEmulator(size: size)
        terminal.feed(bytes)
        // The last digit has three cells by three in a large price, and one everywhere else.
        #expect((1...10).contains(terminal.cellsWritten), "\(terminal.cellsWritten)")
        #expect(bytes.count < 80)
    }

    @Test("A frame of a table goes out in few bytes: a look is selected once, and the cursor takes short steps")
    func frugal() {
        let size = ScreenGrid.Size(columns: 80, rows: 24)
        var (old, new) = (ScreenGrid(size: size), ScreenGrid(size: size))
        for line in 0..<10 {
            old.put("12.50  +0.10  4.00", row: line, column: 5)
            new.put("12.5", row: line, column: 5)
            new.put("1", row: line, column: 9, style: CellStyle(.rising, .bold))
            new.put("  +0.1", row: line, column: 10)
            new.put("2", row: line, column: 16, style: CellStyle(.rising))
            new.put("  4.01", row: line, column: 17)
        }
        let bytes = ScreenPainter(palette: ScreenPalette(depth: .many, background: .dark), synchronises: false)
            .firstBytes(from: old, to: new)
        var terminal = TerminalEmulator(size: size)
        terminal.feed(
            ScreenPainter(palette: ScreenPalette(depth: .many), synchronises: false).firstBytes(from: nil, to: old)
        )
        terminal.feed(bytes)
        #expect(terminal.strange == [])
        #expect(terminal.text == (0..<24).map { row in (0..<80).map { new[row, $0].text }.joined() })
        // Thirty digits in three styles: one byte each, at most four for the cursor, three style changes and the reset.
        #expect(bytes.count <= 30 * 5 + 40, "\(String(decoding: bytes, as: UTF8.self).debugDescription)")
    }

    @Test("The cursor goes the shortest way from any place to any other")
    func moves() {
        let size = ScreenGrid.Size(columns: 130, rows: 12)
        var numbers = SeededGenerator(seed: 9)
        for _ in 0..<400 {
            let cells = (0..<2).map { _ in
                (row: Int.random(in: 0..<12, using: &numbers), column: Int.random(in: 0..<130, using: &numbers))
            }
            let old = ScreenGrid(size: size)
            var new = old
            for cell in cells { new.set("x", row: cell.row, column: cell.column, style: .plain) }
            let bytes = ScreenPainter(palette: ScreenPalette(depth: .none), synchronises: false).firstBytes(
                from: old,
                to: new
            )
            var terminal = TerminalEmulator(size: size)
            terminal.feed(bytes)
            #expect(terminal.strange == [])
            for cell in cells { #expect(terminal.cells[cell.row][cell.column].text == "x") }
            let direct = cells.map { "\u{1B}[\($0.row + 1);\($0.column + 1)Hx".utf8.count }.reduce(0, +)
            #expect(bytes.count <= direct)
        }
    }

    @Test(
        "Behind a sign that some terminals draw two columns wide, the cursor is sent to a stated place",
        arguments: Array("▲●…│█é")
    )
    func ambiguous(sign: Character) throws {
        let size = ScreenGrid.Size(columns: 40, rows: 4)
        let old = ScreenGrid(size: size)
        var new = old
        for row in 0..<4 {
            new.put("1⣿", row: row, column: 2)
            new.set(String(sign), row: row, column: 8, style: .plain)
            new.put("3", row: row, column: 20)
        }
        let bytes = ScreenPainter(palette: ScreenPalette(depth: .none), synchronises: false).firstBytes(
            from: old,
            to: new
        )
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: sign, omittingEmptySubsequences: false)
        #expect(parts.count == 5)
        for part in parts.dropFirst() where !part.isEmpty {
            let sequence = try #require(part.prefixMatch(of: #/\e\[[0-9;]*([A-Za-z])/#), "\(part.debugDescription)")
            #expect(sequence.1 == "H", "\(part.debugDescription)")
        }
        var terminal = TerminalEmulator(size: size)
        terminal.feed(bytes)
        #expect(terminal.strange == [])
        #expect(terminal.text == (0..<4).map { row in (0..<40).map { new[row, $0].text }.joined() })
    }

    @Test("Without colour no colour is selected, and old prices are still dim")
    func colourless() {
        let state = DisplayState(
            rows: [sampleRow(sampleSummary(), age: 9 * oneSecond)],
            status: sampleStatus(.late, checked: false)
        )
        let grid = DisplayView.frame(of: state, size: .init(columns: 80, rows: 24), now: sampleNoon).grid
        let text = String(
            decoding: ScreenPainter(palette: ScreenPalette(depth: .none)).firstBytes(from: nil, to: grid),
            as: UTF8.self
        )
        var terminal = TerminalEmulator(size: grid.size)
        terminal.feed(Array(text.utf8))
        #expect(terminal.styles.joined().allSatisfy { $0.ink == [] && $0.ground == [] })
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
