import Market
import Measurements
@testable import Terminal
import Testing
import TickertapeTesting

@Suite("The states of symbols on the screen")
struct SymbolStateTests {
    private func status(_ symbol: String, _ state: SymbolStatus.State, since: Int64) -> SymbolStatus {
        SymbolStatus(symbol: symbol, state: state, since: since)
    }

    private func lines(_ model: DisplayModel) -> [String] {
        let grid = DisplayView.frame(of: model.state, size: .init(columns: 80, rows: 12), now: sampleNoon).grid
        return (0..<12).map(grid.line)
    }

    @Test("appear beside symbols without a price, and disappear at their end")
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
        model.symbolUnsubscribed("B")
        #expect(!self.lines(model).joined().contains("no such symbol"))
        // A client of the relay subscribed to the symbol and unsubscribes again.
        model.symbolChanged(self.status("E", .refused(.overLimit, retryAt: 0), since: since))
        #expect(self.lines(model).joined().contains("over the limit of symbols"))
        model.symbolUnsubscribed("E")
        #expect(!self.lines(model).joined().contains("over the limit of symbols"))
    }

    @Test("show the full name of a refused symbol, and the probable name if it fits")
    func wholeName() {
        var model = DisplayModel(symbols: ["BINANCE:ETHUSDT", "BINANC:BTCUSDT"], status: sampleStatus(.live))
        model.take(PriceUpdate(summary: sampleSummary("BINANCE:ETHUSDT"), skipped: 0), now: sampleNoon.monotonic)
        model.symbolChanged(self.status("BINANC:BTCUSDT", .refused(.noSuchSymbol, retryAt: 0), since: 0))
        let shown = self.lines(model).joined(separator: "\n")
        #expect(shown.contains("BINANC:BTCUSDT: no such symbol; did you mean BINANCE:BTCUSDT?"), "\(shown)")
        let narrow = DisplayView.frame(of: model.state, size: .init(columns: 60, rows: 12), now: sampleNoon).grid
        let text = (0..<12).map(narrow.line).joined(separator: "\n")
        #expect(text.contains("BINANC:BTCUSDT: no such symbol"), "\(text)")
    }

    @Test("disappear with the row of a symbol that a client unsubscribed, and return with the next subscription")
    func givenUp() {
        let now = sampleNoon.monotonic
        func update(_ symbol: String) -> PriceUpdate { PriceUpdate(summary: sampleSummary(symbol), skipped: 0) }
        var model = DisplayModel(symbols: ["A"], status: sampleStatus(.live))
        for symbol in ["B", "A", "C"] {
            model.symbolChanged(self.status(symbol, .live, since: 0))
            model.take(update(symbol), now: now)
        }
        model.symbolUnsubscribed("B")
        #expect(model.state.rows.map(\.summary.symbol) == ["A", "C"])
        // Conflated prices and the board's rows do not bring a symbol back.
        model.take(update("B"), now: now)
        model.observe(sampleSummary("B", sequence: 18, trades: 18), now: now)
        #expect(model.state.rows.map(\.summary.symbol) == ["A", "C"])
        model.take(update("C"), now: now + 1)
        #expect(model.state.rows[1].arrived == now)
        // A symbol of the watchlist stays, even if a client unsubscribes.
        model.symbolUnsubscribed("A")
        #expect(model.state.rows.map(\.summary.symbol) == ["A", "C"])
        model.symbolChanged(self.status("B", .asked, since: 0))
        model.take(update("B"), now: now)
        #expect(model.state.rows.map(\.summary.symbol) == ["A", "C", "B"])
        model.symbolUnsubscribed("C")
        model.symbolAdded("C")
        model.take(update("C"), now: now)
        #expect(model.state.rows.map(\.summary.symbol) == ["A", "C", "B"])
    }

    @Test(
        "accept a re-added symbol's data before the answer, and a refusal hides it"
    )
    func awaited() {
        let now = sampleNoon.monotonic
        func take(_ symbol: String) {
            model.symbolChanged(self.status(symbol, .live, since: 0))
            model.take(PriceUpdate(summary: sampleSummary(symbol), skipped: 0), now: now)
        }
        var model = DisplayModel(symbols: ["A", "B"], status: sampleStatus(.live))
        for symbol in ["A", "B"] { take(symbol) }
        model.symbolRemoved("A")
        take("A")
        #expect(model.state.rows.map(\.summary.symbol) == ["B"])
        model.symbolAwaited("A")
        take("A")
        model.symbolAdded("A")
        #expect(model.state.rows.map(\.summary.symbol) == ["B", "A"] && model.state.waiting.isEmpty)
        #expect(model.state.symbolStates["A"] != nil)
        model.symbolRemoved("A")
        model.symbolAwaited("A")
        take("A")
        model.symbolDenied("A")
        take("A")
        #expect(model.state.rows.map(\.summary.symbol) == ["B"] && model.state.symbolStates["A"] == nil)
        // A symbol with a row stays after a denied subscription.
        model.symbolAwaited("B")
        model.symbolDenied("B")
        #expect(model.state.rows.map(\.summary.symbol) == ["B"])
    }

    @Test("show the known price of a re-added symbol with its age, and do not count it")
    func recalled() throws {
        let now = sampleNoon.monotonic
        var model = DisplayModel(symbols: ["A", "B"], status: sampleStatus(.live))
        for symbol in ["A", "B"] {
            model.take(PriceUpdate(summary: sampleSummary(symbol), skipped: 2), now: now - 90 * oneSecond)
        }
        let known = model.state.rows[1].summary
        model.symbolRemoved("B")
        model.symbolAdded("B")
        model.recalled(known, age: 90 * oneSecond, now: now)
        #expect(self.lines(model).contains { $0.hasPrefix(" B") && $0.contains("61837.63") && $0.contains("OLD") })
        let row = try #require(model.state.rows.last)
        #expect(row.arrived == now - 90 * oneSecond && row.summary == known && row.direction == .none)
        #expect(row.changed == nil && row.skipped == 0 && row.history.start == nil)
        #expect(row.rate.tenthsPerSecond(now: now + 20 * oneSecond) ?? 0 == 0)
        // A symbol with a price ignores an older one.
        model.recalled(sampleSummary("A", price: "1"), age: oneSecond, now: now)
        #expect(model.state.rows[0].summary.price == known.price)
        // A new subscription does not make the price current.
        model.symbolChanged(self.status("B", .asked, since: sampleNoon.wall))
        #expect(self.lines(model).contains { $0.hasPrefix(" B") && $0.contains("OLD 1m30s") }, "\(self.lines(model))")
    }

    @Test("on a line of their own name the symbol that is selected, and no price of another", arguments: [20, 40, 80])
    func onlyLine(columns: Int) {
        var model = DisplayModel(symbols: ["X:A", "X:Y"], status: sampleStatus(.live))
        model.take(PriceUpdate(summary: sampleSummary("X:A"), skipped: 0), now: sampleNoon.monotonic)
        var choice = DisplayChoice()
        choice.selected = "X:Y"
        func line() -> String {
            DisplayView.frame(of: model.state, choice: choice, size: .init(columns: columns, rows: 1), now: sampleNoon)
                .grid.line(0)
        }
        #expect(line().contains("Y no price yet") && !line().contains("61837"))
        let refused = SymbolStatus.State.refused(.noSuchSymbol, retryAt: 0)
        model.symbolChanged(self.status("X:Y", refused, since: sampleNoon.wall))
        #expect(line().contains("X:Y no such symbol") && !line().contains("61837"), "\(line())")
        model.statusChanged(sampleStatus(.reconnecting(attempt: 1, retryAt: 0)))
        #expect(line().contains("Y") && line().contains("RECON"))
        choice.selected = "X:A"
        #expect(line().contains("61837.63"))
    }

    @Test("take the place of the age of a price that is old, in the card and in the table")
    func priced() {
        let summary = sampleSummary()
        var model = DisplayModel(symbols: [summary.symbol], status: sampleStatus(.late))
        model.take(PriceUpdate(summary: summary, skipped: 0), now: sampleNoon.monotonic - 125 * oneSecond)
        #expect(self.lines(model).joined().contains("OLD 2m05s"))
        model.symbolChanged(self.status(summary.symbol, .quiet, since: 0))
        #expect(self.lines(model).joined().contains("QUIET 2m05s"))
        model.symbolChanged(self.status(summary.symbol, .refused(.noSuchSymbol, retryAt: 0), since: 0))
        #expect(self.lines(model).joined().contains("NO SUCH SYMBOL"))
    }

    @Test("determine a price's freshness: no age overrules the feed, which has limits for each symbol")
    func decide() {
        var model = DisplayModel(symbols: ["A", "B"], status: sampleStatus(.live))
        for (symbol, age) in [("A", 0), ("B", 125)] as [(String, Int64)] {
            model.take(
                PriceUpdate(summary: sampleSummary(symbol), skipped: 0),
                now: sampleNoon.monotonic - age * oneSecond
            )
        }
        func line(_ symbol: String) -> String {
            self.lines(model).first { $0.drop { " ▸".contains($0) }.hasPrefix("\(symbol) ") } ?? ""
        }
        model.symbolChanged(self.status("A", .live, since: 0))
        model.symbolChanged(self.status("B", .live, since: 0))
        // The symbol trades once in a quarter of an hour. The feed has learnt that, and does not report it as quiet.
        #expect(self.lines(model)[0].contains("LIVE") && line("B").contains(" 2m05s"))
        #expect(!line("B").contains("LATE") && !line("B").contains("OLD") && !line("B").contains("QUIET"))
        // Prices from before the reconnection, for which the feed has no other status; the age limits apply.
        model.symbolChanged(self.status("B", .asked, since: 0))
        #expect(line("B").contains("OLD 2m05s") && !line("A").contains("LATE"))
        model.symbolChanged(self.status("A", .asked, since: 0))
        #expect(line("A").contains("LATE 0 s"))
        model.symbolChanged(self.status("A", .live, since: 0))
        model.symbolChanged(self.status("B", .quiet, since: 0))
        #expect(line("B").contains("QUIET 2m05s") && self.lines(model)[0].contains("LIVE"))
        model.statusChanged(sampleStatus(.late))
        #expect(line("A").contains("LATE 0 s") && line("B").contains("QUIET 2m05s"))
        model.statusChanged(sampleStatus(.reconnecting(attempt: 1, retryAt: 0)))
        #expect(line("A").contains("OLD 0 s"))
    }

    @Test("cannot be reported by a feed that hangs: the screen then applies the feed's limits")
    func hangs() {
        var limits = FreshnessLimits()
        limits.lateAfter = 60 * oneSecond
        limits.staleAfter = 120 * oneSecond
        func header(age: Int64) -> String {
            var model = DisplayModel(symbols: ["A"], status: sampleStatus(.live), limits: limits)
            model.symbolChanged(self.status("A", .live, since: 0))
            model.take(
                PriceUpdate(summary: sampleSummary("A"), skipped: 0),
                now: sampleNoon.monotonic - age * oneSecond
            )
            return self.lines(model)[0]
        }
        #expect(header(age: 60).contains("LIVE"))
        #expect(header(age: 61).contains("LATE, no trade for 1m01s"))
        #expect(header(age: 121).contains("STALE, no trade for 2m01s"))
    }
}

