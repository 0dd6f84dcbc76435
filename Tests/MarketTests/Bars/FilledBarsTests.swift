import Testing
@testable import Market

@Suite("Bars and filled trades")
struct FilledBarsTests {
    private var samples = Samples()
    private var bars = SymbolBars(capacity: 10)

    private mutating func take(
        _ price: String,
        size: String = "1",
        at time: Int64,
        id: UInt64?,
        isFilled: Bool = false
    ) {
        var trade = self.samples.trade(price, size: size, time: time)
        trade.id = id
        if isFilled { trade.marks = [.filled] }
        self.bars.take(trade)
    }

    private func prices(_ bar: Bar) -> [String] { [bar.open, bar.high, bar.low, bar.close].map(\.description) }

    @Test("a filled trade changes only the bar of its own time, and opens or closes it if its time does")
    mutating func ownBar() throws {
        self.take("100", at: 61_000, id: 3)
        self.take("101", at: 90_000, id: 4)
        self.take("102", at: 130_000, id: 8)
        self.take("250", size: "4", at: 91_000, id: 5, isFilled: true)
        self.take("7", at: 60_500, id: 2, isFilled: true)
        self.take("103", at: 131_000, id: 9)
        self.bars.settle()
        let minutes = self.bars[.minute].bars
        try #require(minutes.count == 2)
        #expect(self.prices(minutes[0]) == ["7", "250", "7", "250"])
        #expect(minutes[0].volume.description == "7" && minutes[0].count == 4)
        #expect(self.prices(minutes[1]) == ["102", "103", "102", "103"] && minutes[1].count == 2)
    }

    @Test("of trades with the same time the lowest id opens and the highest closes, in whatever order they came")
    mutating func sameTime() throws {
        for (price, id, isFilled) in [
            ("3", 3, false), ("9", 9, false), ("4", 4, true), ("8", 8, true), ("2", 2, true), ("5", 5, true),
        ] as [(String, UInt64, Bool)] {
            self.take(price, at: 60_000, id: id, isFilled: isFilled)
        }
        self.bars.settle()
        for width in BarWidth.allCases {
            #expect(self.prices(try #require(self.bars[width].bars.first)) == ["2", "9", "2", "9"])
        }
    }

    @Test("without ids the first to arrive opens and the last closes")
    mutating func withoutIDs() throws {
        for price in ["3", "9", "4"] { self.take(price, at: 60_000, id: nil) }
        self.bars.settle()
        #expect(self.prices(try #require(self.bars[.minute].bars.first)) == ["3", "9", "3", "4"])
    }

    @Test("a filled trade does not end an interruption: the next bar still may lack trades, and the older one does not")
    mutating func interrupted() {
        self.take("1", at: 60_000, id: 1)
        self.take("2", at: 130_000, id: 2)
        self.take("3", at: 190_000, id: 3)
        self.bars.interrupted()
        self.take("2", at: 130_001, id: nil, isFilled: true)
        self.take("4", at: 250_000, id: 5)
        self.bars.settle()
        #expect(self.bars[.minute].bars.map(\.isIncomplete) == [true, false, true, true])
    }

    @Test("the first bar is incomplete, also if it has nothing but filled trades")
    mutating func onlyFilled() {
        self.take("1", at: 60_000, id: 1, isFilled: true)
        self.take("2", at: 130_000, id: 2)
        self.bars.settle()
        #expect(self.bars[.minute].bars.map(\.isIncomplete) == [true, true])
    }

    @Test("a filled trade of a bar that is no longer held is counted, and changes nothing")
    mutating func tooOld() {
        for minute in 1...12 { self.take("1", at: Int64(minute) * 60_000, id: UInt64(minute)) }
        self.take("9", at: 60_000, id: nil, isFilled: true)
        self.bars.settle()
        #expect(self.bars[.minute].late == 1 && self.bars[.hour].late == 0)
        #expect(self.bars[.minute].bars.allSatisfy { $0.high.description == "1" })
        #expect(self.bars[.hour].bars.map(\.high.description) == ["9"])
    }
}
