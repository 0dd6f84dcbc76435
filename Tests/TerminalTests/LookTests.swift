import Glibc
import Market
import Measurements
import Testing
import TickertapeTesting
@testable import Terminal

@Suite("Style: numbers, colours, and a terminal's answers")
struct LookTests {
    @Test(
        "Numbers are grouped and marked as the settings want, and lose no digit",
        arguments: [
            ("1234567.891", .comma, .point, "1,234,567.891"), ("-1234.5", .point, .comma, "-1.234,5"),
            ("999", .space, .comma, "999"), ("+0.02%", .comma, .comma, "+0,02%"),
            ("12e30", .apostrophe, .point, "12e30"),
            ("1000", .apostrophe, .point, "1'000"), ("", .comma, .point, ""), ("0.0001", .space, .comma, "0,0001"),
        ] as [(String, NumberStyle.Grouping, NumberStyle.DecimalMark, String)]
    )
    func numbers(_ text: String, _ grouping: NumberStyle.Grouping, _ mark: NumberStyle.DecimalMark, _ expected: String)
    {
        #expect(NumberStyle(grouping: grouping, decimal: mark).written(text) == expected)
    }

    @Test("The terminal determines the number of colours, and NO_COLOR disables them")
    func depths() {
        func depth(_ environment: [String: String]) -> ScreenPalette.Depth {
            DisplaySettings { environment[$0] }.depth
        }
        #expect(depth(["TERM": "xterm"]) == .sixteen)
        #expect(depth(["TERM": "xterm-256color"]) == .many)
        #expect(depth(["TERM": "xterm-256color", "COLORTERM": "truecolor"]) == .full)
        #expect(depth(["TERM": "xterm-direct"]) == .full)
        #expect(depth(["TERM": "vt100"]) == .none && depth(["TERM": "dumb"]) == .none && depth([:]) == .none)
        #expect(depth(["TERM": "linux"]) == .sixteen)
        #expect(depth(["TERM": "xterm-256color", "NO_COLOR": "1"]) == .none)
    }

    @Test("The background comes from a setting, COLORFGBG or the terminal; else the terminal's colours are used")
    func backgrounds() {
        func painter(
            _ environment: [String: String],
            theme: DisplaySettings.Theme = .auto,
            says: ScreenPalette.Background? = nil
        ) -> ScreenPainter {
            var settings = DisplaySettings { environment[$0] }
            settings.theme = theme
            return settings.painter(TerminalAnswers(background: says))
        }
        let term = ["TERM": "xterm-256color"]
        let (dark, light) = (
            ScreenPalette(depth: .many, background: .dark), ScreenPalette(depth: .many, background: .light)
        )
        #expect(painter(term).palette == ScreenPalette(depth: .sixteen))
        #expect(painter(term, says: .light).palette == light)
        #expect(painter(term, theme: .dark, says: .light).palette == dark)
        #expect(painter(["TERM": "xterm-256color", "COLORFGBG": "15;0"], says: .light).palette == dark)
        #expect(painter(["TERM": "xterm-256color", "COLORFGBG": "0;default;15"]).palette == light)
        #expect(DisplaySettings { term[$0] }.wantsBackground)
        #expect(!(DisplaySettings { ["TERM": "linux"][$0] }.wantsBackground))
        #expect(!(DisplaySettings { ["TERM": "xterm"][$0] }.wantsBackground))
        #expect(!(DisplaySettings { ["TERM": "xterm-256color", "NO_COLOR": "1"][$0] }.wantsBackground))
    }

    @Test("One long name is cut to the width of the others, which keep theirs, and so do the columns")
    func longName() {
        var state = SnapshotTests.many
        let before = DisplayView.frame(of: state, size: .init(columns: 120, rows: 9), now: sampleNoon).grid
        state.waiting = ["BINANCE:AVERYLONGNAMEOFASYMBOLUSDT"]
        let grid = DisplayView.frame(of: state, size: .init(columns: 120, rows: 9), now: sampleNoon).grid
        #expect(grid.line(2) == before.line(2) && grid.line(3) == before.line(3))
        #expect(grid.line(5).hasPrefix(" BINANCE:AVERYL…"))
        // Of two long ones neither is the exception.
        state.waiting.append("BINANCE:ANOTHERLONGNAMEOFASYMBOLUS")
        let both = DisplayView.frame(of: state, size: .init(columns: 120, rows: 9), now: sampleNoon).grid
        #expect(both.line(5).hasPrefix(" AVERYLONGNAMEOFASYMBOLUSDT"))
    }

