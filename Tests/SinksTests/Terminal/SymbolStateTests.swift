import Market
import Sinks
import Testing

@Suite("The states of symbols on the screen")
struct SymbolStateTests {
    private func status(_ symbol: String, _ state: SymbolStatus.State, since: Int64) -> SymbolStatus {
        SymbolStatus(symbol: symbol, state: state, since: since)
    }

    private func lines(_ model: DisplayModel) -> [String] {
        let grid = DisplayView.frame(of: model.state, size: .init(columns: 80, rows: 12), now: sampleNoon).grid
        return (0..<12).map(grid.line)
    }

    @Test("stand beside symbols that have no price, and go when they are over")
    func waiting() {
        var model = DisplayModel(symbols: ["A", "B", "C", "D"], status: sampleStatus(.live))
        let since = sampleNoon.wall - 125 * oneSecond
        model.symbolChanged(self.status("A", .quiet, since: since))
        model.symbolChanged(self.status("B", .refused(.noSuchSymbol, retryAt: 0), since: since))
        model.symbolChanged(self.status("C", .refused(.notPermitted, retryAt: 0), since: since))
        model.symbolChanged(self.status("D", .asked, since: since))
        let shown = self.lines(model).joined(separator: "\n")
        for words in ["quiet 2m05s", "no such symbol", "not permitted on this plan", "no price yet"] {
            #expect(shown.contains(words), "\(words) in\n\(shown)")
        }
        model.symbolUnwished("B")
        #expect(!self.lines(model).joined().contains("no such symbol"))
    }

    @Test("take the place of the age of a price that is old, in the card and in the table")
    func priced() {
        let summary = sampleSummary()
        var model = DisplayModel(symbols: [summary.symbol], status: sampleStatus(.live))
        model.take(PriceUpdate(summary: summary, skipped: 0), now: sampleNoon.monotonic - 125 * oneSecond)
        #expect(self.lines(model).joined().contains("OLD 2m05s"))
        model.symbolChanged(self.status(summary.symbol, .quiet, since: 0))
        #expect(self.lines(model).joined().contains("QUIET 2m05s"))
        model.symbolChanged(self.status(summary.symbol, .refused(.noSuchSymbol, retryAt: 0), since: 0))
        #expect(self.lines(model).joined().contains("NO SUCH SYMBOL"))
        // A price that is fresh is fresh, whatever was said last.
        model.take(PriceUpdate(summary: summary, skipped: 0), now: sampleNoon.monotonic)
        var fresh = summary
        fresh.sequence += 1
        model.take(PriceUpdate(summary: fresh, skipped: 0), now: sampleNoon.monotonic)
        #expect(!self.lines(model).joined().contains("NO SUCH SYMBOL"))
    }
}
