import Market
import Measurements
@testable import Terminal
import TickertapeTesting

func sampleStatus(
    _ phase: FeedStatus.Phase = .live,
    _ source: FeedStatus.Source = .live,
    reason: String? = nil,
    checked: Bool = true
) -> FeedStatus {
    FeedStatus(
        source: source,
        phase: phase,
        since: sampleNoon.wall - 9 * oneSecond,
        reason: reason,
        certificateChecked: checked
    )
}

func sampleRow(_ summary: SymbolSummary, age: Int64 = 0, skipped: UInt64 = 3) -> DisplayRow {
    var rate = DisplayRate()
    rate.add(0, now: sampleNoon.monotonic - age - 4 * oneSecond)
    rate.add(20, now: sampleNoon.monotonic - age - oneSecond)
    return DisplayRow(
        summary: summary,
        arrived: sampleNoon.monotonic - age,
        direction: .up,
        rate: rate,
        skipped: skipped,
        fractionDigits: 2
    )
}

/// Returns a row with a session of this many seconds, a random walk that ends at the row's price, and a tape.
///
/// - Parameter hasVolume: whether the prices are trades, with sizes.
func sampleSession(
    _ row: DisplayRow,
    seconds: Int64 = 900,
    gapAt: Int64? = nil,
    seed: UInt64 = 5,
    hasVolume: Bool = false
) -> DisplayRow {
    var row = row
    var numbers = SeededGenerator(seed: seed)
    let last = row.summary.price
    let unit = max(last.approximation / 40_000, 1e-8)
    var walk: [Double] = [0]
    for _ in 0..<seconds { walk.append(walk[walk.count - 1] + Double.random(in: -1...1.02, using: &numbers) * unit) }
    let end = sampleNoon.wall - (sampleNoon.monotonic - row.arrived)
    for second in 0...seconds {
        if let gapAt, second > gapAt, second < gapAt + seconds / 8 { continue }
        if second == gapAt.map({ $0 + seconds / 8 }) { row.history.interrupted() }
        let value = last.approximation + walk[Int(second)] - walk[Int(seconds)]
        let digits = Int64((value * 100_000_000).rounded())
        let price = second == seconds ? last : ExactDecimal(significand: digits, exponent: -8) ?? last
        let time = end - (seconds - second) * oneSecond
        let volume = hasVolume ? abs(walk[Int(second)] - walk[max(Int(second) - 1, 0)]) / unit : 0
        row.history.take(price, at: time, volume: volume, arrived: row.arrived - (seconds - second) * oneSecond)
    }
    let cent = sampleDecimal("0.01")
    var price = last
    var entries: [ShownPrices.Entry] = []
    for step in 0..<20 {
        entries.append(
            ShownPrices.Entry(
                time: end - Int64(step) * 437_000_000,
                price: price,
                size: ExactDecimal(significand: .random(in: 1...99_999, using: &numbers), exponent: -5) ?? cent,
                direction: step % 3 == 1 ? .down : .up
            )
        )
        price = (step % 3 == 1 ? price.adding(cent) : price.subtracting(cent)) ?? price
    }
    for entry in entries.reversed() { row.tape.add(entry) }
    return row
}

let everyPhase: [FeedStatus.Phase] = [
    .connecting, .waiting, .live, .late, .reconnecting(attempt: 3, retryAt: sampleNoon.wall + 4 * oneSecond),
    .rateLimited(until: sampleNoon.wall + 60 * oneSecond), .keyRejected(retryAt: nil), .ended, .stopped, .stale,
    .keyRejected(retryAt: sampleNoon.wall + 900 * oneSecond), .keyInUse(retryAt: sampleNoon.wall + 60 * oneSecond),
    .noSuchSymbol, .notPermitted,
]

