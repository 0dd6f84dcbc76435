import Market
import Sinks

let oneSecond: Int64 = 1_000_000_000
/// 2026-11-21T05:31:02.123Z on the wall, and an hour on the monotonic clock.
let sampleNoon = DisplayTime(monotonic: 3_600 * oneSecond, wall: 1_795_239_062 * oneSecond + 123_000_000)

func sampleDecimal(_ text: String) -> ExactDecimal { ExactDecimal(text) ?? .zero }

func sampleSummary(
    _ symbol: String = "BINANCE:BTCUSDT",
    price: String = "61837.63",
    open: String = "61825.5",
    sequence: UInt64 = 17,
    trades: UInt64 = 17
) -> SymbolSummary {
    SymbolSummary(
        symbol: symbol,
        price: sampleDecimal(price),
        size: sampleDecimal("0.02"),
        exchangeTime: sampleNoon.wall,
        received: sampleNoon.wall + 5_000_000,
        sequence: sequence,
        open: sampleDecimal(open),
        high: max(sampleDecimal(price), sampleDecimal(open)),
        low: min(sampleDecimal(price), sampleDecimal(open)),
        volume: ExactSum(sampleDecimal("123.4567891")),
        trades: trades
    )
}

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
        .replay(file: "/tmp/busy.jsonl", speed: 10), .replay(file: "x", speed: 0.5),
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
    state.relay = Bool.random(using: &numbers) ? "127.0.0.1:8080" : nil
    state.clients = Bool.random(using: &numbers) ? .random(in: 0...1_000, using: &numbers) : nil
    return state
}
