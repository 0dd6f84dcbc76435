import Market
import Testing
import TickertapeTesting
@testable import Terminal

@Suite("Links on the screen")
struct ScreenLinkTests {
    private static let size = ScreenGrid.Size(columns: 70, rows: 24)

    private static func state(_ urls: [String]) -> DisplayState {
        var state = DisplayState(rows: [sampleRow(sampleSummary())], status: sampleStatus())
        state.news = .headlines(
            urls.enumerated().map { index, url in
                let words = String(repeating: "word ", count: 20)
                return DisplayHeadline(time: sampleNoon.wall, source: "Wire", text: "\(index) \(words)", url: url)
            }
        )
        return state
    }

    private static func grid(_ urls: [String], from place: Int = 0, hasLinks: Bool = true) -> ScreenGrid {
        var choice = DisplayChoice()
        choice.pane = .list(.news, at: place)
        var look = DisplayLook()
        look.hasLinks = hasLinks
        return DisplayView.frame(of: Self.state(urls), choice: choice, size: Self.size, now: sampleNoon, look: look)
            .grid
    }

    @Test("have only addresses of the web, without what ends a terminal's command")
    func addresses() {
        #expect(ScreenLink("https://example.com/a?b=c;d#e")?.address == "https://example.com/a?b=c;d#e")
        #expect(ScreenLink("HTTP://example.com/ü")?.address == "HTTP://example.com/%C3%BC")
        let wrong = [
            "", "https://", "http://", "javascript:alert(1)", "file:///etc/passwd", "ftp://example.com", "example.com",
            "https://example.com/a b", "https://example.com/\u{1B}\\", "https://example.com/\u{7}", "https://a/\n",
            "https://a/\u{7F}", "https://a/\"", "https://a/<b>",
            "https://a/" + String(repeating: "x", count: ScreenLink.longest),
            "https://a/" + String(repeating: "ü", count: 600),
        ]
        for text in wrong { #expect(ScreenLink(text) == nil, "\(text.prefix(40))") }
        #expect(ScreenLink("https://a/\u{9C}\u{85}")?.address == "https://a/%C2%9C%C2%85")
    }

    @Test("are those of the headlines on all of their lines, and end with them")
    func headlines() throws {
        let grid = Self.grid(["https://example.com/0", "javascript:x", "https://example.com/2"])
        var terminal = TerminalEmulator(size: Self.size)
        terminal.feed(ScreenPainter(palette: ScreenPalette(depth: .sixteen)).firstBytes(from: nil, to: grid))
        #expect(terminal.strange.isEmpty, "\(terminal.strange)")
        let lines = terminal.text
        let top = try #require(lines.firstIndex { $0.contains("NEWS") })
        for (row, address) in [
            (1, "https://example.com/0"), (2, "https://example.com/0"), (5, "https://example.com/2"),
        ] {
            let links = terminal.links[top + row]
            // Not the time before the text.
            #expect(links[0] == nil && Set(links.compactMap(\.self)) == [address], "\(links)")
            let linked = zip(lines[top + row], links).filter { $0.1 != nil }.map { String($0.0) }.joined()
            #expect(linked.hasSuffix("word") || linked.hasSuffix("…"), "\(linked)")
        }
        #expect(terminal.links[top + 3].allSatisfy { $0 == nil })
        #expect(Self.grid(["https://example.com/0"], hasLinks: false).links.isEmpty)
    }

    @Test("stay right when others take their places, by changes alone")
    func changes() {
        var numbers = SeededGenerator(seed: 8)
        var painter = ScreenPainter(palette: ScreenPalette(depth: .full, background: .dark))
        var terminal = TerminalEmulator(size: Self.size)
        var shown: ScreenGrid?
        for _ in 0..<60 {
            let urls = (0..<Int.random(in: 1...9, using: &numbers)).map { _ in
                ["", "https://a.example/\(Int.random(in: 0...2, using: &numbers))"].randomElement(using: &numbers) ?? ""
            }
            let grid = Self.grid(urls, from: .random(in: 0...3, using: &numbers))
            terminal.feed(painter.bytes(from: shown, to: grid))
            shown = grid
            for row in 0..<24 {
                for column in 0..<70 {
                    let number = Int(grid[row, column].style.link)
                    let address = number == 0 ? nil : grid.links[number - 1].address
                    #expect(terminal.links[row][column] == address, "\(row) \(column)")
                }
            }
        }
        #expect(terminal.strange.isEmpty, "\(terminal.strange)")
        #expect(painter.firstBytes(from: shown, to: shown ?? ScreenGrid(size: Self.size)).isEmpty)
    }
}
