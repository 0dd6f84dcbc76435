import Market
import Testing
import TickertapeTesting
@testable import Terminal

@Suite("The rules of a time zone")
struct TimeZoneRulesTests {
    /// Returns ns since 1970.
    private static func time(
        _ year: Int64,
        _ month: Int64,
        _ day: Int64,
        _ hour: Int64 = 0,
        _ second: Int64 = 0
    ) -> Int64 {
        (UTCText.days(year: year, month: month, day: day) * 86_400 + hour * 3_600 + second) * oneSecond
    }

    private static func hours(_ rules: TimeZoneRules?, _ time: Int64) -> Double? {
        rules.map { Double($0.offset(at: time)) / 3_600e9 }
    }

    @Test("come from the table, and after its last change from the rule")
    func berlin() throws {
        let rules = try #require(TimeZoneRules(name: "Europe/Berlin", file: TimeZoneFileText.berlin.bytes))
        let expected: [(Int64, Double)] = [
            (.min, 1), (-1, 1), (Self.time(2024, 3, 31, 1) - 1, 1), (Self.time(2024, 3, 31, 1), 2),
            (Self.time(2024, 10, 27, 1) - 1, 2), (Self.time(2024, 10, 27, 1), 1),
            (Self.time(2026, 3, 29, 1) - 1, 1), (Self.time(2026, 3, 29, 1), 2),
            (Self.time(2026, 10, 25, 1) - 1, 2), (Self.time(2026, 10, 25, 1), 1), (Self.time(2100, 7, 1), 2), (.max, 2),
        ]
        for (time, hours) in expected { #expect(Self.hours(rules, time) == hours, "\(time)") }
    }

    @Test(
        "are read in every form of a yearly rule",
        arguments: [
            ("EST5EDT,M3.2.0,M11.1.0", -5, -4), ("IST-1GMT0,M10.5.0,M3.5.0/1", 0, 1),
            ("AEST-10AEDT,M10.1.0,M4.1.0/3", 11, 10), ("<+0530>-5:30", 5.5, 5.5),
            ("<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", -3, -2),
            ("XYZ-2ABC,J60,J300", 2, 3), ("XYZ-2ABC,59/0,299", 2, 3), ("UTC0", 0, 0),
        ] as [(String, Double, Double)]
    )
    func yearly(_ footer: String, _ january: Double, _ july: Double) throws {
        let rules = TimeZoneRules(name: "X", file: TimeZoneFileText(footer: footer).bytes)
        #expect(Self.hours(rules, Self.time(2026, 1, 15)) == january)
        #expect(Self.hours(rules, Self.time(2026, 7, 15)) == july)
    }

    @Test("without a valid yearly rule keep the last offset")
    func noRule() {
        for footer in [
            "", "X", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.5.0,M10.5.0x",
        ] {
            var file = TimeZoneFileText.berlin
            file.footer = footer
            #expect(Self.hours(TimeZoneRules(name: "X", file: file.bytes), Self.time(2026, 7, 1)) == 1, "\(footer)")
        }
    }

    @Test("of a damaged file, or of one with leap seconds, are refused")
    func damaged() {
        let whole = TimeZoneFileText.berlin.bytes
        let end = whole.count - TimeZoneFileText.berlin.footer.utf8.count - 2
        for length in 0..<end {
            #expect(TimeZoneRules(name: "X", file: Array(whole.prefix(length))) == nil, "\(length)")
        }
        for place in whole.indices {
            var file = whole
            file[place] = 0xFF
            _ = TimeZoneRules(name: "X", file: file)?.offset(at: sampleNoon.wall)
        }
        var leaping = TimeZoneFileText.berlin
        leaping.leaps = 1
        #expect(TimeZoneRules(name: "X", file: leaping.bytes) == nil)
    }
}
