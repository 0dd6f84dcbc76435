import Testing
@testable import Terminal

@Suite("Finding a symbol on the screen")
struct FindTests {
    private static func person() -> PersonAtScreen {
        var person = PersonAtScreen(["BINANCE:BTCUSDT", "BINANCE:ETHUSDT", "COINBASE:BTC-USD"])
        person.state.waiting = ["KRAKEN:ETHEUR"]
        return person
    }

    private static func listed(_ person: PersonAtScreen) -> [String] {
        person.controller.symbols(person.state, person.now)
    }

    private static func screen(_ person: PersonAtScreen) -> String {
        let size = ScreenGrid.Size(columns: 80, rows: 24)
        let grid = DisplayView.frame(of: person.shown, choice: person.choice, size: size, now: person.now).grid
        return (0..<24).map { grid.line($0) }.joined(separator: "\n")
    }

    @Test("Each typed character narrows the table, in upper or lower case; Backspace widens it again")
    func narrows() {
        var person = Self.person()
        person.presses("/")
        #expect(Self.listed(person).count == 4)
        person.types("eth")
        #expect(Self.listed(person) == ["BINANCE:ETHUSDT", "KRAKEN:ETHEUR"])
        #expect(!Self.screen(person).contains("BTC"))
        person.types("e")
        #expect(Self.listed(person) == ["KRAKEN:ETHEUR"])
        person.presses(.named(.backspace))
        #expect(Self.listed(person).count == 2)
    }

    @Test("Enter selects the marked symbol in the whole table, and the arrows choose it before")
    func selects() {
        var person = Self.person()
        person.presses("/")
        person.types("eth")
        person.presses(.named(.down), .named(.enter))
        #expect(person.prompt == nil && person.choice.selected == "KRAKEN:ETHEUR")
        #expect(person.choice.opened == nil && Self.listed(person).count == 4)
    }

    @Test("Esc restores the selection and the open symbol; with one open, Enter opens the found one")
    func goesBack() {
        var person = Self.person()
        person.presses(.named(.down), .named(.enter), "/")
        person.types("coin")
        person.presses(.named(.escape))
        #expect(person.choice.selected == nil || person.choice.selected == "BINANCE:ETHUSDT")
        #expect(person.choice.opened == "BINANCE:ETHUSDT" && person.prompt == nil)
        person.presses("/")
        person.types("coin")
        person.presses(.named(.enter))
        #expect(person.choice.opened == "COINBASE:BTC-USD")
    }

    @Test("A text that no symbol contains is said, and the line stays")
    func nothing() {
        var person = Self.person()
        person.presses("/")
        person.types("\u{202E}x")
        #expect(Self.screen(person).contains("no symbol here contains"))
        person.presses(.named(.enter))
        #expect(person.prompt?.message == "no symbol on the screen contains this")
    }

    @Test("One symbol alone cannot be searched")
    func alone() {
        var person = PersonAtScreen(["X:A"])
        person.presses("/")
        #expect(person.prompt == nil && person.said == "there is no other symbol to find")
    }
}
