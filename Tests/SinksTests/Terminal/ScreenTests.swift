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
            nil, .help(keys), .latency, .events(scrolled: 0), .events(scrolled: 3), .news(scrolled: 0),
            .news(scrolled: 1),
            .alerts(selected: 2), .prompt(prompt),
        ]
    }()

    /// Everything at once: a replay that is cut off, without its certificate's check, with gaps, a notice and an alert.
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
            // More digits than the walk of a session could have.
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
            DisplayAlert(text: "\($0) above 1", state: Self.wide, fired: sampleNoon.monotonic - 100_000_000)
        }
        state.news = .headlines(
            (awkwardTexts + [Self.wide]).map {
                DisplayHeadline(time: sampleNoon.wall, source: $0, text: "\($0) \(Self.wide)")
            }
        )
        state.relay = "ws://" + String(repeating: "host.", count: 40)
        state.clients = .max
        return state
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