@Suite("The reason of a state on the screen")
struct ReasonTests {
    private static let words =
        #"the key was rejected (HTTP 401: {"error":"Invalid API key"}): check FINNHUB_TOKEN, "#
        + "--token-file or `token` in the config"

    @Test("is shown completely if it fits, since the hint is at its end", arguments: [(80, 24), (40, 12)])
    func whole(columns: Int, rows: Int) {
        var status = sampleStatus(.keyRejected(retryAt: sampleNoon.wall + 60 * oneSecond))
        status.reason = Self.words
        let model = DisplayModel(symbols: ["A", "B"], status: status)
        let grid = DisplayView.frame(of: model.state, size: .init(columns: columns, rows: rows), now: sampleNoon).grid
        let shown = (0..<rows).map(grid.line).joined(separator: " ").split(separator: " ").joined(separator: " ")
        #expect(shown.contains(Self.words), "\(shown)")
        #expect(shown.contains("no price yet"))
    }

    @Test("is shown where there is a connection, too: it may quote the service, or say that an edge has no ingest")
    func connected() {
        for phase in [FeedStatus.Phase.waiting, .stale] { self.shown(phase) }
    }

    private func shown(_ phase: FeedStatus.Phase) {
        var status = sampleStatus(phase)
        status.cause = phase == .stale ? .silent : nil
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
