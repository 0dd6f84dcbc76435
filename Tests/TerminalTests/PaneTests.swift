import Market
import Testing
import TickertapeTesting
import Wire
@testable import Measurements
@testable import Terminal

@Suite("Notices on the screen")
struct PaneTests {
    private static func screen(
        _ state: DisplayState,
        _ columns: Int,
        _ rows: Int,
        latency: LatencyReport? = nil,
        now: Moment = sampleNoon
    ) -> [String] {
        let size = ScreenGrid.Size(columns: columns, rows: rows)
        var choice = DisplayChoice()
        choice.pane = latency == nil ? nil : .list(.latency, at: 0)
        let grid = DisplayView.frame(of: state, choice: choice, size: size, now: now, latency: latency).grid
        return (0..<rows).map(grid.line)
    }

    private static let one = DisplayState(
        rows: [sampleRow(sampleSummary())],
        status: sampleStatus(.live),
        relay: .open("127.0.0.1:8080"),
        clients: 2
    )

    private static let report = LatencyReport(
        rows: [
            LatencyReport.Row(
                path: .exchangeToArrival,
                summary: LatencyHistogram.Summary(
                    count: 9,
                    median: 84_000_000,
                    percentile99: 210_000_000,
                    maximum: 900_000_000
                )
            )
        ]
    )

    @Test(
        "Each failure of the service is a sentence in the news pane, with what to do",
        arguments: [
            .noKey,
            .init(.keyRejected, "the service does not accept the key (HTTP 401)", cure: "check FINNHUB_TOKEN"),
            .init(.notPermitted, "the key's plan does not have this (HTTP 403)", cure: "see finnhub.io/pricing"),
            .rateLimited(until: 45_000_000_000, "the limit of calls is reached (HTTP 429)"),
            .init(.unreachable, "the name finnhub.io is unknown: check the network and service.url"),
            .init(.unreadableAnswer, "the answer is not a list of headlines but nothing", cure: "check service.url"),
        ] as [ServiceFailure]
    )
    func serviceFailures(_ failure: ServiceFailure) {
        var state = Self.one
        state.news = .failed(failure.description)
        var choice = DisplayChoice()
        choice.pane = .list(.news, at: 0)
        let size = ScreenGrid.Size(columns: 60, rows: 24)
        let grid = DisplayView.frame(of: state, choice: choice, size: size, now: sampleNoon, latency: nil).grid
        let shown = (0..<24).map(grid.line).joined(separator: " ").split(separator: " ").joined(separator: " ")
        #expect(shown.contains(failure.description), "\(shown)")
    }

    @Test("A replay shows which figures it cannot have")
    func empty() {
        let report = LatencyReport(rows: [], clocks: .recorded)
        let lines = Self.screen(Self.one, 80, 24, latency: report)
        #expect(lines.contains("nothing measured yet") && lines.contains("a replay: no time from the exchange"))
    }

    @Test("The latency pane says what of the tape is complete, where trades have ids")
    func completeness() {
        var found = CompletenessSummary()
        let choice = { () -> DisplayChoice in
            var choice = DisplayChoice()
            choice.pane = .list(.latency, at: 0)
            return choice
        }()
        func lines() -> [String] {
            let size = ScreenGrid.Size(columns: 40, rows: 24)
            let frame = DisplayView.frame(
                of: Self.one,
                choice: choice,
                size: size,
                now: sampleNoon,
                latency: Self.report,
                completeness: found
            )
            return (0..<24).map(frame.grid.line)
        }
        #expect(!lines().contains { $0.hasPrefix("hours:") })
        (found.symbols, found.complete, found.incomplete) = (3, 46, 1)
        (found.totals.trades, found.totals.missing, found.totals.filled) = (34_419, 2, 1_204)
        #expect(lines().contains("hours: 46 complete, 1 incomplete"))
        #expect(lines().contains("trades: 34419, 2 missing, 1204 filled"))
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
        var model = DisplayModel(symbols: [], status: sampleStatus(.live), relay: .open("127.0.0.1:8080"))
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

        // The end has the hint and is not truncated if it fits.
        let medium = Self.screen(model.state, 80, 24)
        #expect(medium[21] == "▲ warning: /tmp/x.jsonl cannot be written: No space left on device;")
        #expect(medium[22] == "what comes now is missing there  7 s ago")
        let flood = String(repeating: "word ", count: 200)
        model.noticed(flood, now: sampleNoon.monotonic)
        let long = Self.screen(model.state, 80, 24)
        #expect(long.count { $0.contains("word") } == 3 && long[22].hasSuffix("…  0 s ago"))
        model.noticed("warning: short", now: sampleNoon.monotonic - 7 * oneSecond)

        let size = ScreenGrid.Size(columns: 80, rows: 24)
        let frame = DisplayView.frame(of: model.state, size: size, now: sampleNoon)
        #expect(frame.changesAt.map { $0 - sampleNoon.monotonic <= oneSecond } == true)
        let later = Moment(monotonic: sampleNoon.monotonic + 23 * oneSecond, wall: sampleNoon.wall)
        #expect(!Self.screen(model.state, 80, 24, now: later).contains { $0.contains("warning") })
    }

