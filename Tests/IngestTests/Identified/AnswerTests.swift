import Logging
import Market
import NIOCore
import Testing
import TickertapeTesting
import Wire
@testable import Ingest

extension NumberedFeed {
    /// Takes an exchange with Binance's REST service, whose answer has these trades; each has its id as its time in ms.
    func answer(_ ids: UInt64..., of symbol: String = "BTCUSDT", at second: Int64? = nil) {
        let trades = ids.map { id in
            #"{"id":\#(id),"price":"4.5","qty":"1","quoteQty":"4.5","time":\#(id),"isBuyerMaker":true,"isBestMatch":true}"#
        }
        self.answer("[\(trades.joined(separator: ","))]", of: symbol, at: second)
    }

    func answer(_ body: String, of symbol: String = "BTCUSDT", at second: Int64? = nil) {
        self.second = second ?? self.second
        let target = "/api/v3/historicalTrades?symbol=\(symbol)&fromId=1&limit=1000"
        let exchange = VenueExchange(target: target, body: ByteBuffer(string: body))
        self.input.take(answer: exchange.frame, of: .binanceREST, now: self.now)
    }
}

@Suite("The answer of a REST service")
struct AnswerTests {
    private let feed = NumberedFeed(symbols: ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT"])

    /// The trades on the tape, without the symbol if that is the first one.
    private var trades: [String] { self.feed.trades.map { $0.replacing("BINANCE:BTCUSDT:", with: "") } }

    private func read(_ ids: String..., at second: Int64? = nil) {
        self.feed.second = second ?? self.feed.second
        for id in ids { self.feed.say("BINANCE:BTCUSDT:\(id)") }
        self.feed.input.endRead(wall: self.feed.now.wall)
    }

    @Test("fills the holes, with numbers of the tape, and leaves out all other trades uncounted")
    func fills() {
        self.read("5", "9", "12")
        // From before the first one, seen, missing, seen, missing, and beyond the newest.
        self.feed.answer(3, 5, 6, 7, 8, 9, 10, 12, 13, 14)
        #expect(self.trades == ["5", "9", "12", "6+", "7+", "8+", "10+"])
        #expect(self.feed.log.contents.sequences == Array(1...7))
        let frame = self.feed.frames.frames.last
        #expect(frame?.dialect == .binanceREST && frame?.leftOut == [0, 1, 5, 7, 8, 9] && frame?.isWhole == false)
        #expect(self.feed.frames.losses == TapeBatch.Losses() && self.feed.frames.repeated.isEmpty)
        #expect(self.feed.input.missing.flatMap(\.ids) == [11...11])
        // They come live, and those that were filled are repeats then.
        self.read("13", "10", "14")
        #expect(self.trades.suffix(2) == ["13", "14"])
        #expect(self.feed.frames.repeated == [10])
        #expect(self.feed.log.contents.gaps.count == 2)
    }

    @Test("is no sign of life, and changes no status")
    func aside() {
        self.read("5", "9", at: 10)
        let (live, ends, received) = (self.feed.live, self.feed.ends.count, self.feed.input.lastReceived)
        self.feed.answer(6, 7, 8, at: 20)
        #expect(self.feed.live == live && self.feed.ends.count == ends && self.feed.input.readAt == nil)
        #expect(self.feed.input.lastReceived == received)
        #expect(self.feed.log.contents.order.suffix(2) == ["read 3", "settled"])
    }

    @Test("ends a read that is under way, so that nothing comes twice")
    func amidRead() {
        self.read("5", "9")
        self.feed.say("BINANCE:BTCUSDT:7")
        self.feed.say("BINANCE:BTCUSDT:10")
        self.feed.answer(6, 7, 10)
        self.feed.input.endRead(wall: self.feed.now.wall)
        #expect(self.trades == ["5", "9", "7+", "10", "6+"])
        #expect(self.feed.ends.count == 2)
    }

    @Test("gives no symbol a number, and nothing to one that is not subscribed")
    func otherSymbols() {
        self.read("5", "9")
        self.feed.answer(6, of: "NEWUSDT")
        #expect(self.feed.log.contents.symbols.names == ["BINANCE:BTCUSDT"])
        self.feed.input.symbols = ["BINANCE:ETHUSDT"]
        self.feed.answer(6)
        #expect(self.trades == ["5", "9"])
        // A frame that was under way still may bring it.
        self.read("7")
        #expect(self.trades == ["5", "9", "7+"])
    }

    @Test("that is no list of trades is on the tape as a frame that could not be read")
    func malformed() {
        self.read("5", "9")
        self.feed.answer("<html>busy</html>")
        #expect(self.feed.frames.frames.last?.isMalformed == true && self.trades.count == 2)
        #expect(self.feed.frames.losses.malformedFrames == 1 && self.feed.input.missing.count == 1)
        // A message of a connection is no answer.
        self.feed.input.take(answer: ByteBuffer(string: "[]"), of: .binance, now: self.feed.now)
        #expect(self.feed.frames.frames.count == 3)
    }

    @Test("teaches nothing about the clocks, but its trades from the future are marked")
    func clocks() {
        // The mock's clock begins 5,000 s after 1970: an id is a time in ms.
        for second in 0..<Int64(ArrivalCheck.window) {
            self.read("\(100 + second)@\((5_010 + second) * oneSecond + 8 * oneSecond)", at: 10 + second)
        }
        let offset = self.feed.log.contents.clockOffsets.last
        #expect(offset == 8 * oneSecond)
        self.read("200@\(5_040 * oneSecond)", at: 40)
        self.feed.answer(120, 121, 122, at: 41)
        self.feed.answer("[\(#"{"id":130,"price":"1","qty":"1","time":\#(5_100_000)}"#)]", at: 42)
        #expect(self.feed.log.contents.clockOffsets.suffix(2) == [8 * oneSecond, 8 * oneSecond])
        #expect(self.feed.log.contents.trades.last?.marks == [.filled, .ahead])
        #expect(self.feed.frames.aheadArrivals.last == (5_042 + 8) * oneSecond)
    }

    @Test("fills what was lost for good, if a later answer has it")
    func lost() {
        self.read("5", "9")
        self.feed.input.giveUp(6...8, of: "BINANCE:BTCUSDT", reason: "none", now: self.feed.now)
        self.feed.answer(6, 7, 7)
        #expect(self.trades == ["5", "9", "6+", "7+"])
        #expect(self.feed.log.contents.outcomes.count == 1)
    }

    @Test("means nothing to a feed whose trades have no ids")
    func withoutIDs() {
        let log = TapeLog()
        let tape = TapeWriter(epoch: 1, readers: [log])
        let input = FeedInput(
            tape,
            FeedInput.Settings(name: "finnhub"),
            status: FeedStatus(source: .live, phase: .live, since: 1),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        input.take(answer: ByteBuffer(string: "/api\n[]"), of: .binanceREST, now: self.feed.now)
        input.giveUp(1...2, of: "BTC", reason: "none", now: self.feed.now)
        #expect(log.contents.order.isEmpty)
    }
}
