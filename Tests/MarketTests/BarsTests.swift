import Testing
@testable import Market

@Suite("Bars")
struct BarsTests {
    /// Computes bars in the simplest way: from a list of all trades of one symbol, grouped by time.
    private static func reference(_ trades: [Trade], _ width: BarWidth) -> [Bar] {
        let groups = Dictionary(grouping: trades) { trade in
            // The times in this test are positive.
            trade.exchangeTime / width.nanoseconds * width.nanoseconds
        }
        return groups.sorted { $0.key < $1.key }.map { start, trades in
            let byTime = trades.enumerated().sorted {
                ($0.element.exchangeTime, $0.offset) < ($1.element.exchangeTime, $1.offset)
            }.map(\.element)
            let prices = trades.map(\.price).sorted()
            var (volume, turnover) = (ExactSum(), ExactSum())
            for trade in trades where !trade.isPriceUpdate {
                volume.add(trade.size)
                turnover.add(trade.price, times: trade.size)
            }
            return Bar(
                start: start,
                width: width,
                open: (byTime[0].price, byTime[0].exchangeTime),
                high: prices[prices.count - 1],
                low: prices[0],
                close: (byTime[byTime.count - 1].price, byTime[byTime.count - 1].exchangeTime),
                volume: volume,
                turnover: turnover,
                count: UInt64(trades.count { !$0.isPriceUpdate }),
                isIncomplete: false
            )
        }
    }

