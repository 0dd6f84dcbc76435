import NIOCore
import Testing
@testable import Measurements

@Suite("The report of latencies")
struct LatencyTests {
    private static let millisecond: Int64 = 1_000_000
    private static let second: Int64 = 1_000_000_000

    @Test("percentiles are within a hundredth, the maximum is exact")
    func percentiles() throws {
        let histogram = LatencyHistogram()
        #expect(histogram.summary == nil)
        for step in 1...1_000 { histogram.record(nanoseconds: Int64(step) * Self.millisecond) }
        let summary = try #require(histogram.summary)
        #expect(summary.count == 1_000)
        #expect((500...506).contains(summary.median / Self.millisecond))
        #expect((990...1_000).contains(summary.percentile99 / Self.millisecond))
        #expect(summary.maximum == 1_000 * Self.millisecond)
    }

    @Test("every value is counted: a negative one as zero, and one beyond an hour as an hour")
    func extremes() throws {
        let histogram = LatencyHistogram()
        for span in [Int64.min, -1, 0, 999, Int64.max] { histogram.record(nanoseconds: span) }
        #expect(try #require(histogram.summary).count == 5)
        #expect(try #require(histogram.summary).maximum == .max)
        #expect(histogram.buckets(upTo: [1, 60_000_000]).cumulative == [4, 4])
        #expect(histogram.buckets(upTo: [1]).count == 5)
    }

    @Test("a bucket counts the values up to its bound")
    func buckets() {
        let histogram = LatencyHistogram()
        for milliseconds in [1, 1, 20, 400, 9_000] {
            histogram.record(nanoseconds: Int64(milliseconds) * Self.millisecond)
        }
        let buckets = histogram.buckets(upTo: [500, 2_000, 100_000, 1_000_000])
        #expect(buckets.cumulative == [0, 2, 3, 4] && buckets.count == 5)
        #expect(abs(buckets.sum - 9.422) < 0.000_1 && buckets.maximum == 9)
    }

    @Test(
        "milliseconds have two significant digits, or all digits from 100 on",
        arguments: [
            (0, "0"), (40_000, "0.04"), (460_000, "0.46"), (3_100_000, "3.1"), (3_000_000, "3"), (9_960_000, "10"),
            (84_400_000, "84"), (12_345_678_900, "12346"), (-5, "0"),
        ]
    )
    func milliseconds(nanoseconds: Int64, text: String) {
        #expect(LatencyReport.milliseconds(nanoseconds) == text)
    }

    @Test("the last line of a run names the measured paths, and says why a replay has none from the exchange")
    func line() {
        let book = LatencyBook(clocks: .compared)
        #expect(book.report.line == nil)
        _ = book.arrived(exchangeTime: 0, received: 84 * Self.millisecond, now: 0)
        book[.arrivalToClient].record(nanoseconds: 46_000)
        #expect(
            book.report.line
                == "latency ms p50/p99/max: exchange to arrival 84/84/84, arrival to client 0.05/0.05/0.05"
        )
        let replay = LatencyBook(clocks: .recorded)
        #expect(replay.arrived(exchangeTime: 0, received: Self.second, now: 0) == nil)
        replay[.arrivalToScreen].record(nanoseconds: Self.millisecond)
        #expect(
            replay.report.line
                == "latency ms p50/p99/max: arrival to screen 1/1/1 (a replay's trades have recorded times, so exchange "
                + "to arrival is left out)"
        )
        let watch = LatencyBook(clocks: .relayed)
        watch[.arrivalToScreen].record(nanoseconds: Self.millisecond)
        #expect(watch.report.line == "latency ms p50/p99/max: arrival to screen 1/1/1")
    }

    @Test("with a clock that is behind, trades arrive before they happened, and latencies count from the fastest")
    func correctsForTheClock() throws {
        let book = LatencyBook(clocks: .compared)
        for read in 0..<400 {
            // The clock is 3 s behind, and a trade takes 80 to 120 ms.
            let way = Int64(80 + read % 41) * Self.millisecond
            let at = Int64(read) * Self.second
            _ = book.arrived(exchangeTime: at, received: at + way - 3 * Self.second, now: at)
        }
        let report = book.report
        #expect((2_915...2_920).contains(report.clockOffset / Self.millisecond))
        #expect(try #require(report.rows.first).summary.maximum < Self.second)
        #expect(try #require(report.line).hasSuffix("ms behind the exchange's)"))
    }
}

@Suite("The check of the clock")
struct ClockCheckTests {
    private static let second: Int64 = 1_000_000_000

    private func warnings(implied: (Int) -> Int64, seconds: Range<Int>) -> [(at: Int, ClockCheck.Warning)] {
        var check = ClockCheck()
        return seconds.compactMap { at in
            check.took(implied(at), now: Int64(at) * Self.second).map { (at, $0) }
        }
    }

    @Test("a correct clock causes no warning, even if a few of the venue's times are wrong")
    func fits() {
        let seen = self.warnings(
            implied: { $0 % 40 == 0 ? -3_600 * Self.second : Int64(60 + $0 % 50) * 1_000_000 },
            seconds: 0..<10_000
        )
        #expect(seen.isEmpty)
    }

    @Test("a clock that is behind causes one warning an hour, with the difference")
    func behind() {
        let seen = self.warnings(implied: { _ in -12 * Self.second }, seconds: 0..<7_300)
        #expect(seen.map(\.at) == [19, 3_619, 7_219])
        #expect(seen.first?.1 == .behind(12 * Self.second))
        #expect(
            seen.first?.1.description == "this machine's clock seems to be 12.0 s behind the exchange's: check NTP"
        )
    }

    @Test("if all trades are very late, the clock may be ahead or the service late")
    func ahead() {
        let seen = self.warnings(implied: { _ in 25 * Self.second }, seconds: 0..<100)
        #expect(seen.map(\.1) == [.ahead(25 * Self.second)])
    }

    @Test("a difference in all reads is reported at once, and reads before a clock was set do not count")
    func agreed() {
        var check = ClockCheck()
        for read in 0..<100 { #expect(check.took(80_000_000, now: Int64(read) * Self.second) == nil) }
        let behind = check.took(-29_900_000_000, agreed: 30 * Self.second, now: 100 * Self.second)
        #expect(behind == .behind(30 * Self.second) && check.offset == 30 * Self.second)
        for read in 101..<200 {
            #expect(check.took(-29_900_000_000, agreed: 30 * Self.second, now: Int64(read) * Self.second) == nil)
        }
        #expect(check.offset == 29_900_000_000)
        #expect(check.took(80_000_000, agreed: 0, now: 200 * Self.second) == nil)
        #expect(check.offset == 0)
    }

    @Test("it checks at most once a second, and only with twenty reads or more")
    func patience() {
        var check = ClockCheck()
        for _ in 0..<19 { #expect(check.took(-Self.second, now: 5) == nil) }
        #expect(check.offset == 0)
        #expect(check.took(-Self.second, now: 6) == .behind(Self.second))
        #expect(check.offset == Self.second)
    }
}
