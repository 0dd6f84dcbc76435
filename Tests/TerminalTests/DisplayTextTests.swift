import Market
@testable import Terminal
import Testing
import TickertapeTesting

@Suite("Numbers, ages and rates as text")
struct DisplayTextTests {
    @Test(
        "A price keeps every digit and the fraction digits of its symbol",
        arguments: [
            ("61837.6", 2, "61837.60"), ("61837.63", 1, "61837.63"), ("0.00000951", 2, "0.00000951"), ("0", 2, "0.00"),
            ("100", 0, "100"), ("-5.5", 0, "-5.5"), ("1e-1000", 2, "1e-1000"), ("12e30", 0, "12e30"),
            ("0.000000000000000001", 0, "0.000000000000000001"),
        ]
    )
    func exact(_ text: String, _ digits: Int, _ expected: String) {
        #expect(PriceText.exact(sampleDecimal(text), fractionDigits: digits) == expected)
    }

    @Test("The text of any price is read as the same price, with the fraction digits asked for")
    func exactOfAny() throws {
        var random = SeededGenerator(seed: 19)
        for _ in 0..<20_000 {
            let shift = Int.random(in: 0...59, using: &random)
            let magnitude = Int64.random(in: 0..<ExactDecimal.significandLimit, using: &random) >> shift
            let price = try #require(
                ExactDecimal(
                    significand: Bool.random(using: &random) ? magnitude : -magnitude,
                    exponent: Int.random(in: -20...20, using: &random)
                )
            )
            let digits = Int.random(in: -1...20, using: &random)
            let text = PriceText.exact(price, fractionDigits: digits)
            #expect(sampleDecimal(text) == price, "\(price) \(text)")
            let fraction = text.split(separator: ".", maxSplits: 1).dropFirst().first?.count ?? 0
            guard !text.contains("e") else { continue }
            #expect(fraction == max(min(max(digits, 0), 18), -Int(price.exponent)), "\(price) \(text)")
        }
    }

    @Test(
        "The change in percent is rounded to hundredths, halves away from zero",
        arguments: [
            ("101", "100", "+1.00%"), ("100.005", "100", "+0.01%"), ("99.995", "100", "-0.01%"),
            ("100.004", "100", "0.00%"),
            ("50", "100", "-50.00%"), ("61837.63", "61825.5", "+0.02%"), ("3", "0.00000001", nil), ("5", "0", nil),
            ("1e20", "1e-20", nil), ("0", "7", "-100.00%"),
        ] as [(String, String, String?)]
    )
    func percent(_ price: String, _ open: String, _ expected: String?) {
        #expect(PriceText.percent(sampleDecimal(price), since: sampleDecimal(open)) == expected)
    }

    @Test("A volume is cut to about eight digits, never within its whole part")
    func volume() {
        #expect(PriceText.shortened(ExactSum(sampleDecimal("123.4567891"))) == "123.45678")
        #expect(PriceText.shortened(ExactSum(sampleDecimal("1234567890.5"))) == "1234567890")
        #expect(PriceText.shortened(ExactSum(sampleDecimal("0.00012345678912"))) == "0.00012345678")
        #expect(PriceText.shortened(ExactSum(sampleDecimal("12"))) == "12")
    }

    @Test("An age is rounded to whole seconds, and says exactly when its words change")
    func ages() {
        #expect(AgeText.words(-5) == "0 s")
        #expect(AgeText.record(346_999_999) == "346 ms")
        #expect(AgeText.record(1_000_000_000) == "1 s")
        #expect(AgeText.words(4_499_999_999) == "4 s")
        #expect(AgeText.words(4_500_000_000) == "5 s")
        #expect(AgeText.words(65 * oneSecond) == "1m05s")
        #expect(AgeText.words(7_500 * oneSecond) == "2h05m")
        #expect(AgeText.words(200_000 * oneSecond) == "2d")
        var numbers = SeededGenerator(seed: 4)
        for _ in 0..<2_000 {
            let age = Int64.random(in: -oneSecond...200 * oneSecond, using: &numbers)
            let wait = AgeText.untilChange(growing: age)
            #expect(wait > 0)
            #expect(AgeText.words(age + wait - 1) == AgeText.words(age))
            guard age > 0, let less = AgeText.untilChange(shrinking: age) else { continue }
            #expect(AgeText.words(age - less + 1) == AgeText.words(age))
            #expect(AgeText.words(age - less) != AgeText.words(age))
        }
    }

    @Test("A moment is written as RFC 3339 has it, leap days and times before 1970 too")
    func timestamps() {
        #expect(UTCText.timestamp(sampleNoon.wall) == "2026-11-21T05:31:02.123Z")
        #expect(UTCText.timestamp(951_782_399_999_999_999) == "2000-02-28T23:59:59.999Z")
        #expect(UTCText.timestamp(951_782_400_000_000_000) == "2000-02-29T00:00:00.000Z")
        #expect(UTCText.timestamp(-1) == "1969-12-31T23:59:59.999Z")
        #expect(UTCText.timeOfDay(sampleNoon.wall) == "05:31:02")
    }

    @Test("The rate counts whole seconds only, and falls to nothing when nothing arrives")
    func rate() {
        var rate = DisplayRate()
        #expect(rate.tenthsPerSecond(now: 0) == nil)
        for millisecond in Int64(0)..<5_000 { rate.add(1, now: millisecond * 1_000_000) }
        #expect(rate.tenthsPerSecond(now: 4_999_000_000) == 10_000)
        #expect(rate.tenthsPerSecond(now: 10 * oneSecond) == 5_000)
        #expect(rate.nextChange(now: 10 * oneSecond + 1) == 11 * oneSecond)
        #expect(rate.tenthsPerSecond(now: 14 * oneSecond) == 1_000)
        #expect(rate.tenthsPerSecond(now: 15 * oneSecond) == 0)
        #expect(rate.nextChange(now: 15 * oneSecond) == nil)
        rate.add(7, now: 1_000 * oneSecond)
        #expect(rate.tenthsPerSecond(now: 1_001 * oneSecond) == 7)
        #expect(PriceText.rate(tenths: 7) == "0.7")
        #expect(PriceText.rate(tenths: 10_004) == "1000")
    }

    @Test("Earlier candidates win, and a line is never overfull")
    func fitter() {
        let fitter = LineFitter(gap: 1)
        let widths = [[10, 4], [6], [0]]
        let candidates: [LineFitter.Candidate] = [(0, 1), (1, 0), (2, 0), (0, 0)]
        #expect(fitter.choose(widths: widths, candidates: candidates, columns: 17) == [0, 0, nil])
        #expect(fitter.choose(widths: widths, candidates: candidates, columns: 16) == [1, 0, nil])
        #expect(fitter.choose(widths: widths, candidates: candidates, columns: 10) == [0, nil, nil])
        #expect(fitter.choose(widths: widths, candidates: candidates, columns: 3) == [nil, nil, nil])
    }

    @Test("Without a terminal, lines replace the screen")
    func formats() {
        #expect(OutputFormat.inForce(asked: nil, outputIsTerminal: true, term: "xterm") == .tui)
        #expect(OutputFormat.inForce(asked: .tui, outputIsTerminal: false, term: "xterm") == .plain)
        #expect(OutputFormat.inForce(asked: nil, outputIsTerminal: true, term: "dumb") == .plain)
        #expect(OutputFormat.inForce(asked: nil, outputIsTerminal: true, term: nil) == .plain)
        #expect(OutputFormat.inForce(asked: .json, outputIsTerminal: true, term: "xterm") == .json)
        #expect(DisplaySettings { $0 == "NO_COLOR" ? "1" : "xterm" }.depth == .none)
        #expect(DisplaySettings { $0 == "NO_COLOR" ? "" : "xterm" }.depth == .sixteen)
        #expect(DisplaySettings { $0 == "LANG" ? "de_DE.UTF-8" : nil }.glyphs == .unicode)
        #expect(DisplaySettings { ["LC_ALL": "C", "LANG": "de_DE.UTF-8"][$0] }.glyphs == .ascii)
        // The kernel's console has a few hundred characters and no Braille.
        #expect(DisplaySettings { ["TERM": "linux", "LANG": "de_DE.UTF-8"][$0] }.glyphs == .ascii)
        #expect(DisplaySettings { ["TERM": "xterm", "LANG": "de_DE.UTF-8"][$0] }.glyphs == .unicode)
    }
}

