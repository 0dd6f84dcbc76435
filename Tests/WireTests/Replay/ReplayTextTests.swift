import Market
import NIOCore
import Testing
import Wire

@Suite("What a replay is asked, as text")
struct ReplayTextTests {
    /// From 2026-01-01T23:59:30Z to 2026-01-02T00:59:30Z, with the position after ten minutes.
    private static let start: Int64 = 1_767_311_970_000_000_000
    private static let position = ReplayPosition(
        start: Self.start,
        end: Self.start + 3_600_000_000_000,
        at: Self.start + 600_000_000_000,
        speed: 1
    )

    @Test(
        "places in every form",
        arguments: [
            ("50%", .percent(50)), ("0.5%", .percent(0.5)), ("90s", .offset(90_000_000_000)),
            ("1h1m1.5s", .offset(3_661_500_000_000)), ("250ms", .offset(250_000_000)), ("next-gap", .nextGap),
            ("+10s", .time(ReplayTextTests.start + 610_000_000_000)),
            ("-1m", .time(ReplayTextTests.start + 540_000_000_000)),
            ("2026-01-01T23:59:31Z", .time(ReplayTextTests.start + 1_000_000_000)),
            ("2026-01-02 00:00Z", .time(ReplayTextTests.start + 30_000_000_000)),
            ("23:59:30", .time(ReplayTextTests.start)), ("00:00:00.25", .time(ReplayTextTests.start + 30_250_000_000)),
            // The recording begins within this minute.
            ("23:59", .time(ReplayTextTests.start)), ("2026-01-01 23:59", .time(ReplayTextTests.start)),
            ("23:59:29", .time(ReplayTextTests.start + 86_399_000_000_000)),
            ("23:58", .time(ReplayTextTests.start + 86_310_000_000_000)),
            ("1767311970001", .time(ReplayTextTests.start + 1_000_000)),
            ("2024-02-29T00:00:00Z", .time(1_709_164_800_000_000_000)),
            ("2024-2-29t0:00:00", .time(1_709_164_800_000_000_000)), (" GAP\n", .nextGap), ("next gap", .nextGap),
            ("+1.5", .time(ReplayTextTests.start + 601_500_000_000)), ("90S", .offset(90_000_000_000)),
            ("2024-02-29", .time(1_709_164_800_000_000_000)),
            ("+1m30", .time(ReplayTextTests.start + 690_000_000_000)),
            ("100000000000", .time(100_000_000_000_000_000)),
        ] as [(String, ReplayPlace)]
    )
    func places(text: String, expected: ReplayPlace) {
        #expect(ReplayPlaceText.parse(text, start: Self.start, at: Self.position.at) == expected)
    }

    @Test(
        "the second, the tenth of one and the millisecond in which a recording begins are its start, and no shorter time is",
        arguments: [
            ("23:59:30", true), ("23:59", true), ("2026-01-01T23:59:30Z", true), ("23:59:30.9", true),
            ("23:59:30.900", true), ("23:59:30.900123", true), ("23:59:30.900123456", true), ("1767311970900", true),
            ("23:59:30.8", false), ("23:59:29", false), ("23:59:30.9001", true), ("23:59:30.9000", false),
            ("2026-01-01T23:59:29Z", false), ("1767311970899", false), ("23:59:30.00000000000", false),
        ]
    )
    func beginning(text: String, isStart: Bool) {
        let start = Self.start + 900_123_456
        let place = ReplayPlaceText.parse(text, start: start, at: start)
        #expect((place == .time(start)) == isStart, "\(String(describing: place))")
    }

    @Test(
        "what is no place is refused",
        arguments: [
            "", "%", "101%", "-5%", "nan%", "1e3s", "s", "5", "90", "0", "1767311970", "99999999999", "5 s", "1s1h",
            "1s1s", "24:00", "12:60", "1:2",
            "12:00:61",
            "2026-13-01T00:00:00Z", "2026-01-01T00:00:00+01:00", "1m30", "+1s30", "2026-02-29", "99999999999999999999",
            "2026-04-31", "2026-04-31 10:00", "2026-01-01T",
            "+", "+next-gap",
            "9999999999999999999d", "١s", "\u{0}", String(repeating: "1", count: 100) + "s",
        ]
    )
    func noPlaces(text: String) {
        #expect(ReplayPlaceText.parse(text, start: Self.start, at: Self.position.at) == nil)
    }

    @Test(
        "requests in every form",
        arguments: [
            (#"{"request":"pause"}"#, .pause), (#"{"type":"replay","request":"resume"}"#, .resume),
            (#"{"request":"toggle","x":[{}]}"#, .togglePause), (#"{"request":"faster"}"#, .faster),
            (#"{"request":"slower"}"#, .slower), (#"{"speed":2.5,"request":"speed"}"#, .speed(2.5)),
            (#"{"request":"speed","speed":"10"}"#, .speed(10)), (#"{"request":"speed","speed":"max"}"#, .speed(nil)),
            (#"{"request":"step"}"#, .stepMessages(1)), (#"{"request":"step","messages":-3}"#, .stepMessages(-3)),
            (#"{"request":"step","time":"1s"}"#, .stepTime(1_000_000_000)),
            (#"{"request":"step","time":"-250ms"}"#, .stepTime(-250_000_000)),
            (#"{"request":"seek","to":"next-gap"}"#, .seek(.nextGap)),
        ] as [(String, ReplayRequest)]
    )
    func requests(text: String, expected: ReplayRequest) throws {
        #expect(try ReplayRequestText.parse(ByteBuffer(string: text), position: Self.position) == expected)
    }

    @Test(
        "what cannot be is refused in one line",
        arguments: [
            "", "[]", "{", #"{"request":"pause"} x"#, "{}", #"{"request":7}"#, #"{"request":"stop"}"#,
            #"{"request":"speed"}"#, #"{"request":"speed","speed":0}"#, #"{"request":"speed","speed":"fast"}"#,
            #"{"request":"step","time":"soon"}"#, #"{"request":"step","time":"0s"}"#, #"{"request":"seek"}"#,
            #"{"request":"seek","to":"nowhere"}"#, #"{"request":"seek","to":50}"#,
        ]
    )
    func refusals(text: String) throws {
        let refusal = #expect(throws: ReplayRefusal.self) {
            try ReplayRequestText.parse(ByteBuffer(string: text), position: Self.position)
        }
        #expect(try #require(refusal).description.contains("\n") == false)
    }
}
