import Market
import Testing
import TickertapeTesting
@testable import Terminal

@Suite("One line for all symbols")
struct LiveLineTests {
    private func at(_ milliseconds: Int64) -> Moment {
        Moment(
            monotonic: sampleNoon.monotonic + milliseconds * 1_000_000,
            wall: sampleNoon.wall + milliseconds * 1_000_000
        )
    }

    private func price(_ symbol: String, _ price: String = "61837.63", open: String = "61825.5", at: Int64) -> LineItem
    {
        .price(
            PriceUpdate(summary: sampleSummary(symbol, price: price, open: open), skipped: 0),
            arrived: self.at(at).monotonic
        )
    }

    private func text(_ line: inout LiveLine, _ milliseconds: Int64, isForced: Bool = false) -> String? {
        line.line(now: self.at(milliseconds), isForced: isForced).map { String(decoding: $0.dropLast(), as: UTF8.self) }
    }

    @Test("it has price, change, age and status, keeps a symbol's digits, and begins before the first price")
    func words() {
        var line = LiveLine(
            .oneline,
            symbols: ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT"],
            status: sampleStatus(.connecting)
        )
        #expect(self.text(&line, 0) == "BTCUSDT - no trade yet | ETHUSDT - no trade yet | connecting")
        line.took(.status(sampleStatus(.live, .demo)), now: self.at(1_000).monotonic)
        line.took(self.price("BINANCE:BTCUSDT", at: 1_000), now: self.at(1_000).monotonic)
        #expect(
            self.text(&line, 1_000) == "BTCUSDT 61837.63 +0.02% session 0 s | ETHUSDT - no trade yet | PLAYING DEMO"
        )
        line.took(self.price("BINANCE:BTCUSDT", "61837.6", at: 2_000), now: self.at(2_000).monotonic)
        #expect(self.text(&line, 2_000)?.hasPrefix("BTCUSDT 61837.60 +0.02% session 0 s") == true)
    }

    @Test("the age continues without updates, at most once a second, and without a change there is no line")
    func age() {
        var line = LiveLine(.oneline, symbols: [], status: sampleStatus())
        line.took(self.price("A", "1", open: "1", at: 0), now: self.at(0).monotonic)
        #expect(self.text(&line, 0) == "A 1 0.00% session 0 s | live")
        #expect(self.text(&line, 400) == nil)
        var lines: [String] = []
        var now: Int64 = 0
        // It reports the time of its next change.
        while now < 8_000, let due = line.due {
            now = max(now + 1, (due - self.at(0).monotonic + 999_999) / 1_000_000)
            if let text = self.text(&line, now) { lines.append(text) }
        }
        #expect(lines.contains("A 1 0.00% session 3 s | live"))
        // A feed that hangs in the live status is shown as late.
        #expect(lines.contains("A 1 0.00% session 7 s | late"))
        #expect(lines.count <= 8)
        // All prices within a second are one line.
        line.took(self.price("A", "2", open: "1", at: now), now: self.at(now).monotonic)
        let first = self.text(&line, now + 1_000)
        #expect(first?.hasPrefix("A 2 ") == true)
        for price in 3...9 {
            line.took(
                self.price("A", "\(price)", open: "1", at: now + 1_000),
                now: self.at(now + 1_000).monotonic
            )
            #expect(self.text(&line, now + 1_001) == nil)
        }
        #expect(self.text(&line, now + 2_000)?.hasPrefix("A 9 ") == true)
    }

    @Test("words describe a lost connection, a quiet or refused symbol and an old price; waits count down")
    func trouble() {
        var line = LiveLine(.oneline, symbols: ["X:A", "X:B", "Z:C"], status: sampleStatus())
        line.took(
            .snapshot(PriceUpdate(summary: sampleSummary("X:A"), skipped: 0), arrived: self.at(-90_000).monotonic),
            now: 0
        )
        line.took(self.price("X:B", at: 0), now: 0)
        line.took(.symbol(SymbolStatus(symbol: "X:B", state: .quiet, since: 0)), now: 0)
        let refused = SymbolStatus(symbol: "Z:C", state: .refused(.noSuchSymbol, retryAt: 0), since: 0)
        line.took(.symbol(refused), now: 0)
        let until = self.at(12_000).wall
        line.took(.status(sampleStatus(.reconnecting(attempt: 3, retryAt: until))), now: 0)
        #expect(
            self.text(&line, 0)
                == "A 61837.63 +0.02% session old 1m30s | B 61837.63 +0.02% session quiet 0 s | Z:C - no-such-symbol | reconnecting 3 in 12 s"
        )
        #expect(self.text(&line, 2_000)?.hasSuffix("reconnecting 3 in 10 s") == true)
    }

    @Test("two symbols of one name keep their exchanges, and untrusted text cannot control tmux or the terminal")
    func names() {
        var line = LiveLine(.oneline, symbols: ["X:A", "Y:A", "#(reboot)\u{1B}[2J"], status: sampleStatus(.waiting))
        #expect(
            self.text(&line, 0)
                == "X:A - no trade yet | Y:A - no trade yet | _(reboot)␛[2J - no trade yet | waiting"
        )
        var many = LiveLine(.oneline, symbols: (1...50).map { "S\($0)" }, status: sampleStatus())
        #expect(self.text(&many, 0)?.hasSuffix("| 30 more | live") == true)
    }

    @Test("a symbol without subscribers disappears and makes room; the chosen symbols stay")
    func unsubscribed() {
        var line = LiveLine(.oneline, symbols: ["X:A"], status: sampleStatus())
        let names = (1...30).map { "Y:B\($0)" }
        for name in ["X:A"] + names {
            line.took(self.price(name, "1", open: "1", at: 0), now: self.at(0).monotonic)
        }
        #expect(self.text(&line, 0)?.hasSuffix("| B19 1 0.00% session 0 s | 11 more | live") == true)
        for name in ["X:A"] + names.dropLast() { line.took(.unsubscribed(name, since: 0), now: self.at(0).monotonic) }
        // Prices from before the removal do not bring the symbol back.
        line.took(self.price("Y:B1", "1", open: "1", at: 0), now: self.at(0).monotonic)
        #expect(self.text(&line, 1_000) == "A 1 0.00% session 1 s | B30 1 0.00% session 1 s | live")
        line.took(.symbol(SymbolStatus(symbol: "Y:B1", state: .asked, since: 0)), now: self.at(0).monotonic)
        line.took(self.price("Y:B1", "1", open: "1", at: 2_000), now: self.at(2_000).monotonic)
        #expect(self.text(&line, 2_000)?.contains("| B1 1 0.00% session 0 s |") == true)
        // A relay sends its stored price before it reports the new subscription; that price is old.
        line.took(.unsubscribed("Y:B30", since: 0), now: self.at(2_000).monotonic)
        #expect(self.text(&line, 3_000)?.contains("B30") == false)
        let known = PriceUpdate(summary: sampleSummary("Y:B30", price: "1", open: "1"), skipped: 0)
        line.took(.snapshot(known, arrived: self.at(-87_000).monotonic), now: self.at(3_000).monotonic)
        line.took(.symbol(SymbolStatus(symbol: "Y:B30", state: .asked, since: 0)), now: self.at(3_000).monotonic)
        #expect(self.text(&line, 4_000)?.contains("| B30 1 0.00% session old 1m31s |") == true)
    }

    @Test("a paused replay is neither late nor old, shows its pause, and then continues its silence")
    func paused() {
        var line = LiveLine(.oneline, symbols: [], status: sampleStatus(.live, .replay(file: "f", speed: 1)))
        line.took(self.price("A", "1", open: "1", at: 0), now: self.at(0).monotonic)
        line.took(.paused(true), now: self.at(1_000).monotonic)
        #expect(self.text(&line, 60_000) == "A 1 0.00% session 1m00s | PAUSED REPLAY")
        line.took(.paused(false), now: self.at(61_000).monotonic)
        #expect(self.text(&line, 62_000) == "A 1 0.00% session 1m02s | PLAYING REPLAY")
        #expect(self.text(&line, 68_000) == "A 1 0.00% session 1m08s | late REPLAY")
        #expect(self.text(&line, 93_000) == "A 1 0.00% session old 1m33s | stale REPLAY")
        line.took(.status(sampleStatus(.stale, .replay(file: "f", speed: 1))), now: self.at(94_000).monotonic)
        line.took(.paused(true), now: self.at(94_000).monotonic)
        #expect(self.text(&line, 95_000) == "A 1 0.00% session 1m35s | PAUSED REPLAY")
        line.took(.paused(false), now: self.at(96_000).monotonic)
        #expect(self.text(&line, 97_000) == "A 1 0.00% session old 1m37s | stale REPLAY")
    }

    @Test("a replay shows its end, and its prices age no further")
    func ended() {
        let source = FeedStatus.Source.simulated(seed: 7, speed: 1)
        var line = LiveLine(.oneline, symbols: [], status: sampleStatus(.live, source))
        line.took(self.price("A", "1", open: "1", at: 0), now: self.at(0).monotonic)
        #expect(self.text(&line, 1_000) == "A 1 0.00% session 1 s | PLAYING SIMULATED")
        line.took(.paused(true), now: self.at(3_000).monotonic)
        line.took(.status(sampleStatus(.ended, source)), now: self.at(3_000).monotonic)
        #expect(self.text(&line, 3_000) == "A 1 0.00% session 3 s | ENDED SIMULATED")
        #expect(self.text(&line, 7_200_000) == nil)
        line.took(.paused(false), now: self.at(7_200_000).monotonic)
        #expect(self.text(&line, 7_300_000) == nil && line.due == nil)
    }

    @Test("the last line comes at once where the words are others, and not twice")
    func last() {
        func last(_ line: inout LiveLine, _ milliseconds: Int64) -> String? {
            line.last(now: self.at(milliseconds)).map { String(decoding: $0, as: UTF8.self) }
        }
        var line = LiveLine(.oneline, symbols: [], status: sampleStatus())
        line.took(self.price("A", "1", open: "1", at: 0), now: self.at(0).monotonic)
        #expect(self.text(&line, 0) == "A 1 0.00% session 0 s | live")
        line.took(self.price("A", "2", open: "1", at: 100), now: self.at(100).monotonic)
        // A replay is paused at its end.
        line.took(.paused(true), now: self.at(100).monotonic)
        line.took(.status(sampleStatus(.ended)), now: self.at(100).monotonic)
        #expect(self.text(&line, 100) == nil)
        #expect(last(&line, 100) == "A 2 +100.00% session 0 s | ended\n")
        #expect(last(&line, 101) == nil)
    }

    @Test("Waybar gets text, tooltip and classes, with its markup escaped")
    func waybar() {
        var line = LiveLine(
            .waybar,
            symbols: ["B:<A&B>"],
            status: sampleStatus(.live, .replay(file: "f", speed: 1), checked: false)
        )
        line.took(self.price("B:<A&B>", "5", open: "10", at: 0), now: 0)
        #expect(
            self.text(&line, 0)
                == #"{"text":"&lt;A&amp;B&gt; 5 -50.00% session 0 s | PLAYING REPLAY CERTIFICATE-NOT-CHECKED","alt":"live","tooltip":"#
                + #""B:&lt;A&amp;B&gt; 5, 0 s ago, -5 session, session: high 10, low 5, volume 123.45678, 17 trades\n"#
                + #"PLAYING, REPLAY 1x f, CERTIFICATE NOT CHECKED","class":["live","replay","unchecked","down"]}"#
        )
    }

    @Test("a change is over the venue's 24 hours where it publishes them, as long as they are good")
    func day() {
        var line = LiveLine(.oneline, symbols: ["A"], status: sampleStatus())
        let day = VenueDay(
            symbol: "A",
            open: sampleDecimal("2"),
            high: sampleDecimal("5"),
            low: sampleDecimal("1"),
            last: sampleDecimal("4"),
            volume: sampleDecimal("9"),
            received: self.at(0).wall
        )
        // Figures of a symbol without a row are no reason for one.
        line.took(
            .day(
                VenueDay(
                    symbol: "B",
                    open: sampleDecimal("1"),
                    high: sampleDecimal("1"),
                    low: sampleDecimal("1"),
                    last: sampleDecimal("1"),
                    volume: sampleDecimal("1"),
                    received: 0
                )
            ),
            now: 0
        )
        line.took(.day(day), now: self.at(0).monotonic)
        line.took(self.price("A", "4", open: "3", at: 0), now: self.at(0).monotonic)
        #expect(self.text(&line, 0) == "A 4 +100.00% 24h 0 s | live")
        // The text changes when the figures become too old, without an item.
        let end = VenueDay.goodFor / 1_000_000
        line.took(.paused(true), now: self.at(0).monotonic)
        #expect(self.text(&line, end - 1_000)?.contains(" 24h ") == true)
        #expect(line.due.map { $0 <= self.at(end).monotonic } == true)
        #expect(self.text(&line, end)?.hasPrefix("A 4 +33.33% session ") == true)
    }

    /// Returns a line with the symbols `A`, `B` and `C` at the prices 1, 2 and 3.
    private func three(_ style: LiveLine.Style = .oneline, rotation: Int64?) -> LiveLine {
        var line = LiveLine(
            style,
            symbols: ["A", "B", "C"],
            status: sampleStatus(),
            rotation: rotation.map { $0 * 1_000_000 }
        )
        for (symbol, price) in [("A", "1"), ("B", "2"), ("C", "3")] {
            line.took(self.price(symbol, price, open: "2", at: 0), now: self.at(0).monotonic)
        }
        return line
    }

    @Test("symbols are shown one after the other, each for its time, and the line says when the next one follows")
    func rotation() {
        var line = self.three(rotation: 5_000)
        var now: Int64 = 0
        var shown: [(at: Int64, symbol: Substring)] = []
        while now < 21_000 {
            if let text = self.text(&line, now) { shown.append((now, text.prefix(1))) }
            let due = line.due.map { ($0 - self.at(0).monotonic + 999_999) / 1_000_000 }
            now = max(now + 1, due ?? .max)
        }
        let turns = shown.indices.filter { $0 == 0 || shown[$0].symbol != shown[$0 - 1].symbol }
        #expect(turns.map { shown[$0].symbol } == ["A", "B", "C", "A", "B"])
        #expect(turns.map { shown[$0].at } == [0, 5_000, 10_000, 15_000, 20_000])
        #expect(shown.count > 15, "the age goes on meanwhile")
        var alone = LiveLine(.oneline, symbols: ["A"], status: sampleStatus(), rotation: 1_000_000_000)
        #expect(self.text(&alone, 0) == "A - no trade yet | live")
        #expect(self.text(&alone, 10_000) == nil && alone.due == nil)
        var empty = LiveLine(.oneline, symbols: [], status: sampleStatus(), rotation: 1_000_000_000)
        #expect(self.text(&empty, 0) == "live")
    }

    @Test("a click shows the neighbour at once; without a rotation all together are a place of their own")
    func steps() {
        func go(_ line: inout LiveLine, _ step: SymbolStep, at: Int64) -> String {
            line.took(.step(step), now: self.at(at).monotonic)
            return String(
                self.text(&line, at)?.split(separator: " |").dropLast().map { $0.filter(\.isLetter).prefix(1) }.joined()
                    ?? "-"
            )
        }
        var line = self.three(rotation: nil)
        #expect(self.text(&line, 0)?.split(separator: "|").count == 4)
        // All within the second after the first line.
        #expect((1...5).map { go(&line, .next, at: $0) } == ["A", "B", "C", "ABC", "A"])
        #expect((6...10).map { go(&line, .previous, at: $0) } == ["ABC", "C", "B", "A", "ABC"])

        var turning = self.three(rotation: 5_000)
        _ = self.text(&turning, 0)
        #expect((1...4).map { go(&turning, .next, at: $0 * 1_000) } == ["B", "C", "A", "B"])
        #expect((5...7).map { go(&turning, .previous, at: $0 * 1_000) } == ["A", "C", "B"])
        // The chosen symbol has its whole time.
        #expect(self.text(&turning, 11_900)?.hasPrefix("B") == true)
        #expect(self.text(&turning, 12_950)?.hasPrefix("C") == true)
    }

    @Test("a symbol that is removed leaves its turn to the next; the last one's goes to the first")
    func removedInTurn() {
        var line = LiveLine(.oneline, symbols: [], status: sampleStatus(), rotation: 60_000_000_000)
        for symbol in ["A", "B", "C"] {
            line.took(self.price(symbol, "1", open: "1", at: 0), now: self.at(0).monotonic)
        }
        line.took(.step(.next), now: self.at(0).monotonic)
        line.took(.step(.next), now: self.at(0).monotonic)
        #expect(self.text(&line, 0)?.hasPrefix("B ") == true)
        line.took(.unsubscribed("A", since: 0), now: self.at(0).monotonic)
        #expect(self.text(&line, 1_000)?.hasPrefix("B ") == true)
        line.took(.unsubscribed("B", since: 0), now: self.at(0).monotonic)
        #expect(self.text(&line, 2_000)?.hasPrefix("C ") == true)
        line.took(self.price("D", "1", open: "1", at: 0), now: self.at(0).monotonic)
        line.took(.unsubscribed("C", since: 0), now: self.at(0).monotonic)
        #expect(self.text(&line, 3_000)?.hasPrefix("D ") == true)
        line.took(.unsubscribed("D", since: 0), now: self.at(0).monotonic)
        #expect(self.text(&line, 4_000) == "live")
    }

    @Test("the style sheet gets a class for the state of the feed and of the symbols that are shown")
    func classes() {
        func classes(_ line: inout LiveLine, at: Int64 = 0) -> String {
            let text = self.text(&line, at, isForced: true) ?? ""
            return String(text.split(separator: #""class":["#).last?.dropLast(2) ?? "").replacing("\"", with: "")
        }
        var line = self.three(.waybar, rotation: 60_000)
        #expect(classes(&line) == "live,down")
        line.took(.step(.next), now: self.at(0).monotonic)
        #expect(classes(&line) == "live,flat")
        line.took(.step(.next), now: self.at(0).monotonic)
        #expect(classes(&line) == "live,up")
        line.took(.symbol(SymbolStatus(symbol: "C", state: .quiet, since: 0)), now: 0)
        #expect(classes(&line) == "live,quiet")
        let refused = SymbolStatus(symbol: "C", state: .refused(.noSuchSymbol, retryAt: 0), since: 0)
        line.took(.symbol(refused), now: 0)
        #expect(classes(&line) == "live,refused")
        // Another symbol's trouble is not that of the shown one, but the tooltip has all.
        line.took(.step(.next), now: self.at(0).monotonic)
        #expect(classes(&line) == "live,down")
        #expect(self.text(&line, 0, isForced: true)?.contains("C 3 no-such-symbol, 0 s ago") == true)
        // An old price has no direction.
        #expect(classes(&line, at: 31_000) == "stale,old")
        var all = self.three(.waybar, rotation: nil)
        all.took(.symbol(SymbolStatus(symbol: "B", state: .quiet, since: 0)), now: 0)
        all.took(.symbol(refused), now: 0)
        #expect(classes(&all) == "live,quiet,refused,down")
        var none = LiveLine(.waybar, symbols: ["A"], status: sampleStatus(.waiting))
        #expect(classes(&none) == "waiting,no-trade")
    }

    @Test("i3blocks gets a long and a short text, and a colour that names trouble or the direction of one symbol")
    func i3blocks() {
        var line = self.three(.i3blocks, rotation: nil)
        #expect(
            self.text(&line, 0)
                == #"{"full_text":"A 1 -50.00% session 0 s | B 2 0.00% session 0 s | C 3 +50.00% session 0 s | live","#
                + #""short_text":"A 1 live"}"#
        )
        line.took(.step(.next), now: self.at(0).monotonic)
        #expect(self.text(&line, 1)?.hasSuffix(##""short_text":"A 1 live","color":"#FF8080"}"##) == true)
        line.took(.step(.previous), now: self.at(0).monotonic)
        line.took(.step(.previous), now: self.at(0).monotonic)
        #expect(self.text(&line, 2)?.hasSuffix(##""color":"#7BD88F"}"##) == true)
        line.took(.status(sampleStatus(.reconnecting(attempt: 1, retryAt: 0))), now: self.at(0).monotonic)
        #expect(self.text(&line, 1_100)?.hasSuffix(##""color":"#F0C65A"}"##) == true)
        var look = DisplaySettings()
        look.colour = .never
        var plain = LiveLine(
            .i3blocks,
            symbols: ["A"],
            status: sampleStatus(.waiting),
            look: look
        )
        #expect(self.text(&plain, 0)?.contains("color") == false)
    }
}

@Suite("The clicks of i3blocks")
struct BarClicksTests {
    @Test("the button counts, as a number or a text, in lines cut anywhere; everything else has no effect")
    func lines() {
        let text = """
            {"full_text":"x","button":1,"x":5}
            {"button":"3"}
            {"button":4}

            {"button":5,"a":{"button":1},"b":[1]}
            {"button":2}
            {"button":9999999999999999999999}
            {"button":1
            [1]
            1
            {"name":"button"}
            \(String(repeating: "x", count: 9_000)){"button":1}
            {"button":1}

            """
        for size in [1, 7, 100_000] {
            var clicks = BarClicks(-1)
            var steps: [SymbolStep] = []
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                steps += clicks.take(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
            #expect(steps == [.next, .previous, .previous, .next, .next], "pieces of \(size)")
        }
    }
}