    private static func randomTrades(seed: UInt64, count: Int) throws -> [Trade] {
        var chance = SeededGenerator(seed: seed)
        var time: Int64 = 1_795_239_000_000
        return try (0..<count).map { _ in
            // Mostly forward, sometimes far forward (so that bars are missing), and sometimes back.
            switch Int.random(in: 0..<20, using: &chance) {
            case 0: time += Int64.random(in: 60_000...9_000_000, using: &chance)
            case 1, 2: time -= Int64.random(in: 0...3_000, using: &chance)
            default: time += Int64.random(in: 0...900, using: &chance)
            }
            let price = try #require(
                ExactDecimal(significand: Int64.random(in: 1...9_999_999, using: &chance), exponent: -3)
            )
            let size = try #require(
                ExactDecimal(
                    significand: Int64.random(in: 0...3, using: &chance) == 0
                        ? 0 : Int64.random(in: 1...999_999, using: &chance),
                    exponent: -Int.random(in: 0...8, using: &chance)
                )
            )
            return Trade(
                price: price,
                size: size,
                exchangeTime: max(time, 1) * 1_000_000,
                symbol: SymbolID(index: 0)
            )
        }
    }

    /// Returns a bar without the mark that the very first bar always has.
    private static func unmarked(_ bar: Bar) -> Bar {
        var bar = bar
        bar.isIncomplete = false
        return bar
    }

    @Test(
        "they are those of a plain reference, in every width, whatever the trades",
        arguments: 0..<40 as Range<UInt64>
    )
    func likeReference(seed: UInt64) throws {
        let trades = try Self.randomTrades(seed: seed, count: 600)
        var bars = SymbolBars(capacity: 10_000)
        for trade in trades { bars.take(trade) }
        bars.settle()
        for width in BarWidth.allCases {
            #expect(bars[width].bars.map(Self.unmarked) == Self.reference(trades, width))
            #expect(bars[width].late == 0)
        }
    }

    @Test("pieces put together in the order of arrival are the whole", arguments: 0..<20 as Range<UInt64>)
    func joined(seed: UInt64) throws {
        let trades = try Self.randomTrades(seed: seed, count: 200)
        var chance = SeededGenerator(seed: seed)
        var rows: [Int64: Bar] = [:]
        var index = 0
        while index < trades.count {
            let end = min(trades.count, index + Int.random(in: 1...7, using: &chance))
            var part = SymbolBars(capacity: 1_000)
            for trade in trades[index..<end] { part.take(trade) }
            part.settle()
            for bar in part[.fiveMinutes].bars where rows[bar.start]?.append(bar) == nil { rows[bar.start] = bar }
            index = end
        }
        let whole = rows.values.sorted { $0.start < $1.start }.map(Self.unmarked)
        #expect(whole == Self.reference(trades, .fiveMinutes))
    }

    @Test("a bar has what its trades say, and a price update moves the price only")
    func figures() throws {
        var samples = Samples()
        var bars = SymbolBars(capacity: 10)
        for trade in [
            samples.trade("100.5", size: "2", time: 60_000), samples.trade("101", size: "0", time: 61_000),
            samples.trade("99.25", size: "0.5", time: 119_999), samples.trade("100", size: "1", time: 120_000),
        ] {
            bars.take(trade)
        }
        bars.settle()
        let first = try #require(bars[.minute].bars.first)
        #expect(first.start == 60_000_000_000 && first.count == 2 && first.volume.description == "2.5")
        #expect(
            [first.open, first.high, first.low, first.close].map(\.description) == ["100.5", "101", "99.25", "99.25"]
        )
        // (201 + 49.625) / 2.5
        #expect(first.average?.description == "100.25")
        #expect(bars[.minute].bars.map(\.start) == [60_000_000_000, 120_000_000_000])
        #expect(bars[.hour].bars.count == 1)
    }

    @Test("the end of a day, of a year and before 1970 begin new bars", arguments: BarWidth.allCases)
    func dayEnds(width: BarWidth) {
        // 2026-12-31T23:59:59.999Z and the millisecond after it.
        let last: Int64 = 1_798_761_599_999_000_000
        #expect(width.start(of: last + 1_000_000) == last + 1_000_000)
        #expect(width.start(of: last) == last + 1_000_000 - width.nanoseconds)
        #expect(width.start(of: -1) == -width.nanoseconds)
        #expect(width.start(of: 0) == 0)
    }

    @Test("a gap marks the bars that it touches, those to come as well, and no others; none is filled in")
    func gaps() {
        var samples = Samples()
        var bars = SymbolBars(capacity: 100)
        let (minute, first): (Int64, Int64) = (60_000, 60_000_000_000)
        for at in [0, 1, 2, 3] as [Int64] { bars.take(samples.trade("1", time: first + at * minute + 5_000)) }
        let start = first * 1_000_000
        // From the middle of the third minute to the middle of the sixth.
        bars.gapFound(
            from: start + 3 * 60_000_000_000 + 30_000_000_000,
            to: start + 6 * 60_000_000_000 + 30_000_000_000
        )
        for at in [6, 7] as [Int64] { bars.take(samples.trade("2", time: first + at * minute + 40_000)) }
        bars.settle()
        let marks = bars[.minute].bars.map { (($0.start - start) / 60_000_000_000, $0.isIncomplete) }
        // The very first bar is marked, too, because the trades before it are unknown.
        #expect(marks.map(\.0) == [0, 1, 2, 3, 6, 7])
        #expect(marks.map(\.1) == [true, false, false, true, true, false])
        #expect(bars[.second].bars.map(\.isIncomplete) == [true, false, false, false, false, false])
        #expect(bars[.hour].bars.allSatisfy { $0.isIncomplete })
    }

    @Test("a trade that came just before a gap is within its reach, for it happened before it arrived")
    func delay() {
        var samples = Samples()
        var bars = SymbolBars(capacity: 10)
        bars.take(samples.trade("1", time: 60_000))
        bars.take(samples.trade("1", time: 119_500))
        bars.take(samples.trade("1", time: 120_500))
        bars.gapFound(from: 121_000_000_000, to: 130_000_000_000)
        bars.settle()
        #expect(bars[.second].bars.map(\.isIncomplete) == [true, true, true])
        bars.take(samples.trade("1", time: 131_000))
        bars.settle()
        #expect(bars[.second].bars.last?.isIncomplete == false)
    }

    @Test("what came too late for the bars that are kept is counted, and changes nothing")
    func late() {
        var samples = Samples()
        var series = BarSeries(width: .second, capacity: 2)
        var gone: [Bar] = []
        for time in [1_000, 2_000, 3_000, 4_000] as [Int64] {
            if let bar = series.take(Bar(pieceFrom: samples.trade("1", time: time))) { gone.append(bar) }
        }
        #expect(gone.map(\.start) == [1_000_000_000, 2_000_000_000])
        #expect(series.take(Bar(pieceFrom: samples.trade("9", time: 2_500))) == nil)
        #expect(series.late == 1 && series.bars.map(\.start) == [3_000_000_000, 4_000_000_000])
        #expect(series.bars.allSatisfy { $0.high.description == "1" })
    }

    @Test("a span of time is the first of its bars, or without a beginning the last")
    func spans() {
        var samples = Samples()
        var series = BarSeries(width: .second, capacity: 10)
        for time in 1...5 as ClosedRange<Int64> { series.take(Bar(pieceFrom: samples.trade("1", time: time * 1_000))) }
        func starts(_ from: Int64?, _ to: Int64?, _ limit: Int) -> [Int64] {
            series.bars(from: from.map { $0 * 1_000_000_000 }, to: to.map { $0 * 1_000_000_000 }, limit: limit)
                .map { $0.start / 1_000_000_000 }
        }
        #expect(starts(nil, nil, 2) == [4, 5] && starts(2, nil, 2) == [2, 3] && starts(nil, 4, 2) == [2, 3])
        #expect(starts(9, nil, 2) == [] && starts(4, 3, 2) == [] && starts(nil, nil, 99) == [1, 2, 3, 4, 5])
    }
}

