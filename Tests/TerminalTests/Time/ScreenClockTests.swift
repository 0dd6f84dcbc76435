import Market
import Testing
import TickertapeTesting
import Wire
@testable import Terminal

@Suite("The clock of the screen")
struct ScreenClockTests {
    static let berlin = ScreenClock(zone: "Europe/Berlin") { time in
        TimeZoneRules(name: "", file: TimeZoneFileText.berlin.bytes)?.offset(at: time) ?? 0
    }

    private static func screen(
        _ state: DisplayState,
        pane: DisplayPane? = nil,
        clock: ScreenClock = Self.berlin,
        columns: Int = 120,
        rows: Int = 30
    ) -> String {
        var choice = DisplayChoice()
        choice.pane = pane
        let grid = DisplayView.frame(
            of: state,
            choice: choice,
            size: .init(columns: columns, rows: rows),
            now: sampleNoon,
            look: DisplayLook(clock: clock)
        ).grid
        return (0..<rows).map(grid.line).joined(separator: "\n")
    }

    private static let one = DisplayState(
        rows: [sampleSession(sampleRow(sampleSummary()))],
        status: sampleStatus(.live)
    )

    @Test(
        "names its offset from UTC",
        arguments: [(0, "UTC"), (60, "UTC+1"), (-210, "UTC-3:30"), (345, "UTC+5:45"), (-300, "UTC-5")]
            as [(Int64, String)]
    )
    func labels(_ minutes: Int64, _ label: String) {
        #expect(ScreenClock(zone: "X") { _ in minutes * 60 * oneSecond }.label(at: 0) == label)
    }

    @Test("finds the times of a reading: two where clocks are set back, and one where they skip it")
    func readings() {
        let clock = Self.berlin
        let back = UTCText.days(year: 2026, month: 10, day: 25) * 86_400 * oneSecond
        let halfPastTwo = back + 9_000 * oneSecond
        #expect(clock.times(ofLocal: halfPastTwo) == [back + 1_800 * oneSecond, back + 5_400 * oneSecond])
        #expect(clock.times(ofLocal: back + 36_000 * oneSecond) == [back + 32_400 * oneSecond])
        let skipped = UTCText.days(year: 2026, month: 3, day: 29) * 86_400 * oneSecond + 9_000 * oneSecond
        #expect(clock.times(ofLocal: skipped) == [skipped - 3_600 * oneSecond])
    }

    @Test("gives the times of chart, tape, session, events, headlines and gaps, with the zone")
    func everywhere() {
        var state = Self.one
        state.rows[0].tape.add(
            ShownPrices.Entry(time: sampleNoon.wall, price: .zero, size: .zero, direction: .up)
        )
        state.gaps = 1
        state.lastGap = Gap(from: sampleNoon.wall - oneSecond, to: sampleNoon.wall, reason: "lost", nextSequence: 1)
        let card = Self.screen(state)
        #expect(
            card.contains("06:31:02.123") && card.contains("06:20") && card.contains("since 06:"),
            "\(card)"
        )
        #expect(card.contains("until 06:31:02 UTC+1") && !card.contains("05:3"), "\(card)")

        var log = DisplayEventLog(clock: Self.berlin)
        let retry = FeedStatus.Phase.reconnecting(attempt: 2, retryAt: sampleNoon.wall + 60 * oneSecond)
        log.statusChanged(sampleStatus(retry), at: sampleNoon.wall)
        state.events = log.events
        let events = Self.screen(state, pane: .list(.events, at: 0))
        #expect(events.contains("EVENTS (UTC+1)") && events.contains("06:31:02 "), "\(events)")
        #expect(events.contains("at 06:32:02"), "\(events)")

        state.news = .headlines([
            DisplayHeadline(time: sampleNoon.wall + 18 * 3_600 * oneSecond, source: "Wire", text: "Up")
        ])
        let news = Self.screen(state, pane: .list(.news, at: 0))
        #expect(news.contains("NEWS (UTC+1)") && news.contains("2026-11-22 00:31"), "\(news)")
    }

    @Test("gives the place in a replay, and takes typed ones")
    func replay() throws {
        var state = Self.one
        state.replay = PersonAtScreen.replaying
        #expect(Self.screen(state).contains("2026-11-21 06:31:02 UTC+1"))
        let position = PersonAtScreen.replaying
        func parse(_ text: String) throws -> ReplayPlace {
            try TypedPlace.parse(text, at: position, clock: Self.berlin)
        }
        let half = ReplayPlace.time(sampleNoon.wall - 62_123_000_000)
        #expect(try parse("06:30") == half && parse("2026-11-21 6:30") == half && parse("05:30Z") == half)
        #expect(try parse("06:21") == .time(position.start) && parse("90s") == .offset(90 * oneSecond))
        #expect(try parse("+30s") == .time(sampleNoon.wall + 30 * oneSecond))
        let refusal = #expect(throws: TypedPlace.ParseError.self) { try parse("05:30") }
        #expect(refusal?.reason == "the recording reaches from 06:21:02 to 06:41:02 UTC+1")
    }

    @Test("labels the axis at the zone's round times, at midnight too where clocks are set back")
    func axis() {
        let kolkata = ScreenClock(zone: "Asia/Kolkata") { _ in 19_800 * oneSecond }
        let hours = TimeAxis(sampleNoon.wall..<(sampleNoon.wall + 36_000 * oneSecond), columns: 80, clock: kolkata)
        #expect(!hours.labels.isEmpty && hours.labels.allSatisfy { $0.text.hasSuffix(":00") }, "\(hours.labels)")
        let start = UTCText.days(year: 2026, month: 10, day: 20) * 86_400 * oneSecond
        let days = TimeAxis(start..<(start + 864_000 * oneSecond), columns: 200, clock: Self.berlin).labels.map(\.text)
        #expect(days == (21...30).map { "10-\($0)" }, "\(days)")
    }
}
