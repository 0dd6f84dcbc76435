import Market
import Measurements
import Terminal
import Testing
@testable import Tickertape

@Suite("The moments and the strip of the status")
struct SinceTimeTests {
    private static let hour: Int64 = 3_600_000_000_000
    private static let utc = ScreenClock.utc
    private static let india = ScreenClock(zone: "india") { _ in 19_800_000_000_000 }
    /// Berlin's clock in 2026: summer time ends on October 25th at 01:00 UTC.
    private static let berlin = ScreenClock(zone: "berlin") { time in
        time < 1_792_890_000_000_000_000 ? 2 * Self.hour : Self.hour
    }

    private static func time(_ text: String) throws -> Int64 {
        try #require(SinceTime.parse("\(text)Z", now: .max / 2, clock: .utc))
    }

    @Test(
        "a time of day is the last that has passed, by the clock of the person",
        arguments: [
            ("22:00", "2026-11-27T22:00:00"), ("06:30", "2026-11-28T06:30:00"), ("7:15", "2026-11-27T07:15:00"),
            ("07:14:59", "2026-11-28T07:14:59"), ("00:00", "2026-11-28T00:00:00"), ("2h", "2026-11-28T05:15:00"),
            ("1d", "2026-11-27T07:15:00"), ("2026-11-21", "2026-11-21T00:00:00"),
            ("2026-11-21 22:00", "2026-11-21T22:00:00"), ("2026-11-21T22:00:00Z", "2026-11-21T22:00:00"),
            ("2026-11-21T22:00:00+01:00", "2026-11-21T21:00:00"), ("2026-11-21T22:00:00-02:30", "2026-11-22T00:30:00"),
        ]
    )
    func moments(text: String, expected: String) throws {
        let now = try Self.time("2026-11-28T07:15:00")
        #expect(SinceTime.parse(text, now: now, clock: Self.utc) == (try Self.time(expected)))
    }

    @Test("another zone's midnight and evening are its own")
    func zones() throws {
        // 01:15 on the 29th in India.
        let now = try Self.time("2026-11-28T19:45:00")
        #expect(SinceTime.parse("22:00", now: now, clock: Self.india) == (try Self.time("2026-11-28T16:30:00")))
        #expect(SinceTime.parse("2026-11-29", now: now, clock: Self.india) == (try Self.time("2026-11-28T18:30:00")))
        #expect(SinceTime.today(now, clock: Self.india) == (try Self.time("2026-11-28T18:30:00")))
        // The 28th is a Saturday.
        #expect(SinceTime.week(now, clock: Self.utc) == (try Self.time("2026-11-23T00:00:00")))
        let monday = try Self.time("2026-11-23T00:00:01")
        #expect(SinceTime.week(monday, clock: Self.utc) == (try Self.time("2026-11-23T00:00:00")))
    }

    @Test("a reading that comes twice, where summer time ends, is the last of the two that has passed")
    func summerTime() throws {
        let between = try Self.time("2026-10-25T00:45:00")
        #expect(SinceTime.parse("02:30", now: between, clock: Self.berlin) == (try Self.time("2026-10-25T00:30:00")))
        let later = try Self.time("2026-10-25T06:00:00")
        #expect(SinceTime.parse("02:30", now: later, clock: Self.berlin) == (try Self.time("2026-10-25T01:30:00")))
        #expect(SinceTime.parse("22:00", now: later, clock: Self.berlin) == (try Self.time("2026-10-24T20:00:00")))
    }

    @Test(
        "what is no time, or not past, is refused",
        arguments: ["", "yesterday", "25:00", "50%", "gap", "+2h", "2027-01-01", "0s", "2026-11-28T07:15:01Z"]
    )
    func refused(text: String) throws {
        #expect(SinceTime.parse(text, now: try Self.time("2026-11-28T07:15:00"), clock: Self.utc) == nil)
    }

    private static func live(_ from: String, _ to: String, _ gaps: [(String, String)] = []) throws -> LiveTime {
        let from = try Self.time(from)
        return LiveTime(
            from: from,
            to: try Self.time(to),
            known: from,
            gaps: try gaps.map { LiveTime.Gap(from: try Self.time($0.0), to: try Self.time($0.1), reason: "lost") }
        )
    }

    @Test("the answer is one line")
    func answer() throws {
        let good = try Self.live("2026-11-27T22:00:00", "2026-11-28T07:15:00")
        #expect(good.answer(Self.utc) == "live all the time since 22:00 (UTC), no gap")
        let gaps = try Self.live(
            "2026-11-27T22:00:00",
            "2026-11-28T07:15:00",
            [("2026-11-28T01:00:00", "2026-11-28T01:00:02"), ("2026-11-28T03:12:04", "2026-11-28T03:12:11")]
        )
        #expect(
            gaps.answer(Self.utc)
                == "live 99.97 % of the time since 22:00 (UTC), 2 gaps, 9 s, the longest 7 s at 03:12:04: lost"
        )
        #expect(gaps.answer(Self.india).contains("since 03:30 (UTC+5:30)"))
    }

    @Test("the strip has a character an hour, for a short time a finer one, and its legend")
    func strip() throws {
        let night = try Self.live(
            "2026-11-27T10:30:00",
            "2026-11-28T07:15:00",
            [("2026-11-28T03:12:04", "2026-11-28T03:12:11"), ("2026-11-28T04:30:00", "2026-11-28T06:00:00")]
        )
        let unicode = LiveStrip(night, clock: Self.utc, isUnicode: true).lines
        #expect(unicode[0] == "10:00 █████████████████▇▄░██ 07:15")
        #expect(unicode[1].hasPrefix("each character is an hour: █ live throughout"))
        let ascii = LiveStrip(night, clock: Self.utc, isUnicode: false).lines
        #expect(ascii[0] == "10:00 #################95-## 07:15" && ascii[1].allSatisfy(\.isASCII))
        let short = try Self.live(
            "2026-11-28T06:00:00",
            "2026-11-28T07:00:00",
            [("2026-11-28T06:05:00", "2026-11-28T06:15:00")]
        )
        #expect(LiveStrip(short, clock: Self.utc, isUnicode: false).lines[0] == "06:00 #--######### 07:00")
        #expect(LiveStrip(short, clock: Self.utc, isUnicode: false).lines[1].hasPrefix("each character is 5 min"))
        // In a narrow terminal the pieces are longer.
        let hours = try Self.live("2026-11-28T03:00:00", "2026-11-28T07:00:00", [])
        let narrow = LiveStrip(hours, clock: Self.utc, isUnicode: false, columns: 40).lines
        #expect(narrow[0] == "03:00 ################ 07:00" && narrow[1].hasPrefix("each character is 15 min"))
    }

    @Test("hours of several days have a line a day, from midnight to midnight of the person's clock")
    func days() throws {
        let days = try Self.live("2026-11-26T22:00:00", "2026-11-28T01:00:00")
        let lines = LiveStrip(days, clock: Self.utc, isUnicode: false).lines
        #expect(
            lines.dropLast() == [
                "11-26 22:00 \(String(repeating: " ", count: 22))## 11-27 00:00",
                "11-27 00:00 \(String(repeating: "#", count: 24)) 11-28 00:00", "11-28 00:00 # 11-28 01:00",
            ]
        )
        // The day on which summer time ends has 25 hours.
        let autumn = try Self.live("2026-10-24T22:00:00", "2026-10-26T23:00:00")
        #expect(LiveStrip(autumn, clock: Self.berlin, isUnicode: false).lines[0].filter { $0 == "#" }.count >= 24)
    }
}
