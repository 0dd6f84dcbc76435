import Completeness
import Market
import TLS
import Testing

@Suite("The book of completeness")
struct CompletenessBookTests {
    private let symbol = "BINANCE:BTCUSDT"

    /// Feeds ids with their hours in one read each.
    private func book(_ trades: [(id: UInt64, hour: Int64)]) -> TestBook {
        var test = TestBook()
        for (id, hour) in trades { test.read([test.trade(self.symbol, id, hour: hour)]) }
        return test
    }

    @Test("reports first, last, count and hash of each hour")
    func plain() {
        var test = self.book([(7, 0), (8, 0), (9, 1), (10, 2)])
        let hours = test.book.hours()
        #expect(hours.map(\.first) == [7, 9, 10] && hours.map(\.last) == [8, 9, 10])
        #expect(hours.map(\.count) == [2, 1, 1] && hours.allSatisfy { $0.missing == 0 && $0.reason == nil })
        let trades = [test.trade(self.symbol, 7), test.trade(self.symbol, 8)]
        #expect(hours[0].sha256 == TapeTruth.hash(trades))
        // Before the first hour and after the last one, nothing is known.
        #expect(hours.map(\.isComplete) == [false, true, false])
    }

    @Test("hashes lines with plain decimals and cut microseconds")
    func line() throws {
        let sent = ["100", "0.10", "1e-7", "123456789012345678", "4.20e3"]
        let decimals = try sent.map { try #require(ExactDecimal($0)) }
        let texts = decimals.map { price in
            let trade = Trade(
                price: price,
                size: .zero,
                exchangeTime: 1_700_000_000_123_456_789,
                symbol: SymbolID(index: 0)
            )
            return TradeLine.with(trade, id: 18_446_744_073_709_551_614) { String(decoding: $0, as: UTF8.self) }
        }
        let prices = ["100", "0.1", "0.0000001", "123456789012345678", "4200"]
        #expect(texts == prices.map { "18446744073709551614,1700000000123456,\($0),0\n" })
    }

    @Test("begins with filled trades of a connection, as of a snapshot after a cut, and not with those of an answer")
    func filledFirst() {
        var test = TestBook()
        test.read([test.trade(self.symbol, 4, .filled)], isAnswer: true)
        #expect(test.book.hours().isEmpty)
        test.read([test.trade(self.symbol, 5, .filled), test.trade(self.symbol, 6, .filled)])
        test.read([test.trade(self.symbol, 7)])
        let hours = test.book.hours()
        #expect(hours.map(\.first) == [5] && hours.map(\.count) == [3] && hours.map(\.filled) == [2])
        #expect(hours[0].sha256 == TapeTruth.hash((5...7).map { test.trade(self.symbol, $0) }))
    }

    @Test("counts a missing id in the hour of the trade after it, until it comes")
    func holeAndFill() {
        var test = self.book([(1, 0), (2, 0)])
        test.gap(self.symbol, 3...6)
        #expect(test.book.hours().map(\.missing) == [4])
        test.read([test.trade(self.symbol, 7, hour: 1)])
        var hours = test.book.hours()
        #expect(hours.map(\.missing) == [0, 4] && hours[1].sha256 == nil && hours[1].reason != nil)
        test.read([test.trade(self.symbol, 4, hour: 0, .filled), test.trade(self.symbol, 3, hour: 0, .filled)])
        test.read([test.trade(self.symbol, 6, hour: 1, .filled)])
        hours = test.book.hours()
        #expect(hours.map(\.missing) == [0, 1] && hours.map(\.count) == [4, 2] && hours.map(\.filled) == [2, 1])
        test.settle(self.symbol, 3...6, lost: [5...5])
        hours = test.book.hours()
        #expect(hours.map(\.missing) == [0, 1])
        #expect(hours[0].sha256 == TapeTruth.hash((1...4).map { test.trade(self.symbol, $0) }))
        #expect(hours[1].sha256 == TapeTruth.hash([6, 7].map { test.trade(self.symbol, $0, hour: 1) }))
    }

    @Test("keeps fewer hours of each symbol when there are many, whatever hour the next trade is of")
    func manySymbols() {
        var test = TestBook()
        test.read([test.trade(self.symbol, 1, hour: 0)])
        test.gap(self.symbol, 2...2)
        for hour in 1..<48 { test.read([test.trade(self.symbol, UInt64(hour) + 2, hour: Int64(hour) * 2)]) }
        for number in 0..<2_300 { test.read([test.trade("BINANCE:S\(number)", 1)]) }
        test.read([test.trade(self.symbol, 2, hour: 1, .filled)])
        let hours = test.book.hours().filter { $0.symbol == self.symbol }
        #expect(!hours.isEmpty && hours.count < 48 && hours.last?.last == 49)
    }

    @Test("counts a trade that was given up and comes nevertheless")
    func comesAfterLoss() {
        var test = self.book([(1, 0)])
        test.gap(self.symbol, 2...5)
        test.read([test.trade(self.symbol, 6, hour: 0)])
        test.settle(self.symbol, 2...5, lost: [2...5])
        #expect(test.book.hours().map(\.missing) == [4])
        test.read([test.trade(self.symbol, 3, hour: 0, .filled)])
        let hours = test.book.hours()
        #expect(hours.map(\.missing) == [3] && hours.map(\.filled) == [1] && hours.map(\.count) == [3])
        // The later trades were digested without it.
        #expect(hours[0].sha256 == nil && hours[0].reason != nil)
    }

    @Test("takes a hole that is filled within its read for none")
    func filledAtOnce() {
        var test = self.book([(1, 0)])
        test.read([4, 2, 3].map { test.trade(self.symbol, $0, $0 == 4 ? [] : .filled) })
        test.read([test.trade(self.symbol, 5)])
        let hour = test.book.hours()[0]
        #expect(hour.missing == 0 && hour.count == 5)
        #expect(hour.sha256 == TapeTruth.hash((1...5).map { test.trade(self.symbol, $0) }))
    }

    @Test("waits for ids that were left out without a gap only while a few later ones come")
    func unannounced() {
        var test = self.book([(1, 0), (11, 0), (12, 0)])
        test.read([test.trade(self.symbol, 5, .filled)])
        #expect(test.book.hours()[0].missing == 8)
        for id in 13...268 as ClosedRange<UInt64> { test.read([test.trade(self.symbol, id)]) }
        let ids = [1, 5] + Array(11...268 as ClosedRange<UInt64>)
        var hour = test.book.hours()[0]
        #expect(hour.missing == 8 && hour.count == 260)
        #expect(hour.sha256 == TapeTruth.hash(ids.map { test.trade(self.symbol, $0) }))
        // Then it counts all the same, but the hash is over.
        test.read([test.trade(self.symbol, 6, .filled)])
        hour = test.book.hours()[0]
        #expect(hour.missing == 7 && hour.count == 261 && hour.sha256 == nil)
    }

    @Test("counts ids that are missing beyond the newest trade in its hour, also when an earlier hour is filled")
    func unplaced() {
        var test = self.book([(1, 0)])
        test.gap(self.symbol, 2...3)
        test.read([test.trade(self.symbol, 4, hour: 1)])
        test.gap(self.symbol, 5...9)
        test.read([test.trade(self.symbol, 2, hour: 0, .filled)])
        #expect(test.book.hours().map(\.missing) == [0, 6])
    }

    @Test("keeps the hash when clocks go back at an hour's edge")
    func edge() {
        var test = self.book([(1, 0), (2, 1), (3, 0), (4, 1), (5, 0)])
        let hours = test.book.hours()
        #expect(hours.map(\.count) == [3, 2])
        #expect(hours[0].sha256 == TapeTruth.hash([1, 3, 5].map { test.trade(self.symbol, $0) }))
    }

    @Test("voids the hash of an hour for which a trade comes after two later hours")
    func tooLate() {
        var test = self.book([(1, 0), (2, 1), (3, 2), (4, 0)])
        let hours = test.book.hours()
        #expect(hours[0].count == 2 && hours[0].sha256 == nil)
        #expect(hours[0].reason == "a trade came too late for the hash")
        #expect(hours[1].sha256 != nil && hours[2].sha256 != nil)
    }

    @Test("voids the hash of a trade that comes after its place")
    func afterItsPlace() {
        var test = self.book([(5, 0), (6, 0)])
        test.read([test.trade(self.symbol, 4, .filled)])
        let hour = test.book.hours()[0]
        #expect(hour.first == 4 && hour.count == 3 && hour.sha256 == nil)
    }

    @Test("voids the hash of the hour in which ids begin anew, and goes on")
    func anew() {
        var test = self.book([(1_000, 0), (1_001, 0)])
        test.gap(self.symbol, 1...99)
        test.read([test.trade(self.symbol, 100), test.trade(self.symbol, 101, hour: 1)])
        test.settle(self.symbol, 1...99)
        let hours = test.book.hours()
        #expect(hours[0].missing == 99 && hours[0].reason == "the venue began its ids anew")
        #expect(hours[1].sha256 == TapeTruth.hash([test.trade(self.symbol, 101, hour: 1)]))
        var other = self.book([(1_000, 0), (1_001, 0), (5, 0), (6, 1)])
        #expect(other.book.hours()[0].reason == "the venue began its ids anew" && other.book.hours()[1].sha256 != nil)
    }

    @Test("counts repeats, and not those from before the tape's beginning")
    func repeats() {
        var test = self.book([(5, 0), (6, 0)])
        test.read([], repeated: [5, 6, 6, 2].map { test.trade(self.symbol, $0) })
        #expect(test.book.hours()[0].repeated == 3 && test.book.totals.first?.counts.repeated == 3)
    }

    @Test("gives up the hash, and no count, when too many trades wait")
    func tooMany() {
        var test = TestBook(maximumHeldBytes: 10 * MemoryLayout<Trade>.stride)
        test.read([test.trade(self.symbol, 1), test.trade("A", 1)])
        test.gap(self.symbol, 2...3)
        test.read((4...20).map { test.trade(self.symbol, $0) } + [test.trade("A", 2)])
        test.read([test.trade(self.symbol, 2, .filled), test.trade(self.symbol, 21, hour: 1)])
        let hours = test.book.hours(of: self.symbol)
        #expect(hours[0].count == 19 && hours[0].missing == 1)
        #expect(hours[0].reason == "too many trades waited for missing ones")
        #expect(hours[1].sha256 != nil)
        #expect(test.book.hours(of: "A")[0].sha256 != nil)
    }

    @Test("keeps the newest 48 hours of a symbol")
    func oldHours() {
        var test = self.book((0..<100).map { (UInt64($0), Int64($0)) })
        #expect(test.book.hours().map(\.count) == Array(repeating: 1, count: 48))
        #expect(test.book.hours().first?.first == 52 && test.book.totals.first?.counts.trades == 100)
        // Older than all that are kept.
        test.read([test.trade(self.symbol, 100, hour: 3)])
        #expect(test.book.hours().count == 48 && test.book.totals.first?.counts.trades == 101)
    }

    @Test("begins anew after a jump of a replay")
    func jump() {
        var test = self.book([(1, 0), (2, 0)])
        test.book.gapFound(Gap(from: 0, to: 0, reason: "moved", nextSequence: 0, cause: .seek))
        test.read([test.trade(self.symbol, 1)])
        #expect(test.book.hours().map(\.count) == [1])
    }

    @Test("has no report of trades without ids")
    func withoutIDs() {
        var test = TestBook()
        var trade = test.trade(self.symbol, 1)
        trade.id = nil
        test.read([trade], repeated: [trade])
        #expect(test.book.hours().isEmpty && test.book.totals.isEmpty)
    }

    @Test("takes any ids and times without trapping")
    func hostile() {
        var random = SeededGenerator(seed: 18)
        let ids: [UInt64] = [0, 1, 2, .max - 2, .max - 1, .max / 2]
        let times: [Int64] = [.min, .min + 1, -1, 0, 1, .max]
        for _ in 0..<300 {
            var test = TestBook(byIDsAlone: Bool.random(using: &random), maximumHeldBytes: 512)
            for _ in 0..<40 {
                let pair = [ids.randomElement(using: &random) ?? 0, ids.randomElement(using: &random) ?? .max].sorted()
                switch Int.random(in: 0..<5, using: &random) {
                case 0: test.gap(self.symbol, pair[0]...(Bool.random(using: &random) ? .max : pair[1]))
                case 1: test.settle(self.symbol, pair[0]...pair[1])
                default:
                    var trade = test.trade(self.symbol, pair[0], Bool.random(using: &random) ? .filled : [])
                    trade.exchangeTime = times.randomElement(using: &random) ?? 0
                    test.read([trade], repeated: Bool.random(using: &random) ? [trade] : [])
                }
            }
            test.book.finish()
            #expect(test.book.hours().count <= times.count)
        }
    }
}