/// Text that a hostile or merely unusual upstream might send.
let awkwardTexts = [
    "BINANCE:BTCUSDT", "", ":", "A:", "\u{1B}[2J\u{1B}]0;title\u{07}", "株式:東京証券取引所", "e\u{301}\u{301}\u{301}\u{301}x",
    "\u{301}\u{301}alone", "👩‍👩‍👧‍👦🇩🇪👍🏽", "\u{202E}drawkcab", "\u{9B}31m\u{85}\r\n\t\u{7F}\u{0}", "क्षि",
    "\u{1100}\u{1161}\u{11A8}",
    String(repeating: "VERY-LONG-", count: 200), "a" + String(repeating: "\u{300}", count: 5_000), "ＦＵＬＬ",
    "\u{FFFE}\u{E000}\u{FEFF}", "مرحبا", "A\u{FE0F}B\u{200D}C",
]

let awkwardPrices = [
    "0", "1", "61837.63", "0.00000001", "123456789012345678", "1e17", "1e-1000", "9.99e1000", "-5.25",
    "0.000000000000000001",
    "999999999.999999999",
]

func randomDisplayState(_ numbers: inout SeededGenerator) -> DisplayState {
    let sources: [FeedStatus.Source] = [
        .live, .demo, .replay(file: awkwardTexts.randomElement(using: &numbers) ?? "", speed: nil),
        .replay(file: "/tmp/busy.jsonl", speed: 10), .replay(file: "x", speed: 0.5), .simulated(seed: 7, speed: nil),
    ]
    var state = DisplayState(
        status: sampleStatus(
            everyPhase.randomElement(using: &numbers) ?? .live,
            sources.randomElement(using: &numbers) ?? .live,
            reason: Bool.random(using: &numbers) ? awkwardTexts.randomElement(using: &numbers) : nil,
            checked: Bool.random(using: &numbers)
        )
    )
    for _ in 0..<Int.random(in: 0...6, using: &numbers) {
        var one = sampleSummary(
            awkwardTexts.randomElement(using: &numbers) ?? "",
            price: awkwardPrices.randomElement(using: &numbers) ?? "1",
            open: awkwardPrices.randomElement(using: &numbers) ?? "1",
            trades: .random(in: 0...(.max), using: &numbers)
        )
        one.size = sampleDecimal(awkwardPrices.randomElement(using: &numbers) ?? "1")
        var line = sampleRow(
            one,
            age: .random(in: -oneSecond...100_000 * oneSecond, using: &numbers),
            skipped: .random(in: 0...(.max), using: &numbers)
        )
        line.direction = [.none, .up, .down].randomElement(using: &numbers) ?? .none
        line.fractionDigits = .random(in: 0...18, using: &numbers)
        if Bool.random(using: &numbers) { line = randomHistory(of: line, &numbers) }
        if Bool.random(using: &numbers) {
            line.changed = (
                sampleNoon.monotonic - .random(in: -1_000...400_000_000, using: &numbers),
                sampleDecimal(awkwardPrices.randomElement(using: &numbers) ?? "1")
            )
        }
        state.rows.append(line)
    }
    for _ in 0..<Int.random(in: 0...3, using: &numbers) {
        state.waiting.append(awkwardTexts.randomElement(using: &numbers) ?? "")
    }
    if Bool.random(using: &numbers) {
        state.gaps = .random(in: 1...1_000_000, using: &numbers)
        state.lastGap = Gap(
            from: sampleNoon.wall - 7 * oneSecond,
            to: sampleNoon.wall,
            reason: awkwardTexts.randomElement(using: &numbers) ?? "",
            nextSequence: 1
        )
    }
    if Bool.random(using: &numbers) {
        let start = sampleNoon.wall - .random(in: 0...100_000 * oneSecond, using: &numbers)
        state.replay = ReplayPosition(
            start: start,
            end: start + .random(in: -5...10_000 * oneSecond, using: &numbers),
            at: start + .random(in: -oneSecond...20_000 * oneSecond, using: &numbers),
            speed: [nil, 0.5, 1_000].randomElement(using: &numbers) ?? nil,
            isPaused: .random(using: &numbers)
        )
    }
    for _ in 0..<Int.random(in: 0...5, using: &numbers) {
        let text = awkwardTexts.randomElement(using: &numbers) ?? ""
        state.events.append(DisplayEvent(time: sampleNoon.wall, text: text, isTrouble: .random(using: &numbers)))
        let fired = sampleNoon.monotonic - .random(in: -5...40 * oneSecond, using: &numbers)
        state.alerts.append(ListedAlert(text: text, state: text, fired: Bool.random(using: &numbers) ? fired : nil))
    }
    let headline = DisplayHeadline(
        time: sampleNoon.wall,
        source: awkwardTexts.randomElement(using: &numbers) ?? "",
        text: awkwardTexts.randomElement(using: &numbers) ?? "",
        url: Bool.random(using: &numbers) ? "https://a.example/1" : awkwardTexts.randomElement(using: &numbers) ?? ""
    )
    if Bool.random(using: &numbers) {
        state.notice = DisplayNotice(
            text: awkwardTexts.randomElement(using: &numbers) ?? "",
            since: sampleNoon.monotonic - .random(in: -5...40 * oneSecond, using: &numbers)
        )
    }
    for symbol in state.waiting + state.rows.map(\.summary.symbol) where Bool.random(using: &numbers) {
        let states: [SymbolStatus.State] = [
            .asked, .live, .quiet, .refused(.noSuchSymbol, retryAt: 0), .refused(.overLimit, retryAt: sampleNoon.wall),
        ]
        state.symbolStates[symbol] = SymbolStatus(
            symbol: symbol,
            state: states.randomElement(using: &numbers) ?? .asked,
            since: sampleNoon.wall - .random(in: -5...100_000 * oneSecond, using: &numbers),
            reason: awkwardTexts.randomElement(using: &numbers)
        )
    }
    if Bool.random(using: &numbers) { state.status.via = awkwardTexts.randomElement(using: &numbers) }
    state.news =
        [.notAsked, .asking, .headlines([]), .headlines([headline, headline]), .failed(headline.text)]
        .randomElement(using: &numbers) ?? .notAsked
    let address = "127.0.0.1:8080"
    state.relay =
        [
            nil, .open(address), .waiting(reason: nil), .others(address, pid: 4_711), .closed,
            .watched(address),
        ]
        .randomElement(using: &numbers) ?? nil
    state.clients = Bool.random(using: &numbers) ? .random(in: 0...1_000, using: &numbers) : nil
    let file = awkwardTexts.randomElement(using: &numbers) ?? ""
    if Bool.random(using: &numbers) {
        let bytes = UInt64.random(in: 0...(.max), using: &numbers)
        state.recording = DisplayRecording(file: file, bytes: bytes, isTaken: .random(using: &numbers))
    }
    return state
}

