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
            self.text(&line, 1_000) == "BTCUSDT 61837.63 +0.02% 0 s | ETHUSDT - no trade yet | PLAYING DEMO"
        )
        line.took(self.price("BINANCE:BTCUSDT", "61837.6", at: 2_000), now: self.at(2_000).monotonic)
        #expect(self.text(&line, 2_000)?.hasPrefix("BTCUSDT 61837.60 +0.02% 0 s") == true)
    }

    @Test("the age continues without updates, at most once a second, and without a change there is no line")
    func age() {
        var line = LiveLine(.oneline, symbols: [], status: sampleStatus())
        line.took(self.price("A", "1", open: "1", at: 0), now: self.at(0).monotonic)
        #expect(self.text(&line, 0) == "A 1 0.00% 0 s | live")
        #expect(self.text(&line, 400) == nil)
        var lines: [String] = []
        var now: Int64 = 0
        // It reports the time of its next change.
        while now < 8_000, let due = line.due {
            now = max(now + 1, (due - self.at(0).monotonic + 999_999) / 1_000_000)
            if let text = self.text(&line, now) { lines.append(text) }
        }
        #expect(lines.contains("A 1 0.00% 3 s | live"))
        // A feed that hangs in the live status is shown as late.
        #expect(lines.contains("A 1 0.00% 7 s | late"))
        #expect(lines.count <= 8)
        // All prices within a second are one line.
        line.took(self.price("A", "2", open: "1", at: now), now: self.at(now).monotonic)
        let first = self.text(&line, now + 1_000)
        #expect(first?.hasPrefix("A 2 ") == true)
        for price in 3...9 {
            line.took(self.price("A", "\(price)", open: "1", at: now + 1_000), now: self.at(now + 1_000).monotonic)
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
                == "A 61837.63 +0.02% old 1m30s | B 61837.63 +0.02% quiet 0 s | Z:C - no-such-symbol | reconnecting 3 in 12 s"
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
        for name in ["X:A"] + names { line.took(self.price(name, "1", open: "1", at: 0), now: self.at(0).monotonic) }
        #expect(self.text(&line, 0)?.hasSuffix("| B19 1 0.00% 0 s | 11 more | live") == true)
        for name in ["X:A"] + names.dropLast() { line.took(.unsubscribed(name, since: 0), now: self.at(0).monotonic) }
        // Prices from before the removal do not bring the symbol back.
        line.took(self.price("Y:B1", "1", open: "1", at: 0), now: self.at(0).monotonic)
        #expect(self.text(&line, 1_000) == "A 1 0.00% 1 s | B30 1 0.00% 1 s | live")
        line.took(.symbol(SymbolStatus(symbol: "Y:B1", state: .asked, since: 0)), now: self.at(0).monotonic)
        line.took(self.price("Y:B1", "1", open: "1", at: 2_000), now: self.at(2_000).monotonic)
        #expect(self.text(&line, 2_000)?.contains("| B1 1 0.00% 0 s |") == true)
        // A relay sends its stored price before it reports the new subscription; that price is old.
        line.took(.unsubscribed("Y:B30", since: 0), now: self.at(2_000).monotonic)
        #expect(self.text(&line, 3_000)?.contains("B30") == false)
        let known = PriceUpdate(summary: sampleSummary("Y:B30", price: "1", open: "1"), skipped: 0)
        line.took(.snapshot(known, arrived: self.at(-87_000).monotonic), now: self.at(3_000).monotonic)
        line.took(.symbol(SymbolStatus(symbol: "Y:B30", state: .asked, since: 0)), now: self.at(3_000).monotonic)
        #expect(self.text(&line, 4_000)?.contains("| B30 1 0.00% old 1m31s |") == true)
    }

    @Test("a paused replay is neither late nor old, shows its pause, and then continues its silence")
    func paused() {
        var line = LiveLine(.oneline, symbols: [], status: sampleStatus(.live, .replay(file: "f", speed: 1)))
        line.took(self.price("A", "1", open: "1", at: 0), now: self.at(0).monotonic)
        line.took(.paused(true), now: self.at(1_000).monotonic)
        #expect(self.text(&line, 60_000) == "A 1 0.00% 1m00s | PAUSED REPLAY")
        line.took(.paused(false), now: self.at(61_000).monotonic)
        #expect(self.text(&line, 62_000) == "A 1 0.00% 1m02s | PLAYING REPLAY")
        #expect(self.text(&line, 68_000) == "A 1 0.00% 1m08s | late REPLAY")
        #expect(self.text(&line, 93_000) == "A 1 0.00% old 1m33s | stale REPLAY")
        line.took(.status(sampleStatus(.stale, .replay(file: "f", speed: 1))), now: self.at(94_000).monotonic)
        line.took(.paused(true), now: self.at(94_000).monotonic)
        #expect(self.text(&line, 95_000) == "A 1 0.00% 1m35s | PAUSED REPLAY")
        line.took(.paused(false), now: self.at(96_000).monotonic)
        #expect(self.text(&line, 97_000) == "A 1 0.00% old 1m37s | stale REPLAY")
    }

    @Test("a replay shows its end, and its prices age no further")
    func ended() {
        let source = FeedStatus.Source.simulated(seed: 7, speed: 1)
        var line = LiveLine(.oneline, symbols: [], status: sampleStatus(.live, source))
        line.took(self.price("A", "1", open: "1", at: 0), now: self.at(0).monotonic)
        #expect(self.text(&line, 1_000) == "A 1 0.00% 1 s | PLAYING SIMULATED")
        line.took(.paused(true), now: self.at(3_000).monotonic)
        line.took(.status(sampleStatus(.ended, source)), now: self.at(3_000).monotonic)
        #expect(self.text(&line, 3_000) == "A 1 0.00% 3 s | ENDED SIMULATED")
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
        #expect(self.text(&line, 0) == "A 1 0.00% 0 s | live")
        line.took(self.price("A", "2", open: "1", at: 100), now: self.at(100).monotonic)
        // A replay is paused at its end.
        line.took(.paused(true), now: self.at(100).monotonic)
        line.took(.status(sampleStatus(.ended)), now: self.at(100).monotonic)
        #expect(self.text(&line, 100) == nil)
        #expect(last(&line, 100) == "A 2 +100.00% 0 s | ended\n")
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
                == #"{"text":"&lt;A&amp;B&gt; 5 -50.00% 0 s | PLAYING REPLAY CERTIFICATE-NOT-CHECKED","alt":"live","tooltip":"#
                + #""B:&lt;A&amp;B&gt; 5, 0 s ago, -5 since the start, high 10, low 5, volume 123.45678, 17 trades\n"#
                + #"PLAYING, REPLAY 1x f, CERTIFICATE NOT CHECKED","class":["live","replay","unchecked","down"]}"#
        )
    }
}
