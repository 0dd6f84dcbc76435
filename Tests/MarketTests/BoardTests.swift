import Market
import Testing

@Suite struct BoardTests {
    private var samples = Samples()
    private var board = Board()

    private mutating func apply(_ trades: [Trade], first: UInt64 = 1, received: Int64 = 5) {
        self.board.apply(trades: trades, firstSequence: first, received: received, symbols: self.samples.symbols)
    }

    @Test("a symbol's row has the newest trade and the session's figures")
    mutating func figures() throws {
        self.apply([
            self.samples.trade("100.5", size: "0.1", time: 1_000),
            self.samples.trade("7", size: "3", time: 1_000, symbol: "Y"),
            self.samples.trade("99", size: "0.02", time: 1_001),
            self.samples.trade("101.25", size: "0.003", time: 1_001),
            self.samples.trade("100", size: "1", time: 1_002),
        ])
        #expect(self.board.rows.map(\.symbol) == ["X", "Y"])
        let row = try #require(self.board.summary(of: "X"))
        #expect(row.price == ExactDecimal("100"))
        #expect(row.size == ExactDecimal("1"))
        #expect(row.exchangeTime == 1_002_000_000)
        #expect(row.received == 5)
        #expect(row.sequence == 5)
        #expect(row.open == ExactDecimal("100.5"))
        #expect(row.high == ExactDecimal("101.25"))
        #expect(row.low == ExactDecimal("99"))
        #expect(row.volume.description == "1.123")
        #expect(row.trades == 4)
    }

    @Test("a filled trade counts in extremes and volume, and is no price, however old it is", arguments: [1, 90_000])
    mutating func filled(age: Int64) throws {
        var filled = self.samples.trade("150", size: "2", time: 100_000 - age)
        filled.marks = [.filled]
        self.apply([filled])
        #expect(self.board.rows.isEmpty, "no price is known that it could be beside")
        self.apply([self.samples.trade("100", size: "1", time: 100_000)], first: 2)
        self.apply([filled, filled], first: 3, received: 9)
        let row = try #require(self.board.summary(of: "X"))
        #expect(row.price == ExactDecimal("100") && row.sequence == 2 && row.received == 5)
        #expect(row.exchangeTime == 100_000_000_000 && row.open == ExactDecimal("100"))
        #expect(row.high == ExactDecimal("150") && row.volume.description == "5" && row.trades == 3)
    }

    @Test("a size of zero is a price, and neither volume nor a trade")
    mutating func priceUpdates() throws {
        self.apply([
            self.samples.trade("5", size: "0"), self.samples.trade("6", size: "2"), self.samples.trade("8", size: "0"),
        ])
        let row = try #require(self.board.summary(of: "X"))
        #expect(row.price == ExactDecimal("8"))
        #expect(row.high == ExactDecimal("8"))
        #expect(row.volume.description == "2")
        #expect(row.trades == 1)
    }

    @Test("a trade that is ahead shows its price and counts, and makes no later one late", arguments: [0, 1])
    mutating func ahead(before: Int) throws {
        var trade = self.samples.trade("101", size: "2", time: 60_000)
        trade.marks = [.ahead]
        if before > 0 { self.apply([self.samples.trade("100", time: 58_000)]) }
        self.apply([trade], first: 2, received: 7)
        var row = try #require(self.board.summary(of: "X"))
        #expect(row.price == ExactDecimal("101") && row.received == 7 && row.sequence == 2 && row.high == row.price)
        #expect(row.exchangeTime == (before > 0 ? 58_000 : 60_000) * 1_000_000 && row.trades == UInt64(before) + 1)
        #expect(row.isAhead)
        self.apply([trade, self.samples.trade("99", time: 59_900)], first: 3)
        row = try #require(self.board.summary(of: "X"))
        #expect(row.price == ExactDecimal("99") && row.exchangeTime == 59_900 * 1_000_000 && !row.isAhead)
    }

    @Test("a late trade counts, but does not replace the newest price")
    mutating func late() throws {
        self.apply([
            self.samples.trade("10", time: 20_000), self.samples.trade("3", time: 19_999),
            self.samples.trade("4", time: 10_000),
        ])
        let row = try #require(self.board.summary(of: "X"))
        #expect(row.price == ExactDecimal("10"))
        #expect(row.sequence == 1)
        #expect(row.low == ExactDecimal("3"))
        #expect(row.trades == 3)
        #expect(row.volume.description == "3")
    }

    @Test("a trade far older than the newest is a clock set back, and no price stays frozen")
    mutating func clockSetBack() throws {
        self.apply([self.samples.trade("10", time: 99_999_999), self.samples.trade("11", time: 20_000)])
        #expect(try #require(self.board.summary(of: "X")).price == ExactDecimal("11"))
    }

    @Test("of trades in the same millisecond the last one is the newest")
    mutating func sameMillisecond() throws {
        self.apply([self.samples.trade("10", time: 1), self.samples.trade("11", time: 1)])
        #expect(try #require(self.board.summary(of: "X")).price == ExactDecimal("11"))
    }

    @Test("symbols may appear in any order of their numbers")
    mutating func anyOrder() {
        let first = self.samples.trade("1", symbol: "A")
        let second = self.samples.trade("2", symbol: "B")
        self.apply([second])
        self.apply([first], first: 2)
        #expect(self.board.rows.map(\.symbol) == ["B", "A"])
        #expect(self.board.row(of: first.symbol) == 1)
        #expect(self.board.row(of: SymbolID(index: 77)) == nil)
    }
}

@Suite struct TapeTests {
    @Test("numbers follow without a hole")
    func numbers() {
        var tape = Tape(epoch: 9)
        #expect(tape.nextSequence == 1)
        let firsts = [tape.append(count: 3), tape.append(count: 0), tape.append(count: 1)]
        #expect(firsts == [1, 4, 4])
        #expect(tape.nextSequence == 5)
    }
}