/// Adds a few prices, at plausible and implausible times.
func randomHistory(of row: DisplayRow, _ numbers: inout SeededGenerator) -> DisplayRow {
    var row = row
    var time = sampleNoon.wall - .random(in: 0...90_000 * oneSecond, using: &numbers)
    for _ in 0..<Int.random(in: 0...300, using: &numbers) {
        let price = sampleDecimal(awkwardPrices.randomElement(using: &numbers) ?? "1")
        if Int.random(in: 0..<20, using: &numbers) == 0 { row.history.interrupted() }
        row.history.take(price, at: time, arrived: time)
        if Bool.random(using: &numbers) {
            row.tape.add(
                ShownPrices.Entry(
                    time: time,
                    price: price,
                    size: price,
                    direction: .up
                )
            )
        }
        time += .random(in: -12 * oneSecond...300 * oneSecond, using: &numbers)
        if Int.random(in: 0..<200, using: &numbers) == 0 { time = [.max, .min, 0].randomElement(using: &numbers) ?? 0 }
        time = min(max(time, -(1 << 61)), 1 << 61)
    }
    return row
}

/// Returns a random choice, including states that only keys can produce.
func randomDisplayChoice(_ numbers: inout SeededGenerator) -> DisplayChoice {
    var choice = DisplayChoice()
    choice.selected = Bool.random(using: &numbers) ? awkwardTexts.randomElement(using: &numbers) : nil
    choice.opened = Int.random(in: 0..<3, using: &numbers) == 0 ? awkwardTexts.randomElement(using: &numbers) : nil
    choice.order = DisplayOrder.allCases.randomElement(using: &numbers) ?? .watchlist
    choice.isReversed = .random(using: &numbers)
    choice.span = ChartSpan.allCases.randomElement(using: &numbers) ?? .session
    if Bool.random(using: &numbers) { choice.frozenSince = sampleNoon }
    let text = awkwardTexts.randomElement(using: &numbers) ?? ""
    var prompt = DisplayPrompt(title: text, text: text, message: Bool.random(using: &numbers) ? text : nil)
    prompt.caret = .random(in: -2...20, using: &numbers)
    prompt.suggestions = (0..<Int.random(in: 0...9, using: &numbers)).map { _ in
        DisplayPrompt.Suggestion(text: awkwardTexts.randomElement(using: &numbers) ?? "", note: text)
    }
    prompt.chosen = Bool.random(using: &numbers) ? .random(in: -1...12, using: &numbers) : nil
    let keys = awkwardTexts.map { KeyHelp(keys: $0, meaning: $0) }
    let scrolled = Int.random(in: -1...9, using: &numbers)
    choice.pane =
        [
            nil, .list(.latency, at: 0), .list(.help(keys), at: scrolled), .list(.help([]), at: scrolled),
            .list(.events, at: scrolled),
            .list(.news, at: scrolled),
            .list(.alerts, at: scrolled), .prompt(prompt),
        ].randomElement(using: &numbers) ?? nil
    return choice
}

