import Market
@testable import Terminal
import Testing
import TickertapeTesting

@Suite("The venue's 24 hours on the screen")
struct VenueDayTests {
    private static func text(_ day: VenueDay?, columns: Int = 120) -> String {
        var state = SnapshotTests.one
        state.rows[0].day = day
        let frame = DisplayView.frame(of: state, size: .init(columns: columns, rows: 24), now: sampleNoon)
        return (0..<24).map { frame.grid.line($0) }.joined(separator: "\n")
    }

    private static func day(open: String?, received: Int64 = sampleNoon.wall - oneSecond) -> VenueDay {
        VenueDay(
            symbol: "BINANCE:BTCUSDT",
            open: open.map(sampleDecimal),
            high: sampleDecimal("70000.1"),
            low: sampleDecimal("50000.2"),
            last: sampleDecimal("61000"),
            volume: sampleDecimal("31234.5"),
            received: received
        )
    }

    @Test("have names of their own, beside the session's values")
    func facts() {
        let text = Self.text(Self.day(open: "50000"))
        for words in [
            "+11837.63 (+23.68%) 24h", "24h open 50000.00", "24h high 70000.10", "24h low 50000.20", "24h volume 31",
        ] {
            #expect(text.contains(words), "\(words) in \(text)")
        }
        #expect(Self.text(nil).contains("high") && !Self.text(nil).contains("24h"))
    }

    @Test("give the change of a table's rows, which name their spans if these differ, and its order")
    func table() {
        var state = SnapshotTests.many
        state.rows[1].day = Self.day(open: "2000")
        func lines() -> [String] {
            let choice = DisplayChoice(order: .change)
            let grid = DisplayView.frame(of: state, choice: choice, size: .init(columns: 120, rows: 9), now: sampleNoon)
                .grid
            return (0..<9).map { grid.line($0) }
        }
        let mixed = lines()
        #expect(mixed[1].contains("%↓") && mixed[2].contains("ETHUSDT") && mixed[2].contains("+25.51% 24h"))
        #expect(mixed[3].contains("+0.02% session"))
        state.rows[0].day = Self.day(open: "61000")
        state.rows[2].day = Self.day(open: "0.00000951")
        let same = lines()
        #expect(same[1].contains("24H↓") && same[2].contains("+25.51% ") && !same[2].contains("24h"))
    }

    @Test("come before the price of the history and the previous close, which come before the session's")
    func references() {
        func text(_ span: ChangeReference.Span, _ day: VenueDay?, until: Int64 = sampleNoon.wall + 1) -> String {
            var state = SnapshotTests.one
            state.rows[0].day = day
            state.rows[0].reference = ChangeReference(
                symbol: "BINANCE:BTCUSDT",
                price: sampleDecimal("60000"),
                span: span,
                until: until
            )
            let frame = DisplayView.frame(of: state, size: .init(columns: 120, rows: 24), now: sampleNoon)
            return (0..<24).map { frame.grid.line($0) }.joined(separator: "\n")
        }
        #expect(text(.day, nil).contains("+1837.63 (+3.06%) 24h"))
        #expect(text(.close, nil).contains("+1837.63 (+3.06%) since close"))
        #expect(text(.close, Self.day(open: "50000")).contains("+11837.63 (+23.68%) 24h"))
        #expect(text(.close, Self.day(open: nil)).contains("since close"))
        #expect(!text(.close, nil, until: sampleNoon.wall).contains("since close"))
    }

    @Test("are asked for elsewhere for the rows without an opening price")
    func missing() {
        var model = DisplayModel(symbols: ["X:A", "X:B"], status: sampleStatus())
        for symbol in ["X:A", "X:B", "BINANCE:BTCUSDT"] {
            model.take(PriceUpdate(summary: sampleSummary(symbol), skipped: 0), now: 0)
        }
        model.dayChanged(Self.day(open: "1"))
        #expect(model.symbolsWithoutDay == ["X:A", "X:B"])
        let reference = ChangeReference(symbol: "X:B", price: sampleDecimal("5"), span: .day, until: 1)
        model.count(from: [reference, ChangeReference(symbol: "X:Z", price: sampleDecimal("5"), span: .day, until: 1)])
        #expect(model.state.rows.compactMap(\.reference) == [reference])
    }

    @Test("without an opening price have no change")
    func withoutOpen() {
        let text = Self.text(Self.day(open: nil))
        #expect(text.contains("24h high") && !text.contains("24h open") && !text.contains("%  24h"))
    }

    @Test("disappear when they are old, and the screen changes then by itself")
    func old() {
        let limit = VenueDay.goodFor
        #expect(!Self.text(Self.day(open: "1", received: sampleNoon.wall - limit)).contains("24h"))
        var state = SnapshotTests.one
        state.rows[0].day = Self.day(open: "1", received: sampleNoon.wall - limit + 5)
        let frame = DisplayView.frame(of: state, size: .init(columns: 120, rows: 24), now: sampleNoon)
        #expect(frame.changesAt.map { $0 <= sampleNoon.monotonic + 5 } == true)
    }

    @Test("reach the row of their symbol only")
    func model() {
        var model = DisplayModel(symbols: ["BINANCE:BTCUSDT"], status: sampleStatus())
        model.dayChanged(Self.day(open: nil))
        model.take(PriceUpdate(summary: sampleSummary(), skipped: 0), now: 5)
        #expect(model.state.rows.first?.day == nil)
        var day = Self.day(open: nil)
        day.symbol = model.state.rows[0].summary.symbol
        model.dayChanged(day)
        #expect(model.state.rows[0].day == day)
    }
}
