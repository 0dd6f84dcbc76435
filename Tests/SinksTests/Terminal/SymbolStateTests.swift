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

@Suite("The reason of a state on the screen")
struct ReasonTests {
    private static let words =
        #"the key was rejected (HTTP 401: {"error":"Invalid API key"}): check FINNHUB_TOKEN, "#
        + "--token-file or `token` in the config"

    @Test("is shown whole where there is room, for the cure stands at its end", arguments: [(80, 24), (40, 12)])
    func whole(columns: Int, rows: Int) {
        var status = sampleStatus(.keyRejected(retryAt: sampleNoon.wall + 60 * oneSecond))
        status.reason = Self.words
        let model = DisplayModel(symbols: ["A", "B"], status: status)
        let grid = DisplayView.frame(of: model.state, size: .init(columns: columns, rows: rows), now: sampleNoon).grid
        let shown = (0..<rows).map(grid.line).joined(separator: " ").split(separator: " ").joined(separator: " ")
        #expect(shown.contains(Self.words), "\(shown)")
        #expect(shown.contains("no price yet"))
    }

    @Test("is shown in the state `waiting` too: it may say what the service says")
    func waiting() {
        var status = sampleStatus(.waiting)
        status.reason = "the service says: No"
        let model = DisplayModel(symbols: ["A"], status: status)
        let grid = DisplayView.frame(of: model.state, size: .init(columns: 80, rows: 12), now: sampleNoon).grid
        #expect(grid.line(0).contains("the service says: No"))
    }

    @Test("breaks at spaces, and elsewhere only where it must")
    func breaks() {
        func lines(_ text: String, _ columns: Int, _ most: Int) -> [String] {
            ScreenText.lines(text, columns: columns, most: most)
        }
        #expect(lines("one two three", 7, 3) == ["one two", "three"])
        #expect(lines("one two three", 8, 3) == ["one two", "three"])
        #expect(lines("one two three", 7, 1) == ["one tw…"])
        #expect(lines("abcdefghij", 4, 3) == ["abcd", "efgh", "ij"])
        #expect(lines("abcdefghij", 4, 2) == ["abcd", "efg…"])
        #expect(lines("", 4, 2) == [])
        #expect(lines("a b", 0, 2) == [] && lines("a b", 2, 0) == [])
        #expect(lines("a\u{1B}[2Jb", 80, 2) == ["a␛[2Jb"])
        #expect(lines(String(repeating: "字", count: 5), 3, 9) == ["字", "字", "字", "字", "字"])
        #expect(lines(String(repeating: "字", count: 5), 1, 3).allSatisfy { ScreenText.width(of: $0) <= 1 })
        #expect(lines(String(repeating: "word ", count: 100_000), 20, 3).count == 3)
    }
}