    @Test("The bytes are limited on a terminal of another machine, and where a number is set")
    func byteLimit() {
        func limit(_ environment: [String: String], _ chosen: DisplaySettings.ByteLimit = .auto) -> Int? {
            DisplaySettings(DisplaySettings(byteLimit: chosen)) { environment[$0] }.bytesPerSecond
        }
        #expect(limit([:]) == nil && limit(["SSH_CONNECTION": ""]) == nil)
        for name in ["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"] { #expect(limit([name: "x"]) == 3_500) }
        #expect(limit(["SSH_TTY": "x"], .none) == nil && limit([:], .perSecond(7)) == 7)
        #expect(DisplaySettings().bytesPerSecond == 3_500)
    }

    @Test("No palette tells up from down by nothing, and the colour-blind one uses neither green nor red for it")
    func palettes() {
        for depth in ScreenPalette.Depth.allCases where depth != .none {
            for background in [ScreenPalette.Background.dark, .light, .unknown] {
                for hues in ScreenPalette.Hues.allCases {
                    let palette = ScreenPalette(depth: depth, background: background, hues: hues)
                    let (up, down) = (palette.codes(CellStyle(.rising)), palette.codes(CellStyle(.falling)))
                    #expect(up != down && up != "0" && down != "0")
                    if hues == .colourBlind { #expect(up != "0;32" && down != "0;31") }
                    for ink in CellStyle.Ink.allCases {
                        let flash = palette.codes(CellStyle(ink, .flash))
                        #expect(flash != palette.codes(CellStyle(ink)))
                    }
                }
            }
        }
        #expect(ScreenPalette(depth: .none).codes(CellStyle(.alarm, .bold)) == "0;1")
        #expect(ScreenPalette(depth: .none).codes(CellStyle(.rising, .deep)) == "0;2")
        #expect(ScreenPalette(depth: .sixteen).codes(CellStyle(.rising, .shaded)) == "0;2;32")
        let many = ScreenPalette(depth: .many, background: .dark)
        #expect(many.codes(CellStyle(.rising, .shaded)) == "0;38;5;28")
        #expect(many.codes(CellStyle(.rising, .deep)) == "0;38;5;22")
        #expect(ScreenPalette(depth: .none).codes(CellStyle(.rising, .flash)) == "0;7")
        #expect(ScreenPalette(depth: .many, background: .dark).codes(CellStyle(.rising)) == "0;38;5;114")
        #expect(ScreenPalette(depth: .full, background: .light).codes(CellStyle(.rising)) == "0;38;2;26;127;55")
    }

    @Test("Every colour of ours can be read on its background, prices also while they flash, and rules can be seen")
    func contrast() throws {
        for (background, behind) in [(ScreenPalette.Background.dark, 0), (.light, 0xFFFFFF)] {
            for depth in [ScreenPalette.Depth.many, .full] {
                for hues in ScreenPalette.Hues.allCases {
                    let palette = ScreenPalette(depth: depth, background: background, hues: hues)
                    for ink in CellStyle.Ink.allCases where ink != .plain {
                        let colour = try #require(Self.colour(palette.codes(CellStyle(ink)), "38"))
                        let least = ink == .faint ? 3 : 4.5
                        #expect(Self.contrast(colour, behind) >= least, "\(ink) \(background) \(depth) \(hues)")
                    }
                    for ink in [CellStyle.Ink.rising, .falling] {
                        let codes = palette.codes(CellStyle(ink, .flash))
                        let colour = try #require(Self.colour(codes, "38"))
                        let tint = try #require(Self.colour(codes, "48"))
                        #expect(Self.contrast(colour, tint) >= 4.5, "\(ink) \(background) \(depth) \(hues)")
                        #expect(Self.contrast(tint, behind) >= 1.3, "\(ink) \(background) \(depth) \(hues)")
                    }
                    let tints = [CellStyle.Ink.rising, .falling].map {
                        Self.colour(palette.codes(CellStyle($0, .flash)), "48")
                    }
                    #expect(tints[0] != tints[1], "\(background) \(depth) \(hues)")
                    // A tint has a hue; grey has none.
                    #expect(
                        tints.allSatisfy { $0.map { $0 % 0x010101 != 0 } ?? false },
                        "\(background) \(depth) \(hues)"
                    )
                }
            }
        }
    }

    /// Returns a colour in the parameters as 0xRRGGBB; those of 256 by xterm's cube and greys.
    private static func colour(_ codes: String, _ plane: String) -> Int? {
        let parts = codes.split(separator: ";")
        guard let start = parts.indices.first(where: { parts[$0] == plane && ["2", "5"].contains(parts[$0 + 1]) })
        else {
            return nil
        }
        let numbers = parts[(start + 2)...].compactMap { Int($0) }
        if parts[start + 1] == "2" { return numbers[0] << 16 | numbers[1] << 8 | numbers[2] }
        if numbers[0] >= 232 { return (8 + 10 * (numbers[0] - 232)) * 0x010101 }
        let steps = [0, 95, 135, 175, 215, 255]
        let place = numbers[0] - 16
        return steps[place / 36] << 16 | steps[place / 6 % 6] << 8 | steps[place % 6]
    }

    /// The contrast ratio of WCAG 2.2.
    private static func contrast(_ one: Int, _ other: Int) -> Double {
        func luminance(_ colour: Int) -> Double {
            let parts = [16, 8, 0].map { shift -> Double in
                let part = Double(colour >> shift & 255) / 255
                return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
            }
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
        }
        let (low, high) = (min(luminance(one), luminance(other)), max(luminance(one), luminance(other)))
        return (high + 0.05) / (low + 0.05)
    }

    /// Returns the terminal's answers, and the rest of its input.
    private static func read(_ bytes: some Sequence<UInt8>) -> (answers: TerminalAnswers, typed: [TerminalInput]) {
        var keys = TerminalKeys()
        var answers = TerminalAnswers()
        var typed: [TerminalInput] = []
        for byte in bytes {
            guard let input = keys.took(byte, now: 0) else { continue }
            if case .answer(let answer) = input { answers.take(answer) } else { typed.append(input) }
        }
        return (answers, typed)
    }

    @Test("A terminal's answers are separated from the typed keys, and the last one completes them")
    func answers() {
        let said = "q\u{1B}[?2026;2$y\u{1B}[A\u{1B}]11;rgb:ffff/ffff/dddd\u{1B}\\x\u{1B}[?62;22c"
        #expect(!Self.read(said.utf8.dropLast()).answers.isComplete)
        let (answers, typed) = Self.read(said.utf8)
        #expect(answers == TerminalAnswers(background: .light, synchronises: true, isComplete: true))
        #expect(typed == [.key(.character("q")), .key(.named(.up)), .key(.character("x"))])
    }

    @Test(
        "Answers in other forms, and invalid ones",
        arguments: [
            ("\u{1B}]11;rgb:1e1e/1e1e/2e2e\u{7}", .dark, nil), ("\u{1B}]11;rgba:ff/ff/ff/ff\u{7}", .light, nil),
            ("\u{9D}11;rgb:ff/ff/ff\u{7}", .light, nil), ("\u{1B}P11;rgb:ff/ff/ff\u{7}", nil, nil),
            ("\u{1B}[?2026;0$y", nil, false), ("\u{1B}[?2026;4$y", nil, false), ("\u{1B}[?2026;1$y", nil, true),
            ("\u{1B}]11;black\u{7}", nil, nil), ("\u{1B}]11;rgb:x/y/z\u{7}", nil, nil), ("\u{1B}[?7;1$y", nil, nil),
            ("\u{1B}]11;rgb:/ff/ff\u{7}", nil, nil),
        ] as [(String, ScreenPalette.Background?, Bool?)]
    )
    func otherAnswers(_ text: String, _ background: ScreenPalette.Background?, _ synchronises: Bool?) {
        let (answers, typed) = Self.read(text.utf8)
        #expect(answers == TerminalAnswers(background: background, synchronises: synchronises))
        #expect(typed.isEmpty)
    }

    @Test(
        "Octants are drawn only by the named versions of terminals that draw all of them",
        arguments: [
            ("kitty(0.47.0)", true), ("kitty(0.46.2)", false), ("kitty(1.0.0)", true), ("ghostty 1.2.0", true),
            ("ghostty 1.3.2-dev+4f49dc2b8", true), ("ghostty 1.1.3", false), ("foot(1.27.0)", false),
            ("tmux 3.5a", false), ("kitty", false), ("kitty(", false), ("", false), ("XTerm(390)", false),
        ]
    )
    func octants(_ name: String, _ hasOctants: Bool) {
        let (answers, typed) = Self.read("\u{1B}P>|\(name)\u{1B}\\".utf8)
        #expect(answers == TerminalAnswers(hasOctants: hasOctants) && typed.isEmpty)
        #expect(DisplaySettings().look(answers).drawing == (hasOctants ? .octants : .braille))
    }

    @Test("A terminal that may draw octants is asked, also where its background is known")
    func asksForOctants() {
        let known = ["COLORFGBG": "15;0", "LANG": "C.UTF-8"]
        for (term, wants) in [("xterm-kitty", true), ("xterm-ghostty", true), ("xterm-256color", false)] {
            let settings = DisplaySettings { $0 == "TERM" ? term : known[$0] }
            #expect(settings.wantsAnswers == wants && !settings.wantsBackground)
        }
        #expect(!(DisplaySettings { ["TERM": "xterm-kitty", "COLORFGBG": "15;0"][$0] }.wantsAnswers))
    }

    @Test("The answer with the longest colour is parsed, and an endless one is no key")
    func endless() {
        #expect(Self.read("\u{1B}]11;rgba:ffff/ffff/ffff/ffff\u{1B}\\".utf8).answers.background == .light)
        let (answers, typed) = Self.read(Array("\u{1B}]11;".utf8) + [UInt8](repeating: 0x61, count: 10_000))
        #expect(answers == TerminalAnswers() && typed.isEmpty)
    }
}

@Suite("The calm of the screen")
struct CalmTests {
    private static func frame(
        _ state: DisplayState,
        after span: Int64 = 0,
        flashes: Bool = true,
        columns: Int = 40
    ) -> DisplayFrame {
        DisplayView.frame(
            of: state,
            size: .init(columns: columns, rows: columns == 40 ? 10 : 24),
            now: Moment(monotonic: sampleNoon.monotonic + span, wall: sampleNoon.wall + span),
            look: DisplayLook(flashes: flashes, setsTitle: true)
        )
    }

