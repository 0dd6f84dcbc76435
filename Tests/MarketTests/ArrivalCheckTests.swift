import Testing
@testable import Market

@Suite("The check of arrivals")
struct ArrivalCheckTests {
    private static let second: Int64 = 1_000_000_000
    private static let start: Int64 = 1_795_239_062_000_000_000
    /// 30 days, ns.
    private static let month: Int64 = 30 * 86_400 * Self.second
    /// 1 January 2255, ns since 1970.
    private static let year2255: Int64 = 8_993_548_800 * Self.second

    /// Reads of one trade a second, and the check of each.
    private struct Bench {
        var check = ArrivalCheck()
        var samples = Samples()
        /// The time by the exchange's clock, ns since 1970.
        var now = ArrivalCheckTests.start

        /// Makes reads whose trades took 80 ms to arrive; returns whether each was ahead.
        mutating func reads(_ count: Int, clockBehind: Int64 = 0) -> [Bool] {
            (0..<count).map { _ in self.read(at: self.now - 80_000_000, clockBehind: clockBehind) }
        }

        /// Makes a read of one trade with a time by the exchange's clock; returns whether it is ahead.
        mutating func read(at time: Int64, clockBehind: Int64 = 0) -> Bool {
            var trade = self.samples.trade("1")
            trade.exchangeTime = time
            var trades = [trade]
            let arrival = self.check.judge(&trades, received: self.now - clockBehind)
            self.now += ArrivalCheckTests.second
            let isAhead = trades[0].marks == [.ahead]
            #expect(isAhead || trades[0].marks.isEmpty)
            #expect((arrival != nil) == isAhead)
            #expect(trades[0].exchangeTime == time)
            return isAhead
        }
    }

    @Test(
        "one trade from the future is ahead, and the only one",
        arguments: [Self.year2255 - Self.start, Self.month, 60 * Self.second, Int64.max]
    )
    func one(lead: Int64) {
        for before in [0, 1, 100] {
            var bench = Bench()
            let wrong = bench.reads(before).contains(true)
            #expect(!wrong)
            let (time, isOut) = bench.now.addingReportingOverflow(lead)
            #expect(bench.read(at: isOut ? .max : time) == true)
            #expect(bench.reads(100) == Array(repeating: false, count: 100))
            #expect(bench.check.offset == 0)
        }
    }

    @Test("a trade is ahead from more than 5 s on, and counts as made at its arrival")
    func bounds() {
        var bench = Bench()
        #expect(bench.read(at: bench.now + ArrivalCheck.tolerance) == false)
        #expect(bench.read(at: bench.now + ArrivalCheck.tolerance + 1) == true)
        var trades = [bench.samples.trade("1"), bench.samples.trade("2")]
        trades[1].exchangeTime = Self.year2255
        #expect(bench.check.judge(&trades, received: Self.start) == Self.start)
        #expect(trades.map(\.marks) == [[], [.ahead]])
        #expect(bench.check.judge(&trades, from: 2, received: Self.start) == nil)
    }

    @Test("trades that were asked for teach nothing, however many they are")
    func earlier() {
        var bench = Bench()
        _ = bench.reads(100, clockBehind: 30 * Self.second)
        let offset = bench.check.offset
        var trades = [bench.samples.trade("1"), bench.samples.trade("2")]
        for _ in 0..<100 {
            trades[0].exchangeTime = bench.now - 600 * Self.second
            trades[1].exchangeTime = bench.now + 600 * Self.second
            let received = bench.now - 30 * Self.second
            #expect(bench.check.judgeEarlier(&trades, received: received) == received + offset)
            #expect(trades.map(\.marks) == [[], [.ahead]])
        }
        #expect(bench.check.offset == offset)
        #expect(bench.reads(1, clockBehind: 30 * Self.second) == [false])
        var none: [Trade] = []
        #expect(bench.check.judgeEarlier(&none, received: bench.now) == nil)
    }

    @Test("a clock 30 s behind from the start is found within 20 reads, and the trades count by their own time then")
    func behindFromTheStart() {
        var bench = Bench()
        let seen = bench.reads(100, clockBehind: 30 * Self.second)
        #expect(seen.firstIndex(of: false) == 10 && !seen[10...].contains(true))
        #expect((29_900_000_000...29_950_000_000).contains(bench.check.offset))
        #expect(bench.read(at: bench.now + 10 * Self.second, clockBehind: 30 * Self.second) == true)
        #expect(bench.read(at: Self.year2255, clockBehind: 30 * Self.second) == true)
        let after = bench.reads(20, clockBehind: 30 * Self.second)
        #expect(!after.contains(true))
    }

    @Test("a clock that is stepped in mid-run, back and right again, is found within 20 reads each time")
    func stepped() {
        var bench = Bench()
        for _ in 0..<3 {
            let before = bench.reads(50)
            #expect(!before.contains(true) && bench.check.offset == 0)
            let behind = bench.reads(20, clockBehind: 12 * Self.second)
            #expect(behind.last == false && bench.check.offset > 11 * Self.second)
            let further = bench.reads(20, clockBehind: 600 * Self.second)
            #expect(further.last == false && bench.check.offset > 599 * Self.second)
            let right = bench.reads(20)
            #expect(!right.contains(true) && bench.check.offset == 0)
        }
    }

    @Test("reads that are ahead, but not alike, say nothing of our clock; neither do trades that come late")
    func unlike() {
        var bench = Bench()
        for step in 1...60 {
            #expect(bench.read(at: bench.now + Int64(step) * 10 * Self.second) == true)
        }
        #expect(bench.check.offset == 0)
        for _ in 1...60 { #expect(bench.read(at: bench.now - 3_600 * Self.second) == false) }
        #expect(bench.reads(1) == [false])
    }

    @Test("no time ends the program, whatever our own clock says")
    func extremes() {
        var check = ArrivalCheck()
        var samples = Samples()
        for received in [Int64.min, -1, 0, Self.start, .max] {
            for time in [Int64.min, -1, 0, Self.year2255, .max] {
                for _ in 0..<30 {
                    var trades = [samples.trade("1")]
                    trades[0].exchangeTime = time
                    _ = check.judge(&trades, received: received)
                }
            }
        }
        #expect(check.offset >= 0)
    }
}