@Suite("The display's model of the feed")
struct DisplayModelTests {
    @Test("A price moves the arrow, and what the debounce left out is added up")
    func updates() {
        var model = DisplayModel(symbols: ["B", "A"], status: sampleStatus())
        model.take(
            PriceUpdate(summary: sampleSummary("A", price: "10", open: "10", sequence: 1), skipped: 0),
            now: oneSecond
        )
        #expect(model.state.rows[0].direction == .none)
        #expect(model.state.waiting == ["B"])
        model.take(
            PriceUpdate(summary: sampleSummary("A", price: "9.25", open: "10", sequence: 5), skipped: 3),
            now: 2 * oneSecond
        )
        #expect(model.state.rows[0].direction == .down)
        #expect(model.state.rows[0].skipped == 3)
        #expect(model.state.rows[0].arrived == 2 * oneSecond)
        #expect(model.state.rows[0].fractionDigits == 2)
        model.take(
            PriceUpdate(summary: sampleSummary("A", price: "9.5", open: "10", sequence: 9), skipped: 2),
            now: 3 * oneSecond
        )
        #expect(model.state.rows[0].direction == .up)
        #expect(model.state.rows[0].skipped == 5)
        // The order is the subscription's, regardless of the first trade.
        model.take(PriceUpdate(summary: sampleSummary("B", price: "1", open: "1"), skipped: 0), now: 3 * oneSecond)
        #expect(model.state.rows.map(\.summary.symbol) == ["B", "A"])
        model.take(
            PriceUpdate(summary: sampleSummary("A", price: "9", open: "10", sequence: 11), skipped: 0),
            now: 3 * oneSecond
        )
        #expect(model.state.rows[1].summary.price == sampleDecimal("9"))
        #expect(model.state.waiting == [])
    }