    @Test("The digits that have changed stand out for 300 ms, and no longer", arguments: [40, 80])
    func flash(columns: Int) {
        var row = sampleRow(sampleSummary())
        row.changed = (sampleNoon.monotonic, sampleDecimal("61837.51"))
        let state = DisplayState(rows: [row], status: sampleStatus())
        func flashing(_ frame: DisplayFrame) -> Int {
            frame.grid.cells.filter { $0.style.attributes.contains(.flash) }.count
        }
        let now = Self.frame(state, columns: columns)
        // The last two digits. Large digits have three columns and three lines, with a column between them.
        #expect(flashing(now) == (columns == 40 ? 2 : 21))
        #expect(now.changesAt.map { $0 <= sampleNoon.monotonic + 300_000_000 } == true)
        #expect(flashing(Self.frame(state, after: 299_000_000, columns: columns)) > 0)
        #expect(flashing(Self.frame(state, after: 300_000_000, columns: columns)) == 0)
        #expect(flashing(Self.frame(state, flashes: false, columns: columns)) == 0)
    }

    @Test("The title has the price and its reliability, and is sent when it changes")
    func title() {
        var state = DisplayState(rows: [sampleRow(sampleSummary())], status: sampleStatus(.live, .demo))
        #expect(Self.frame(state).grid.title == "▲ 61837.63 BTCUSDT DEMO")
        let grid = Self.frame(state).grid
        let painter = ScreenPainter(palette: ScreenPalette(depth: .sixteen))
        #expect(painter.firstBytes(from: grid, to: grid) == [])
        state.status = sampleStatus(.reconnecting(attempt: 1, retryAt: 0))
        let cut = Self.frame(state).grid
        #expect(cut.title == "OLD 61837.63 BTCUSDT")
        #expect(
            String(decoding: painter.firstBytes(from: grid, to: cut), as: UTF8.self).contains(
                "\u{1B}]2;OLD 61837.63 BTCUSDT\u{1B}\\"
            )
        )
        state.rows[0].summary.symbol = "A:\u{1B}]0;x\u{7}"
        #expect(Self.frame(state).grid.title == "OLD 61837.63 ␛]0;x␇")
    }

