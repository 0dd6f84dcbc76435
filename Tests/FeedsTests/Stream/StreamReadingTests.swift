import Market
import NIOCore
import Testing
import Wire
@testable import Feeds

@Suite("The reader of a relay's stream")
struct StreamReadingTests {
    private static let status = FeedStatus(source: .live, phase: .live, since: 0)

    private func summary(_ symbol: String, _ sequence: UInt64, trades: UInt64) throws -> SymbolSummary {
        let price = try #require(ExactDecimal("\(100 + sequence)"))
        return SymbolSummary(
            symbol: symbol,
            price: price,
            size: .zero,
            exchangeTime: 0,
            received: 0,
            sequence: sequence,
            open: price,
            high: price,
            low: price,
            volume: ExactSum(),
            trades: trades
        )
    }

    private func update(
        _ symbol: String,
        _ sequence: UInt64,
        trades: UInt64,
        skipped: UInt64 = 0
    ) throws -> PriceUpdate {
        PriceUpdate(summary: try self.summary(symbol, sequence, trades: trades), skipped: skipped)
    }

    private func hello(_ epoch: UInt64, _ newest: UInt64) -> StreamMessage {
        .hello(epoch: epoch, newest: newest, symbols: [], Self.status)
    }

    @Test("the first connection subscribes without a position, and a later one continues after the newest trade")
    func place() throws {
        var reading = StreamReading(symbols: ["A", "B"])
        #expect(reading.opened() == [.subscribe(["A", "B"])])
        _ = reading.took(self.hello(7, 10), wall: 1)
        #expect(reading.position == TapePosition(epoch: 7, sequence: 10))
        _ = reading.took(.price(try self.update("A", 12, trades: 3)), wall: 2)
        _ = reading.took(.trades(try self.summary("B", 15, trades: 9)), wall: 3)
        // Numbers may come out of order, since prices are held back.
        _ = reading.took(.price(try self.update("A", 14, trades: 4)), wall: 4)
        #expect(reading.opened() == [.subscribe(["A", "B"], since: TapePosition(epoch: 7, sequence: 15))])
        // The link breaks again before the reader has caught up: nothing is lost.
        _ = reading.took(self.hello(7, 40), wall: 5)
        #expect(reading.opened() == [.subscribe(["A", "B"], since: TapePosition(epoch: 7, sequence: 15))])
        let end = TapePosition(epoch: 7, sequence: 44)
        _ = reading.took(.resumed(StreamResumed(position: end, trades: 3, isComplete: true)), wall: 6)
        #expect(reading.opened() == [.subscribe(["A", "B"], since: end)])
    }