@Suite("The average price of a bar")
struct ExactQuotientTests {
    private func quotient(_ above: String, _ below: String) throws -> String? {
        try #require(ExactSum(above)).divided(by: #require(ExactSum(below)))?.description
    }

    @Test("it is exact where 18 digits hold it, and rounded half to even where not")
    func quotients() throws {
        #expect(try self.quotient("250.625", "2.5") == "100.25")
        #expect(try self.quotient("1", "3") == "0.333333333333333333")
        #expect(try self.quotient("2", "3") == "0.666666666666666667")
        #expect(try self.quotient("-2", "3") == "-0.666666666666666667")
        #expect(try self.quotient("0", "3") == "0")
        #expect(try self.quotient("1", "0") == nil)
        // 18 digits and a half are rounded to the even neighbour.
        #expect(try self.quotient("1000000000000000005", "10") == "100000000000000000")
        #expect(try self.quotient("1000000000000000015", "10") == "100000000000000002")
        #expect(try self.quotient("10000000000000000051", "100") == "100000000000000001")
        #expect(try self.quotient("9999999999999999999", "1") == "10000000000000000000")
        #expect(
            try self.quotient("99999999999999999999999999999999999999", "99999999999999999999999999999999999998") == "1"
        )
        #expect(
            try self.quotient("1", "99999999999999999999999999999999999999")?.hasPrefix("0.0000000000000000000") == true
        )
    }

    @Test("it lies between the lowest and the highest price", arguments: 0..<50 as Range<UInt64>)
    func between(seed: UInt64) throws {
        var chance = SeededGenerator(seed: seed)
        var (volume, turnover) = (ExactSum(), ExactSum())
        var prices: [ExactDecimal] = []
        for _ in 0..<20 {
            let price = try #require(
                ExactDecimal(significand: Int64.random(in: 1...999_999_999, using: &chance), exponent: -4)
            )
            let size = try #require(
                ExactDecimal(significand: Int64.random(in: 1...99_999_999, using: &chance), exponent: -8)
            )
            prices.append(price)
            volume.add(size)
            turnover.add(price, times: size)
        }
        let average = try #require(turnover.divided(by: volume))
        #expect(try average >= #require(prices.min()) && average <= #require(prices.max()))
    }

    @Test("they count the trades that may have been counted before, in every width, and no price updates")
    func possibleRepeats() throws {
        var bars = SymbolBars(capacity: 8)
        let one = try #require(ExactDecimal("1"))
        for (index, size) in [one, .zero, one, one].enumerated() {
            for marks in [[], .possibleRepeat] as [TradeMarks] {
                let time = Int64(index) * 700_000_000
                bars.take(Trade(price: one, size: size, exchangeTime: time, symbol: SymbolID(index: 0), marks: marks))
            }
        }
        bars.settle()
        #expect(bars[.second].bars.map(\.possibleRepeats) == [1, 1, 1])
        #expect(bars[.hour].bars.map(\.possibleRepeats) == [3])
        #expect(bars[.hour].bars.map(\.count) == [6])
    }
}