    @Test("A terminal without synchronised output gets none")
    func unsynchronised() {
        let grid = Self.frame(DisplayState(rows: [sampleRow(sampleSummary())], status: sampleStatus())).grid
        let painter = ScreenPainter(palette: ScreenPalette(depth: .sixteen), synchronises: false)
        #expect(!String(decoding: painter.firstBytes(from: nil, to: grid), as: UTF8.self).contains("2026"))
    }

    @Test("A symbol whose longest silence was three seconds is late after six, one that trades often after five")
    func late() {
        func words(gap: Int64, age: Int64) -> Bool {
            var row = sampleRow(sampleSummary(), age: age * oneSecond)
            for number in Int64(0)...20 {
                let back = (20 - number) * gap * oneSecond + age * oneSecond
                row.history.take(row.summary.price, at: sampleNoon.wall - back, arrived: sampleNoon.monotonic - back)
            }
            var state = DisplayState(rows: [row], status: sampleStatus())
            state.limits.seesAllTrades = false
            state.symbolStates[row.summary.symbol] = SymbolStatus(symbol: row.summary.symbol, state: .live, since: 0)
            return Self.frame(state).grid.line(2).contains("LATE")
        }
        #expect(!words(gap: 3, age: 5) && words(gap: 3, age: 6))
        #expect(!words(gap: 9, age: 17) && words(gap: 9, age: 18))
        #expect(!words(gap: 0, age: 4) && words(gap: 0, age: 5))
    }

