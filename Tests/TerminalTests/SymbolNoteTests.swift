import Market
import Testing
import TickertapeTesting
@testable import Terminal

@Suite("The person's notes about symbols")
struct SymbolNoteTests {
    private static let notes = [
        "X:A": SymbolNote(symbol: "X:A", tint: .violet, text: "the long one"),
        "X:B": SymbolNote(symbol: "X:B", tint: .none, text: "wörter 😀"),
        "X:C": SymbolNote(symbol: "X:C", tint: .grey, text: ""),
    ]

    private static func grid(
        _ choice: DisplayChoice = DisplayChoice(),
        columns: Int = 160,
        rows: Int = 24,
        waiting: [String] = []
    ) -> ScreenGrid {
        let symbols = ["X:A", "X:B", "X:C", "X:D"].filter { !waiting.contains($0) }
        let state = DisplayState(
            rows: symbols.map { sampleRow(sampleSummary($0)) },
            waiting: waiting,
            status: sampleStatus()
        )
        var look = DisplayLook()
        look.notes = Self.notes
        let size = ScreenGrid.Size(columns: columns, rows: rows)
        return DisplayView.frame(of: state, choice: choice, size: size, now: sampleNoon, look: look).grid
    }

    private static func text(_ grid: ScreenGrid) -> [String] { (0..<grid.size.rows).map(grid.line) }

    /// Returns the inks of a line's cells, and their texts.
    private static func inks(_ grid: ScreenGrid, _ row: Int) -> [CellStyle.Ink: String] {
        var inks: [CellStyle.Ink: String] = [:]
        for column in 0..<grid.size.columns where grid[row, column].text != " " {
            inks[grid[row, column].style.ink, default: ""] += grid[row, column].text
        }
        return inks
    }

    @Test("are a column of the table, and their colour is that of the name alone")
    func table() throws {
        let grid = Self.grid()
        let lines = Self.text(grid)
        #expect(lines.contains { $0.contains("NOTE") && $0.contains("SYMBOL") }, "\(lines)")
        let row = try #require(lines.firstIndex { $0.contains("the long one") }, "\(lines)")
        #expect(lines[row].contains("X:A") || lines[row].contains("A "), "\(lines)")
        #expect(Self.inks(grid, row)[.violet]?.hasSuffix("A") == true, "\(Self.inks(grid, row))")
        let grey = try #require(lines.indices.first { Self.inks(grid, $0)[.grey] != nil })
        #expect(Self.inks(grid, grey)[.grey]?.hasSuffix("C") == true && grey == row + 2)
        #expect(lines[row + 1].contains("wörter 😀") && !lines[row + 3].contains("violet"))
    }

    @Test("stand beside the name in the card, and on narrow screens give way", arguments: [20, 40, 80, 200])
    func card(columns: Int) {
        var choice = DisplayChoice()
        choice.opened = "X:A"
        let grid = Self.grid(choice, columns: columns)
        let lines = Self.text(grid)
        #expect(lines.contains { $0.contains("the long one") } == (columns >= 40), "\(lines)")
        #expect(lines.contains { $0.contains("61837.63") || $0.contains("█") }, "\(lines)")
        #expect(lines.indices.contains { Self.inks(grid, $0)[.violet]?.contains("X:A") == true })
    }

    @Test("have a symbol without a price, too, and the only line of a terminal")
    func elsewhere() {
        var choice = DisplayChoice()
        let waiting = Self.grid(choice, waiting: ["X:A"])
        #expect((0..<24).contains { Self.inks(waiting, $0)[.violet]?.hasSuffix("A") == true })
        choice.selected = "X:A"
        let line = Self.grid(choice, columns: 80, rows: 1)
        #expect(Self.inks(line, 0)[.violet]?.hasSuffix("A") == true, "\(Self.text(line))")
    }

    @Test("have colours that no price, state or heading has, with every number of colours")
    func colours() {
        for depth in ScreenPalette.Depth.allCases where depth != .none {
            for background in [ScreenPalette.Background.dark, .light, .unknown] {
                for hues in ScreenPalette.Hues.allCases {
                    let palette = ScreenPalette(depth: depth, background: background, hues: hues)
                    let own: [CellStyle.Ink] = [.violet, .magenta, .grey]
                    let others = CellStyle.Ink.allCases.filter { !own.contains($0) && $0 != .faint }
                    let codes = Set(others.map { palette.codes(CellStyle($0)) })
                    #expect(Set(own.map { palette.codes(CellStyle($0)) }).count == 3)
                    for ink in own { #expect(!codes.contains(palette.codes(CellStyle(ink))), "\(ink) \(depth)") }
                }
            }
        }
        #expect(ScreenPalette(depth: .none).codes(CellStyle(.violet)) == "0")
    }
}
