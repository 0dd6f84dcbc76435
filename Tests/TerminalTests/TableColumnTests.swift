import Market
import Testing
import TickertapeTesting
@testable import Terminal

@Suite("The columns of the table")
struct TableColumnTests {
    private static let symbols = ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT", "COINBASE:SOL-USD"]

    private static func lines(
        _ chosen: [DisplayColumn] = [],
        columns: Int = 100,
        rows: Int = 10,
        age: Int64 = 0,
        waiting: [String] = [],
        _ change: (inout DisplayChoice) -> Void = { _ in }
    ) -> [String] {
        var state = DisplayState(
            rows: Self.symbols.map { sampleRow(sampleSummary($0), age: age) },
            waiting: waiting,
            status: sampleStatus()
        )
        state.symbolStates = [:]
        var choice = DisplayChoice()
        change(&choice)
        var look = DisplayLook()
        look.columns = chosen
        let size = ScreenGrid.Size(columns: columns, rows: rows)
        let grid = DisplayView.frame(of: state, choice: choice, size: size, now: sampleNoon, look: look).grid
        return (0..<rows).map(grid.line)
    }

    /// Returns the headings, left to right.
    private static func headings(_ lines: [String]) -> [String] {
        lines.first { $0.contains("SYMBOL") }?.split(separator: " ").map(String.init) ?? []
    }

    @Test("are those of the choice in its order, with the arrow at the one that sorts")
    func chosen() {
        let plain = Self.lines([.volume, .price, .symbol, .percent])
        #expect(Self.headings(plain) == ["VOLUME", "PRICE", "SYMBOL", "SESSION"], "\(plain)")
        let row = plain.first { $0.contains("BTCUSDT") }?.split(separator: " ").map(String.init) ?? []
        #expect(row.count >= 4 && row[1] == "61837.63" && row.contains { $0.hasSuffix("BTCUSDT") }, "\(row)")
        let sorted = Self.lines([.age, .price, .symbol, .percent]) { $0.order = .change }
        #expect(Self.headings(sorted) == ["AGE", "PRICE", "SYMBOL", "SESSION↓"], "\(sorted)")
        // Without the column that sorts there is no arrow.
        #expect(!Self.lines([.price, .symbol]) { $0.order = .change }.joined().contains("↓"))
        #expect(Self.headings(Self.lines([.value, .symbol, .price])) == ["SYMBOL", "PRICE"])
    }

    @Test("begin with the symbol and the price where the choice has none")
    func completed() {
        #expect(DisplayColumn.completed([]) == [])
        #expect(DisplayColumn.completed([.age]) == [.symbol, .price, .age])
        #expect(DisplayColumn.completed([.age, .price]) == [.symbol, .age, .price])
        #expect(Self.headings(Self.lines([.high])) == ["SYMBOL", "PRICE", "HIGH"])
    }

    @Test("show that a price is late or old, also without the column of ages", arguments: [30, 60, 100])
    func warnings(columns: Int) {
        let fresh = Self.lines([.symbol, .price, .high], columns: columns)
        #expect(!fresh.joined().contains("AGE") && !fresh[1...].joined().contains("LATE"), "\(fresh)")
        let late = Self.lines([.symbol, .price, .high], columns: columns, age: 9 * oneSecond)
        let rows = late.filter { $0.contains("61837.63") }
        #expect(rows.count == 3 && rows.allSatisfy { $0.contains("LATE") || $0.contains("!") }, "\(late)")
    }

    @Test("leave room for the words about a symbol without a price, wherever its name is")
    func waiting() {
        for chosen in [[], [.symbol, .price], [.price, .symbol], [.price, .age, .percent, .high, .low, .symbol]]
            as [[DisplayColumn]]
        {
            let lines = Self.lines(chosen, columns: 60, waiting: ["X:UNKNOWN"])
            #expect(lines.contains { $0.contains("UNKNOWN") && $0.contains("no price yet") }, "\(chosen) \(lines)")
        }
    }

    @Test(
        "on tiny screens lose the price last of all",
        arguments: [
            [], [.symbol, .price, .age], [.age, .symbol, .price], [.percent, .high, .symbol, .price],
            DisplayColumn.allCases, DisplayColumn.allCases.reversed(),
        ] as [[DisplayColumn]],
        [0, 9, 90]
    )
    func tiny(_ chosen: [DisplayColumn], _ age: Int64) {
        for rows in 4...8 {
            for columns in 1...60 {
                let lines = Self.lines(chosen, columns: columns, rows: rows, age: age * oneSecond)
                // Below the status and above the last line.
                let body = lines[1..<(rows >= 5 ? rows - 1 : rows)].joined(separator: "\n")
                // The price has eight characters.
                #expect(body.contains("61837.63") == (columns >= 8), "\(columns)x\(rows) \(lines)")
            }
        }
    }
}