    @Test("a filled trade of a break counts, and is no price, however old it is", arguments: [1_000, 90_000])
    func filled(age: Int64) throws {
        func trade(_ sequence: UInt64, _ price: String, time: Int64, filled: Bool = false) throws -> StreamMessage {
            .trade(
                StreamTrade(
                    symbol: "A",
                    sequence: sequence,
                    price: try #require(ExactDecimal(price)),
                    size: try #require(ExactDecimal("2")),
                    exchangeTime: time * 1_000_000,
                    received: Int64(sequence),
                    isFilled: filled
                )
            )
        }
        var reading = StreamReading(symbols: ["A"], takesEveryTrade: true)
        _ = reading.opened()
        _ = reading.took(self.hello(7, 1), wall: 1)
        _ = reading.opened()
        // Nothing is known that it could be beside.
        #expect(reading.took(try trade(2, "9", time: 100_000 - age, filled: true), wall: 2) == nil)
        guard case .snapshot(let first, _) = reading.took(try trade(3, "5", time: 100_000), wall: 3) else {
            Issue.record("the first trade is no price")
            return
        }
        let found = reading.took(try trade(4, "9", time: 100_000 - age, filled: true), wall: 4)
        guard case .trades(let summary) = found else {
            Issue.record("\(String(describing: found))")
            return
        }
        var expected = first.summary
        expected.high = try #require(ExactDecimal("9"))
        expected.trades += 1
        expected.volume.add(try #require(ExactDecimal("2")))
        #expect(summary == expected)
        #expect(reading.position == TapePosition(epoch: 7, sequence: 4))
    }

    @Test(
        "no age and no arrival that a relay can send is too long or too early",
        arguments: [(Int64(4_611_686_018_427), Int64(4_611_686_018_427_000)), (0, 4_611_686_018_427_000), (0, 0)]
    )
    func extremes(age: Int64, received: Int64) throws {
        func message(_ text: String) -> StreamMessage { StreamMessage.parse(ByteBuffer(string: text)) }
        let rest = #""symbol":"A","price":"1","size":"1","time":1"#
        let wall: Int64 = 1_795_239_000_000_000_000
        var reading = StreamReading(symbols: ["A"], takesEveryTrade: true)
        _ = reading.opened()
        _ = reading.took(self.hello(7, 1), wall: wall)
        let figures = #""open":"1","high":"1","low":"1","volume":"1","trades":1"#
        let snapshot = message(
            #"{"type":"snapshot",\#(rest),"age":\#(age),"received":\#(received),"seq":1,"skipped":0,\#(figures)}"#
        )
        guard case .snapshot = reading.took(snapshot, wall: wall) else {
            Issue.record("\(snapshot)")
            return
        }
        _ = reading.opened()
        // As time passes, a value that just fitted into a number no longer does.
        let later = wall + 1_000_000_000
        _ = reading.took(self.hello(7, 9), wall: later)
        for (number, received) in [0, 4_611_686_018_427_000].enumerated() {
            let trade = message(#"{"type":"trade",\#(rest),"received":\#(received),"seq":\#(number + 2)}"#)
            guard case .snapshot(_, let age?) = reading.took(trade, wall: later) else {
                Issue.record("\(trade)")
                return
            }
            #expect((0...StreamMessage.longestSpan).contains(age))
        }
    }

    @Test("subscriptions are kept across connections, whether all symbols or some are followed")
    func wishes() {
        var some = StreamReading(symbols: ["A"])
        #expect(some.subscribed("A") == nil)
        #expect(some.subscribed("B") == .subscribe(["B"]))
        #expect(some.unsubscribed("A") == .unsubscribe(["A"]))
        #expect(some.unsubscribed("A") == nil)
        #expect(some.opened() == [.subscribe(["B"])])
        #expect(some.unsubscribed("B") == .unsubscribe(["B"]))
        // An empty list of symbols is not all symbols.
        #expect(some.opened() == [])

        var all = StreamReading(symbols: [])
        #expect(all.opened() == [.subscribe([])])
        #expect(all.subscribed("X") == .subscribe(["X"]))
        #expect(all.subscribed("X") == nil)
        #expect(all.unsubscribed("Y") == .unsubscribe(["Y"]))
        #expect(all.opened() == [.subscribe([]), .subscribe(["X"]), .unsubscribe(["Y"])])
        #expect(all.subscribed("Y") == .subscribe(["Y"]))
        #expect(all.opened() == [.subscribe([]), .subscribe(["X", "Y"])])
    }

    @Test("a release is passed on for a wanted symbol only, and the position of a replay always")
    func released() throws {
        var reading = StreamReading(symbols: ["A"])
        #expect(reading.took(.released("A", since: 1), wall: 0) == .released("A", since: 1))
        #expect(reading.took(.released("B", since: 1), wall: 0) == nil)
        // The message after the next subscription is new, though there was no trade.
        let known = StreamMessage.snapshot(try self.update("A", 3, trades: 3), age: 5)
        #expect(reading.took(known, wall: 1) == known)
        #expect(reading.took(.released("A", since: 1), wall: 2) == .released("A", since: 1))
        #expect(reading.took(known, wall: 3) == known)
        let position = ReplayPosition(start: 0, end: 2, at: 1, speed: 1)
        #expect(reading.took(.replay(position), wall: 0) == .replay(position))
    }

    @Test("a price that was held back at a release is passed on, and again after the next subscription")
    func heldBack() throws {
        var reading = StreamReading(symbols: [])
        _ = reading.opened()
        _ = reading.took(self.hello(7, 10), wall: 1)
        let held = try self.update("A", 11, trades: 3)
        let known = StreamMessage.snapshot(held, age: 5)
        for wall in Int64(2)...3 {
            #expect(reading.took(.released("A", since: 1), wall: wall) == .released("A", since: 1))
            #expect(reading.took(.price(held), wall: wall) == .price(held))
            #expect(reading.position?.sequence == 11)
            // The receiver of the release has ignored that price.
            #expect(reading.took(known, wall: wall) == known)
        }
        // The receiver knows the price now.
        #expect(reading.took(known, wall: 4) == .trades(held.summary))
    }

    @Test("the trades of a break bring back no symbol without a subscription")
    func releasedInBreak() throws {
        var reading = StreamReading(symbols: [], takesEveryTrade: true)
        _ = reading.opened()
        _ = reading.took(self.hello(7, 10), wall: 1)
        _ = reading.opened()
        _ = reading.took(self.hello(7, 20), wall: 2)
        _ = reading.took(.released("A", since: 1), wall: 2)
        guard case .price? = reading.took(try self.trade("A", 12, price: "1"), wall: 3) else {
            Issue.record("told as a symbol that is asked for")
            return
        }
        guard case .snapshot? = reading.took(try self.trade("B", 13, price: "1"), wall: 3) else {
            Issue.record("no trade of the break")
            return
        }
        #expect(reading.position?.sequence == 13)
        _ = reading.took(.symbol(SymbolStatus(symbol: "A", state: .asked, since: 0)), wall: 3)
        guard case .snapshot? = reading.took(try self.trade("A", 14, price: "1"), wall: 3) else {
            Issue.record("no trade of one that is asked for again")
            return
        }
    }

    @Test("messages about a symbol that is no longer wanted are dropped, even if they were on their way")
    func late() throws {
        var reading = StreamReading(symbols: ["A", "B"])
        _ = reading.unsubscribed("A")
        #expect(reading.took(.price(try self.update("A", 1, trades: 1)), wall: 0) == nil)
        #expect(reading.took(.snapshot(try self.update("A", 1, trades: 1)), wall: 0) == nil)
        #expect(reading.took(.symbol(SymbolStatus(symbol: "A", state: .live, since: 0)), wall: 0) == nil)
        #expect(reading.took(.price(try self.update("B", 2, trades: 1)), wall: 0) != nil)
    }

    @Test("after a break a known price is dropped, and a new one says how many trades were left out")
    func snapshots() throws {
        var reading = StreamReading(symbols: [])
        _ = reading.opened()
        _ = reading.took(self.hello(7, 0), wall: 0)
        _ = reading.took(.snapshot(try self.update("A", 3, trades: 3), age: 5), wall: 1)
        _ = reading.took(.price(try self.update("B", 9, trades: 2)), wall: 2)
        _ = reading.opened()
        _ = reading.took(self.hello(7, 20), wall: 9)
        let same = try self.update("A", 3, trades: 3)
        #expect(reading.took(.snapshot(same, age: 8), wall: 9) == .trades(same.summary))
        // Two of its trades came after the break, and one before it was held back: the relay counts two.
        let next = reading.took(.snapshot(try self.update("B", 20, trades: 5, skipped: 2), age: 1), wall: 9)
        #expect(next == .snapshot(try self.update("B", 20, trades: 5, skipped: 2), age: 1))
        // A symbol that was never seen counts from the position.
        let new = reading.took(.snapshot(try self.update("C", 15, trades: 90, skipped: 4), age: 1), wall: 9)
        #expect(new == .snapshot(try self.update("C", 15, trades: 90, skipped: 3), age: 1))
    }

    @Test("a relay with a new epoch reports a gap, which begins at its last message")
    func gap() throws {
        var reading = StreamReading(symbols: ["A"])
        _ = reading.opened()
        _ = reading.took(self.hello(7, 5), wall: 100)
        _ = reading.took(.price(try self.update("A", 6, trades: 6)), wall: 2_000)
        _ = reading.opened()
        _ = reading.took(self.hello(8, 2), wall: 9_000)
        let reported = Gap(from: 8_900, to: 8_900, reason: "no such number", nextSequence: 1, epoch: 8, cause: .other)
        guard case .gap(let gap)? = reading.took(.gap(reported), wall: 9_000) else {
            Issue.record("no gap")
            return
        }
        #expect(gap.from == 2_000 && gap.to == 8_900)
        #expect(gap.reason.hasPrefix("the link to the relay was lost") && gap.reason.hasSuffix("no such number"))
        // The counts of the old epoch mean nothing in the new one.
        let first = reading.took(.snapshot(try self.update("A", 2, trades: 7, skipped: 2), age: 1), wall: 9_000)
        #expect(first == .snapshot(try self.update("A", 2, trades: 7, skipped: 1), age: 1))
        let end = StreamResumed(position: TapePosition(epoch: 8, sequence: 2), trades: 2, isComplete: false)
        _ = reading.took(.resumed(end), wall: 9_000)
        #expect(reading.position == end.position)
    }

    @Test("a new epoch of the tape on one connection moves the position")
    func renewal() throws {
        var reading = StreamReading(symbols: ["A"])
        _ = reading.opened()
        _ = reading.took(self.hello(7, 500), wall: 0)
        let gap = Gap(from: 1, to: 1, reason: "new epoch", nextSequence: 1, epoch: 8, overlap: 0)
        #expect(reading.took(.gap(gap), wall: 2) == .gap(gap))
        #expect(reading.position == TapePosition(epoch: 8, sequence: 0))
        _ = reading.took(.price(try self.update("A", 1, trades: 1)), wall: 2)
        #expect(reading.opened() == [.subscribe(["A"], since: TapePosition(epoch: 8, sequence: 1))])
    }

    // MARK: Every trade

    private func trade(_ symbol: String, _ sequence: UInt64, price: String, size: String = "2") throws -> StreamMessage
    {
        .trade(
            StreamTrade(
                symbol: symbol,
                sequence: sequence,
                price: try #require(ExactDecimal(price)),
                size: try #require(ExactDecimal(size)),
                exchangeTime: Int64(sequence),
                received: Int64(sequence) * 1_000
            )
        )
    }

    @Test("a trade of a break that is ahead shows its price and makes no later one late", arguments: [false, true])
    func ahead(isFirst: Bool) throws {
        var reading = StreamReading(symbols: ["A"], takesEveryTrade: true)
        _ = reading.opened()
        _ = reading.took(self.hello(7, 10), wall: 1)
        if !isFirst { _ = reading.took(.snapshot(try self.update("A", 10, trades: 4), age: 100), wall: 600) }
        _ = reading.opened()
        _ = reading.took(self.hello(7, 13), wall: 20_000)
        func price(_ sequence: UInt64, _ price: String, time: Int64, isAhead: Bool = false) throws -> SymbolSummary? {
            guard case .trade(var trade) = try self.trade("A", sequence, price: price) else { return nil }
            trade.exchangeTime = time
            trade.isAhead = isAhead
            guard case .snapshot(let update, _)? = reading.took(.trade(trade), wall: 20_000) else { return nil }
            return update.summary
        }
        let ahead = try #require(try price(11, "105", time: 1 << 60, isAhead: true))
        #expect(ahead.price.description == "105" && ahead.exchangeTime < 1 << 59)
        let next = try #require(try price(12, "99", time: ahead.exchangeTime - (isFirst ? 1 : 0)))
        #expect(next.price.description == "99" && next.sequence == 12)
    }

    @Test("trades of ever new symbols that are ahead take bounded memory")
    func aheadOfMany() throws {
        var reading = StreamReading(symbols: [], takesEveryTrade: true)
        _ = reading.opened()
        _ = reading.took(self.hello(7, 10), wall: 1)
        guard case .trade(var trade) = try self.trade("A", 11, price: "1") else { return }
        trade.isAhead = true
        for number in 0..<SymbolTable.capacity + 500 {
            trade.symbol = "S\(number)"
            trade.sequence += 1
            #expect(reading.took(.trade(trade), wall: 2) != nil)
        }
        #expect(reading.moved.count == SymbolTable.capacity)
    }

    private func resumed(_ epoch: UInt64, _ sequence: UInt64, isComplete: Bool = true) -> StreamMessage {
        let position = TapePosition(epoch: epoch, sequence: sequence)
        return .resumed(StreamResumed(position: position, trades: 1, isComplete: isComplete))
    }

    @Test(
        "a reader for charts gets every trade of a break once, with its age and the sums, and then settled prices again"
    )
    func everyTrade() throws {
        var reading = StreamReading(symbols: ["A"], takesEveryTrade: true)
        #expect(reading.opened() == [.subscribe(["A"])])
        _ = reading.took(self.hello(7, 10), wall: 1)
        // The relay's clock is 500 ns behind ours.
        let known = try self.update("A", 10, trades: 4)
        #expect(reading.took(.snapshot(known, age: 100), wall: 600) == .snapshot(known, age: 100))
        let since = TapePosition(epoch: 7, sequence: 10)
        #expect(reading.opened() == [.overflow(.latest), .subscribe(["A"], delivery: .all, since: since)])
        _ = reading.took(self.hello(7, 13), wall: 20_000)
        guard case .snapshot(let first, let age)? = reading.took(try self.trade("A", 11, price: "99"), wall: 20_000)
        else {
            Issue.record("no trade")
            return
        }
        #expect(age == 20_000 - 500 - 11_000 && first.skipped == 0)
        #expect(first.summary.low == ExactDecimal("99") && first.summary.high == known.summary.high)
        #expect(first.summary.trades == 5 && first.summary.volume == ExactSum("2"))
        #expect(first.summary.open == known.summary.open)
        // A price update is not a trade, and an unwanted symbol is left out.
        #expect(reading.took(try self.trade("B", 12, price: "1"), wall: 20_000) == nil)
        guard
            case .snapshot(let second, _)? = reading.took(
                try self.trade("A", 13, price: "500", size: "0"),
                wall: 20_000
            )
        else {
            Issue.record("no trade")
            return
        }
        #expect(second.summary.trades == 5 && second.summary.high == ExactDecimal("500"))
        #expect(reading.takeRequests() == [])
        _ = reading.took(self.resumed(7, 13), wall: 20_001)
        // The new subscription brings a snapshot with what was held back of other symbols before the break.
        #expect(reading.takeRequests() == [.unsubscribe(["A"]), .subscribe(["A"], delivery: .latest)])
        #expect(reading.takeRequests() == [])
        // A trade from before the relay's switch is passed on as it comes, and so are prices.
        guard case .price(let live)? = reading.took(try self.trade("A", 14, price: "501"), wall: 20_002) else {
            Issue.record("no price")
            return
        }
        #expect(live.summary.trades == 6)
        let next = try self.update("A", 15, trades: 7)
        #expect(reading.took(.price(next), wall: 20_003) == .price(next))
    }

    @Test("a link that breaks while it catches up continues after the last trade that came")
    func twice() throws {
        var reading = StreamReading(symbols: [], takesEveryTrade: true)
        _ = reading.opened()
        _ = reading.took(self.hello(7, 10), wall: 1)
        _ = reading.unsubscribed("X")
        _ = reading.opened()
        _ = reading.took(self.hello(7, 20), wall: 2)
        _ = reading.took(try self.trade("A", 12, price: "1"), wall: 3)
        let since = TapePosition(epoch: 7, sequence: 12)
        #expect(
            reading.opened() == [.overflow(.latest), .subscribe([], delivery: .all, since: since), .unsubscribe(["X"])]
        )
        _ = reading.took(self.hello(7, 20), wall: 4)
        #expect(reading.took(try self.trade("A", 12, price: "1"), wall: 5) == nil)
        #expect(reading.took(try self.trade("A", 13, price: "1"), wall: 5) != nil)
        // If not all trades are available, a new subscription brings the sums.
        _ = reading.took(self.resumed(7, 20, isComplete: false), wall: 6)
        #expect(reading.takeRequests() == [.unsubscribe([]), .subscribe([], delivery: .latest), .unsubscribe(["X"])])
    }

    @Test("trades of an epoch that ended meanwhile come before the gap, and those of the next epoch after it")
    func runs() throws {
        var reading = StreamReading(symbols: ["A"], takesEveryTrade: true)
        _ = reading.opened()
        _ = reading.took(self.hello(7, 500), wall: 1)
        _ = reading.took(.price(try self.update("A", 500, trades: 90)), wall: 2)
        _ = reading.opened()
        _ = reading.took(self.hello(8, 2), wall: 3)
        guard case .snapshot(let old, _)? = reading.took(try self.trade("A", 501, price: "3"), wall: 4) else {
            Issue.record("no trade of the old run")
            return
        }
        #expect(old.summary.trades == 91)
        let gap = Gap(from: 1, to: 2, reason: "a restart", nextSequence: 1, epoch: 8, overlap: 0)
        #expect(reading.took(.gap(gap), wall: 5) == .gap(gap))
        guard case .snapshot(let new, _)? = reading.took(try self.trade("A", 1, price: "4"), wall: 6) else {
            Issue.record("no trade of the new run")
            return
        }
        #expect(new.summary.trades == 1 && new.summary.open == ExactDecimal("4"))
        #expect(reading.position == TapePosition(epoch: 8, sequence: 1))
    }

    @Test("a refusal that names a symbol becomes the symbol's state, once; any other error is the relay's")
    func refusals() throws {
        var reading = StreamReading(symbols: ["A"])
        _ = reading.opened()
        let text = "Invalid symbol A"
        let refused = SymbolStatus(symbol: "A", state: .refused(.noSuchSymbol, retryAt: 5), since: 5, reason: text)
        #expect(reading.took(.error(text), wall: 5) == .symbol(refused))
        #expect(reading.took(.error(text), wall: 6) == nil)
        #expect(reading.took(.error("slow down"), wall: 7) == .error("slow down"))
        // The symbol is accepted at last, and refused again.
        _ = reading.took(.symbol(SymbolStatus(symbol: "A", state: .live, since: 8)), wall: 8)
        #expect(reading.took(.error(text), wall: 5) == .symbol(refused))
        // The relay has reported the state itself.
        _ = reading.took(.symbol(refused), wall: 9)
        #expect(reading.took(.error(text), wall: 9) == nil)
    }

    @Test("a reader that wants no symbol subscribes to nothing, and gets the status and gaps")
    func nothing() throws {
        var reading = StreamReading.ofNothing
        #expect(reading.opened().isEmpty)
        #expect(reading.took(self.hello(7, 10), wall: 1) == self.hello(7, 10))
        let gap = Gap(from: 1, to: 2, reason: "cut", nextSequence: 11, epoch: 7)
        #expect(reading.took(.gap(gap), wall: 2) == .gap(gap))
        #expect(reading.took(.price(try self.update("A", 12, trades: 3)), wall: 3) == nil)
        #expect(reading.opened().isEmpty)
    }
}