    @Test("A market that trades at one price does not look silent, and a price that stays away gets old in words")
    func observations() {
        var model = DisplayModel(symbols: ["A"], status: sampleStatus())
        model.take(PriceUpdate(summary: sampleSummary("A", price: "10", open: "10", sequence: 1), skipped: 0), now: 0)
        let size = ScreenGrid.Size(columns: 40, rows: 1)
        func line(_ at: Int64) -> String {
            DisplayView.frame(of: model.state, size: size, now: .init(monotonic: at, wall: at)).grid.line(0)
        }
        #expect(!line(5 * oneSecond - 1).contains("LATE"))
        #expect(line(5 * oneSecond).contains("LATE 5 s"))
        model.observe(sampleSummary("A", price: "10", open: "10", sequence: 2, trades: 18), now: 4 * oneSecond)
        #expect(!line(5 * oneSecond).contains("LATE"))
        #expect(line(40 * oneSecond).contains("STALE 36 s"))
        model.statusChanged(sampleStatus(.reconnecting(attempt: 1, retryAt: 0)))
        #expect(line(5 * oneSecond).contains("RECONNECTING"))
    }

    @Test("The age counts up although nothing arrives: every frame says when it will look different")
    func changes() {
        let state = DisplayState(rows: [sampleRow(sampleSummary(), age: 9 * oneSecond)], status: sampleStatus())
        var now = sampleNoon
        var seen = ""
        let size = ScreenGrid.Size(columns: 40, rows: 10)
        while now.monotonic < sampleNoon.monotonic + 5 * oneSecond {
            let frame = DisplayView.frame(of: state, size: size, now: now)
            seen += frame.grid.line(2)
            guard let next = frame.changesAt, next > now.monotonic, next <= now.monotonic + oneSecond else {
                Issue.record("no change announced at \(now.monotonic)")
                break
            }
            now = Moment(monotonic: next, wall: now.wall + next - now.monotonic)
        }
        for age in 9...14 { #expect(seen.contains("LATE \(age) s")) }
        #expect(DisplayView.frame(of: .init(status: sampleStatus()), size: size, now: now).changesAt == nil)
    }
}
