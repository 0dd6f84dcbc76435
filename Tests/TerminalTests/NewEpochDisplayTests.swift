import Market
import Testing
import TickertapeTesting
import Wire
@testable import Terminal

@Suite("A new epoch of the tape, on the screen")
struct NewEpochDisplayTests {
    @Test("the screen drops symbols without subscribers before it has too many, and keeps the others and the watchlist")
    func display() {
        let status = FeedStatus(source: .live, phase: .live, since: 1)
        var model = DisplayModel(symbols: ["OWN"], status: status)
        var feed = BatchSource()
        func take(_ symbol: String) {
            var board = Board()
            let batch = feed.batch([Frames.trade(symbol, "1")])
            feed.beginAnew()
            board.apply(trades: batch.trades, firstSequence: 1, received: 1, symbols: batch.symbols)
            model.take(PriceUpdate(summary: board.rows[0], skipped: 0), now: 1)
        }
        take("OWN")
        model.symbolChanged(SymbolStatus(symbol: "WANTED", state: .live, since: 1))
        take("WANTED")
        for number in 0..<4_200 { take("S\(number)") }
        #expect(model.state.rows.count <= SymbolTable.capacity)
        let names = model.state.rows.map(\.summary.symbol)
        #expect(names.contains("OWN") && names.contains("WANTED") && names.contains("S4199"))
        #expect(Set(names).count == names.count)
    }
}
