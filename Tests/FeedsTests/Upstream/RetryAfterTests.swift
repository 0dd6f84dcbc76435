import NIOHTTP1
import Testing
@testable import Feeds

@Suite("Retry-After")
struct RetryAfterTests {
    /// 1994-11-06T08:49:37Z.
    private static let then: Int64 = 784_111_777

    @Test("all three forms of a date are read, to the second")
    func forms() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        ] {
            #expect(HTTPDate.parse(text, now: Self.then) == Self.then, "\(text)")
        }
        #expect(HTTPDate.parse("Thu, 01 Jan 1970 00:00:00 GMT", now: 0) == 0)
        #expect(HTTPDate.parse("Thu, 29 Feb 2024 23:59:60 GMT", now: 0) == 1_709_251_200)
        #expect(HTTPDate.parse("Fri, 31 Dec 9999 23:59:59 GMT", now: 0) == 253_402_300_799)
        #expect(HTTPDate.parse("Sat, 01 Jan 0000 00:00:00 GMT", now: 0) == -62_167_219_200)
    }

    @Test("a two-digit year means the nearest one, at most 50 years ahead")
    func shortYears() {
        let now: Int64 = 1_704_067_200
        #expect(HTTPDate.parse("Sunday, 06-Nov-94 08:49:37 GMT", now: now) == Self.then)
        #expect(HTTPDate.parse("Monday, 01-Jan-24 00:00:00 GMT", now: now) == now)
        #expect(HTTPDate.parse("Tuesday, 01-Jan-30 00:00:00 GMT", now: now) == 1_893_456_000)
    }

    @Test(
        "a malformed date is rejected",
        arguments: [
            "", " ", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "06 Nov 1994 08:49:37 GMT",
            "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nox 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov -994 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
            "Sun, 06 Nov 1994 08:49 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun Nov 6 08:49:37 94",
            "Sun, ٠٦ Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z",
        ] + [String(repeating: "Sun, ", count: 20_000)]
    )
    func notDates(text: String) {
        #expect(HTTPDate.parse(text, now: Self.then) == nil)
    }

    private static let now = 784_111_777_900_000_000 as Int64

    @Test(
        "seconds and dates become a wait of at most three days",
        arguments: [
            ("1", 1), ("17", 17), ("  120 ", nil), (" 120", nil), ("0120", 120), ("86400", 86_400), ("259201", 259_200),
            ("99999999999999999999999999", 259_200), ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 259_200),
            ("0", nil), ("000", nil), ("-1", nil), ("+1", nil), ("1.5", nil), ("1e3", nil), ("0x10", nil), ("", nil),
            ("soon", nil), ("60, 60", nil), ("٦٠", nil), ("Sun, 06 Nov 1994 08:49:37 GMT", nil),
            ("Thu, 01 Jan 1970 00:00:00 GMT", nil), ("Sat, 01 Jan 0000 00:00:00 GMT", nil),
        ] as [(String, Int64?)]
    )
    func waits(text: String, seconds: Int64?) {
        #expect(RetryAfter.parse(text, now: Self.now) == seconds.map { $0 * 1_000_000_000 })
    }

    @Test("a date is compared with the service's own clock if the answer has its time")
    func theirClock() {
        let headers: HTTPHeaders = [
            "Date": "Tue, 15 Nov 2044 12:45:00 GMT", "Retry-After": "Tue, 15 Nov 2044 12:45:26 GMT",
        ]
        #expect(RetryAfter.parse(headers, now: Self.now) == 26_000_000_000)
        #expect(RetryAfter.parse(["Retry-After": "5", "Date": "nonsense"], now: Self.now) == 5_000_000_000)
        #expect(RetryAfter.parse([:], now: Self.now) == nil)
        let absurd: HTTPHeaders = [
            "Date": "Fri, 31 Dec 9999 23:59:59 GMT", "Retry-After": "Thu, 01 Jan 1970 00:00:01 GMT",
        ]
        #expect(RetryAfter.parse(absurd, now: .max) == nil)
    }
}