    @Test("The selection follows the table's order, and the heading shows it")
    func order() {
        var state = DisplayState(status: sampleStatus())
        for (name, price, open, age) in [("A:C", "3", "2", 0), ("A:A", "20", "40", 9), ("A:B", "1", "1", 3)]
            as [(String, String, String, Int64)]
        {
            state.rows.append(sampleRow(sampleSummary(name, price: price, open: open), age: age * oneSecond))
        }
        state.waiting = ["A:W"]
        func listed(_ order: DisplayOrder, reversed: Bool = false) -> String {
            var choice = DisplayChoice()
            choice.order = order
            choice.isReversed = reversed
            return DisplayListing.symbols(of: state, choice: choice, now: sampleNoon).map { String($0.dropFirst(2)) }
                .joined()
        }
        #expect(listed(.watchlist) == "CABW" && listed(.watchlist, reversed: true) == "BACW")
        #expect(listed(.symbol) == "ABCW" && listed(.price) == "ACBW" && listed(.price, reversed: true) == "BCAW")
        #expect(listed(.change) == "CBAW" && listed(.age) == "CBAW" && listed(.volume) == "CABW")
        var choice = DisplayChoice()
        choice.order = .change
        let frame = DisplayView.frame(of: state, choice: choice, size: .init(columns: 80, rows: 24), now: sampleNoon)
        #expect((0..<24).map(frame.grid.line).contains { $0.contains("SESSION↓") })
    }

    @Test("The model's updates fill charts and tape, on the recording's clock in a replay")
    func model() throws {
        var symbols = SymbolTable()
        let number = symbols.intern("A")
        let id = try #require(number)
        var model = DisplayModel(symbols: ["A"], status: sampleStatus(.live, .replay(file: "x", speed: 1)))
        for number in Int64(0)..<100 {
            let price = ExactDecimal(significand: 100 + number, exponent: 0) ?? .zero
            var summary = sampleSummary("A", price: "\(price)", open: "100", sequence: UInt64(number))
            summary.exchangeTime = number * oneSecond
            model.take(PriceUpdate(summary: summary, skipped: 2), now: number)
            let trade = Trade(price: price, size: price, exchangeTime: number * oneSecond, symbol: id)
            model.chart([trade], symbols: symbols, received: sampleNoon.wall, now: number)
        }
        let row = try #require(model.state.rows.first)
        #expect(row.history.start == 0 && row.history.newest == 99 * oneSecond)
        #expect(row.history.price(at: 50 * oneSecond) == sampleDecimal("149"))
        #expect(row.tape.count == ShownPrices.most && row.tape[0].price == sampleDecimal("199"))
        #expect(row.tape[63].price == sampleDecimal("136") && row.skipped == 200)
        #expect(row.changed?.from == sampleDecimal("198"))
        model.gapFound(Gap(from: 0, to: 1, reason: "x", nextSequence: 1))
        // A number from another epoch may stand for another symbol.
        var others = SymbolTable()
        let stranger = others.intern("B")
        let other = try #require(stranger)
        let stray = Trade(price: .zero, size: .zero, exchangeTime: 200 * oneSecond, symbol: other)
        model.epochBegan()
        model.chart([stray], symbols: others, received: 0, now: 0)
        #expect(model.state.rows[0].history.newest == 99 * oneSecond)
    }
}