    @Test("A warning of many lines breaks at the same words at any age, and leaves prices some room")
    func steadyNotice() {
        let words = (1...60).map { "w\($0)" }.joined(separator: " ")
        func lines(age: Int64, columns: Int = 80, rows: Int = 24) -> [String] {
            var state = Self.one
            state.notice = DisplayNotice(text: words, since: sampleNoon.monotonic - age * oneSecond, isLasting: true)
            if rows == 16 {
                state.status = sampleStatus(.live, .replay(file: "f", speed: 1), reason: words)
                state.replay = ReplayPosition(start: 0, end: 9, at: 5, speed: 1)
                state.gaps = 1
                state.alerts = [ListedAlert(text: "A above 1", state: "fired", fired: sampleNoon.monotonic)]
            }
            return Self.screen(state, columns, rows)
        }
        func notice(_ lines: [String]) -> [String] {
            lines.filter { $0.contains("w1 ") || $0.contains(" w30 ") || $0.contains("ago") }
                .map { String($0.prefix { $0 != "…" }) }
        }
        for columns in [60, 80] {
            let first = notice(lines(age: 0, columns: columns))
            for age in [9, 10, 65, 3_700, 90_000] as [Int64] {
                #expect(notice(lines(age: age, columns: columns)) == first)
            }
        }
        #expect(lines(age: 5, columns: 40, rows: 16).contains { $0.contains("61837.63") })
    }

    @Test("A pane shows the number of entries after the last complete one", arguments: [40, 80])
    func more(columns: Int) {
        var state = Self.one
        let long = String(repeating: "because of this and that ", count: 9)
        state.events = (0..<40).map { DisplayEvent(time: 0, text: "event \($0) \(long)", isTrouble: false) }
        state.news = .headlines((0..<40).map { DisplayHeadline(time: 0, source: "S", text: "event \($0) \(long)") })
        state.alerts = (0..<40).map { ListedAlert(text: "event \($0)", state: "armed") }
        for scrolled in [0, 1, 30, 39] {
            for pane in [
                DisplayPane.list(.events, at: scrolled), .list(.news, at: scrolled), .list(.alerts, at: scrolled),
            ] {
                var choice = DisplayChoice()
                choice.pane = pane
                let grid = DisplayView.frame(
                    of: state,
                    choice: choice,
                    size: .init(columns: columns, rows: 24),
                    now: sampleNoon
                ).grid
                let lines = (0..<24).map(grid.line)
                let seen = lines.compactMap { line in
                    line.firstRange(of: "event ").map { Int(line[$0.upperBound...].prefix { $0.isNumber }) ?? -1 }
                }
                let said =
                    lines.compactMap { line in
                        line.firstRange(of: " more ").flatMap {
                            Int(
                                line[..<$0.lowerBound].reversed().prefix { $0.isNumber }.reversed().map(String.init)
                                    .joined()
                            )
                        }
                    }.first ?? 0
                // The newest event is on top of the log.
                let isLog = if case .list(.events, _) = pane { true } else { false }
                let behind = isLog ? seen.last ?? 0 : 39 - (seen.last ?? 39)
                #expect(
                    !seen.isEmpty && (said == behind || said == behind + 1),
                    "\(pane) \(lines.joined(separator: "\n"))"
                )
            }
        }
    }

    @Test("A market without an end has a clock and no place in it", arguments: [40, 80, 200])
    func endless(columns: Int) {
        var state = Self.one
        state.status = sampleStatus(.live, .simulated(seed: 6, speed: 1))
        state.replay = ReplayPosition(start: sampleNoon.wall, end: .max, at: sampleNoon.wall, speed: 1)
        let lines = Self.screen(state, columns, 24)
        #expect(lines[1] == "2026-11-21 05:31:02 UTC")
        #expect(!lines.contains { $0.contains("0% of") || $0.contains("━") })
        state.replay?.end = sampleNoon.wall + 60 * oneSecond
        #expect(Self.screen(state, columns, 24)[1].contains("0%"))
    }

    @Test("An alert that fires has its line where nothing is to flash, too, and then nothing is reversed")
    func calmAlert() {
        var state = Self.one
        let fired = sampleNoon.monotonic - 400_000_000
        for flashes in [true, false] {
            state.alerts = [ListedAlert(text: "X:A above 1", state: "fired", fired: fired).flashing(flashes)]
            for (rows, row) in [(1, 0), (3, 0), (24, 22)] {
                let size = ScreenGrid.Size(columns: 40, rows: rows)
                let grid = DisplayView.frame(of: state, size: size, now: sampleNoon).grid
                #expect(grid.line(row).hasPrefix("◆ ALERT X:A above 1"), "\(rows)")
                #expect(grid[row, 0].style.attributes.contains(.reversed) == flashes)
            }
        }
    }
}
