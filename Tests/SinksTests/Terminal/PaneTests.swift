import Market
import Testing

@testable import Sinks

@Suite("What comes up on the screen for a while")
struct PaneTests {
    private static func screen(
        _ state: DisplayState,
        _ columns: Int,
        _ rows: Int,
        latency: LatencyReport? = nil,
        now: DisplayTime = sampleNoon
    ) -> [String] {
        let size = ScreenGrid.Size(columns: columns, rows: rows)
        var choice = DisplayChoice()
        choice.pane = latency == nil ? nil : .latency
        let grid = DisplayView.frame(of: state, choice: choice, size: size, now: now, latency: latency).grid
        return (0..<rows).map(grid.line)
    }

    private static let one = DisplayState(
        rows: [sampleRow(sampleSummary())],
        status: sampleStatus(.live),
        relay: "127.0.0.1:8080",
        clients: 2
    )

    private static func row(_ path: LatencyPath, _ figures: [Int64]) -> LatencyReport.Row {
        LatencyReport.Row(
            path: path,
            summary: LatencyHistogram.Summary(
                count: 9,
                median: figures[0],
                percentile99: figures[1],
                maximum: figures[2]
            )
        )
    }

    private static let report = LatencyReport(
        rows: [
            Self.row(.exchangeToArrival, [84_000_000, 210_000_000, 900_000_000]),
            Self.row(.arrivalToScreen, [101_000_000, 131_000_000, 2_345_000_000]),
            Self.row(.arrivalToClient, [40_000, 310_000, 1_200_000]),
        ],
        clockOffset: 3_200_000_000
    )

    @Test("The latency pane at 40 columns and 10 lines leaves the price a line")
    func small() {
        #expect(
            Self.screen(Self.one, 40, 10, latency: Self.report) == [
                "● LIVE", "",
                "BTCUSDT 61837.63 ▲       0 s  +0.02% 5.0",
                "latency ms             p50    p99    max",
                "exchange to arrival     84    210    900",
                "arrival to screen      101    131   2345",
                "arrival to client     0.04   0.31    1.2",
                "clock at least 3200 ms behind: check NTP", "",
                "2 clients   left out 3   q quits",
            ]
        )
    }

    @Test("The pane stands at the foot of a large screen, and everything else as before")
    func large() {
        let without = Self.screen(Self.one, 80, 24)
        let with = Self.screen(Self.one, 80, 24, latency: Self.report)
        #expect(with.prefix(9).elementsEqual(without.prefix(9)) && with.last == without.last)
        #expect(with[17] == "latency ms             p50    p99    max")
    }

    @Test("Before anything is measured the pane says so, and a replay says what it can not have")
    func empty() {
        let report = LatencyReport(rows: [], clocks: .recorded)
        let lines = Self.screen(Self.one, 80, 24, latency: report)
        #expect(lines.contains("nothing measured yet") && lines.contains("a replay: no time from the exchange"))
    }

    @Test("No size is too small for the pane", arguments: [(1, 1), (3, 2), (20, 3), (40, 4), (10, 6), (500, 7)])
    func sizes(columns: Int, rows: Int) {
        var state = Self.one
        state.notice = DisplayNotice(text: "warning: 株式 the disk is full", since: sampleNoon.monotonic)
        let lines = Self.screen(state, columns, rows, latency: Self.report)
        #expect(lines.count == rows)
    }

    @Test("A warning has a line with its age, and goes after half a minute by itself")
    func notice() {
        var model = DisplayModel(symbols: [], status: sampleStatus(.live), relay: "127.0.0.1:8080")
        model.take(PriceUpdate(summary: sampleSummary(), skipped: 0), now: sampleNoon.monotonic)
        model.noticed("warning: the older one", now: sampleNoon.monotonic - 8 * oneSecond)
        model.noticed(
            "warning: /tmp/x.jsonl cannot be written: No space left on device; what comes now is missing there",
            now: sampleNoon.monotonic - 7 * oneSecond
        )
        let wide = Self.screen(model.state, 130, 24)
        #expect(
            wide[22]
                == "▲ warning: /tmp/x.jsonl cannot be written: No space left on device; what comes now is missing there  7 s ago"
        )
        let narrow = Self.screen(model.state, 40, 10)
        #expect(narrow[8].hasPrefix("▲ warning: /tmp/x.jsonl") && narrow[8].hasSuffix("  7 s ago"))
        #expect(narrow[8].count <= 40)

        let size = ScreenGrid.Size(columns: 80, rows: 24)
        let frame = DisplayView.frame(of: model.state, size: size, now: sampleNoon)
        #expect(frame.changesAt.map { $0 - sampleNoon.monotonic <= oneSecond } == true)
        let later = DisplayTime(monotonic: sampleNoon.monotonic + 23 * oneSecond, wall: sampleNoon.wall)
        #expect(!Self.screen(model.state, 80, 24, now: later).contains { $0.contains("warning") })
    }
}