/// Returns random figures.
func randomLatency(_ numbers: inout SeededGenerator) -> LatencyReport? {
    guard Bool.random(using: &numbers) else { return nil }
    let rows = LatencyPath.allCases.map { path in
        LatencyReport.Row(
            path: path,
            summary: LatencyHistogram.Summary(
                count: 1,
                median: .random(in: 0...oneSecond, using: &numbers),
                percentile99: .random(in: 0...1_000_000_000 * oneSecond, using: &numbers),
                maximum: 1_000_000_000 * oneSecond
            )
        )
    }
    return LatencyReport(rows: rows, clockOffset: .random(in: 0...100_000 * oneSecond, using: &numbers))
}

func randomLook(_ numbers: inout SeededGenerator) -> DisplayLook {
    var look = DisplayLook(
        glyphs: Bool.random(using: &numbers) ? .unicode : .ascii,
        numbers: NumberStyle(
            grouping: NumberStyle.Grouping.allCases.randomElement(using: &numbers) ?? .none,
            decimal: NumberStyle.DecimalMark.allCases.randomElement(using: &numbers) ?? .point
        ),
        flashes: .random(using: &numbers),
        setsTitle: .random(using: &numbers),
        clock: ScreenClock(zone: "") { _ in 20_700 * oneSecond }
    )
    look.hasLinks = .random(using: &numbers)
    look.columns = Array(DisplayColumn.allCases.shuffled(using: &numbers).prefix(.random(in: 0...8, using: &numbers)))
    for text in awkwardTexts + ["X:A"] where Bool.random(using: &numbers) {
        let tint = SymbolNote.Tint.allCases.randomElement(using: &numbers) ?? .none
        look.notes[text] = SymbolNote(symbol: text, tint: tint, text: awkwardTexts.randomElement(using: &numbers) ?? "")
    }
    return look
}
