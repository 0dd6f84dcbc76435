import Market
@testable import Terminal
import Testing
import TickertapeTesting

@Suite("A place in a replay, as it is typed")
struct TypedPlaceTests {
    /// 05:21:02.123 to 05:41:02.123 on 2026-11-21, at 05:31:02.123.
    private let position = ReplayPosition(
        start: sampleNoon.wall - 600 * oneSecond,
        end: sampleNoon.wall + 600 * oneSecond,
        at: sampleNoon.wall,
        speed: 1
    )
    private let midnight = sampleNoon.wall - (5 * 3_600 + 31 * 60 + 2) * oneSecond - 123_000_000

    private func parse(_ text: String) throws -> ReplayPlace { try TypedPlace.parse(text, at: self.position) }

    @Test("Times, spans, percentages and gaps")
    func places() throws {
        let minute = 60 * oneSecond
        #expect(try self.parse("05:30") == .time(self.midnight + 330 * minute))
        #expect(try self.parse(" 5:30:01.5 ") == .time(self.midnight + 330 * minute + 1_500_000_000))
        #expect(try self.parse("2026-11-21 05:30") == .time(self.midnight + 330 * minute))
        #expect(try self.parse("2026-11-21T05:30:00Z") == .time(self.midnight + 330 * minute))
        // The minute in which the recording begins is valid.
        #expect(try self.parse("05:21") == .time(self.position.start))
        #expect(try self.parse("+30s") == .time(sampleNoon.wall + 30 * oneSecond))
        #expect(try self.parse("-1m30s") == .time(sampleNoon.wall - 90 * oneSecond))
        #expect(try self.parse("+1.5") == .time(sampleNoon.wall + 1_500_000_000))
        #expect(try self.parse("+250ms") == .time(sampleNoon.wall + 250_000_000))
        #expect(try self.parse("-9h") == .time(self.position.start))
        #expect(try self.parse("50%") == .percent(50))
        #expect(try self.parse("GAP") == .nextGap && self.parse("next-gap") == .nextGap)
        #expect(try self.parse("90s") == .offset(90 * oneSecond))
        #expect(try self.parse("\(self.position.start / 1_000_000 + 1)") == .time(self.position.start + 1_000_000))
        #expect(try TypedPlace.parse("50%", at: nil) == .percent(50))
    }

    @Test("A time after midnight is on the next day if the recording reaches it")
    func midnights() throws {
        let overnight = ReplayPosition(
            start: self.midnight - 60 * oneSecond,
            end: self.midnight + 3_600 * oneSecond,
            at: self.midnight,
            speed: 1
        )
        #expect(try TypedPlace.parse("00:30", at: overnight) == .time(self.midnight + 1_800 * oneSecond))
        #expect(try TypedPlace.parse("23:59:30", at: overnight) == .time(self.midnight - 30 * oneSecond))
    }

    @Test(
        "An invalid place is refused with a hint",
        arguments: [
            "", "x", "25:00", "05:60", "5", "05:30:61", "101%", "-5%", "%", "+", "+x", "+5x", "++5s",
            "+99999999999999999s",
            "05:30 pm", "2026-13-01 05:30", "٠٥:٣٠", "1e9%", String(repeating: "9", count: 500),
        ]
    )
    func misfits(text: String) {
        #expect(throws: TypedPlace.ParseError.self) { try self.parse(text) }
    }

    @Test("A time outside of the recording is refused with the recording's range")
    func outside() {
        let parseError = #expect(throws: TypedPlace.ParseError.self) { try self.parse("04:00") }
        #expect(parseError?.reason == "the recording reaches from 05:21:02 to 05:41:02 UTC")
        for text in ["2026-11-20 05:30", "2026-11-21T05:41:03", "05:21:01", "21m", "5"] {
            #expect(throws: TypedPlace.ParseError.self) { try self.parse(text) }
        }
        #expect(throws: TypedPlace.ParseError.self) { try TypedPlace.parse("05:30", at: nil) }
    }
}
