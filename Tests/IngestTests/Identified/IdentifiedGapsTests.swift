import Logging
import Market
import NIOCore
import Testing
import TickertapeTesting
import Wire
@testable import Ingest

/// A feed of Finnhub's, whose trades have no ids.
private final class UnnumberedFeed {
    static let symbol = "BINANCE:BTCUSDT"

    let log = TapeLog()
    let frames = NumberedFeed.FrameLog()
    let outcomes = OutcomeLog()
    let tape: TapeWriter
    let input: FeedInput
    var second: Int64 = 1_000

    final class OutcomeLog: TapeReader, @unchecked Sendable {
        private(set) var texts: [String] = []
        func read(_ batch: TapeBatch) {}
        func statusChanged(_ status: FeedStatus) {}
        func gapFound(_ gap: Gap) {}
        func gapSettled(_ outcome: GapOutcome) {
            let lost = outcome.lost.map { " lost \($0.lowerBound)-\($0.upperBound)" }.joined()
            let times = "\(outcome.from)...\(outcome.to)"
            self.texts.append(
                "\(outcome.missing.map { "\($0.lowerBound)-\($0.upperBound)" } ?? "none")\(lost)"
                    + "\(outcome.reason.map { ": \($0)" } ?? "") (\(times))"
            )
        }
    }

    init(marks: FrameMarks? = nil) {
        self.tape = TapeWriter(epoch: 7, readers: [self.log, self.frames, self.outcomes])
        self.input = FeedInput(
            self.tape,
            FeedInput.Settings(name: "Finnhub", isLive: marks == nil, marks: marks),
            status: FeedStatus(source: .live, phase: .live, since: 1),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        self.input.symbols = [Self.symbol]
        self.input.connectionOpened(now: self.now)
    }

    var now: Moment { Moment(monotonic: self.second * oneSecond, wall: (5_000 + self.second) * oneSecond) }

    /// Takes a read of one frame with trades of these times, ms.
    func read(_ times: Int64..., size: String = "1") {
        let trades = times.map { #"{"p":4.5,"s":"\#(Self.symbol)","t":\#($0),"v":\#(size)}"# }
        let text = #"{"data":[\#(trades.joined(separator: ","))],"type":"trade"}"#
        if self.input.hasDueMarks { self.input.obeyMarks(now: self.now) }
        self.input.take(ByteBuffer(string: text), of: .finnhub, now: self.now.monotonic) { frame, symbols, trades in
            var reader = FrameReader()
            return reader.read(frame, of: .finnhub, symbols: &symbols, into: &trades)
        }
        self.input.endRead(wall: self.now.wall)
    }

    /// Returns an exchange with Binance's REST service, whose trades have their ids as their times in ms.
    static func exchange(_ ids: [UInt64], of symbol: String = "BTCUSDT") -> ByteBuffer {
        let trades = ids.map { id in
            #"{"id":\#(id),"price":"4.5","qty":"1","quoteQty":"4.5","time":\#(id),"isBuyerMaker":true,"isBestMatch":true}"#
        }
        let target = "/api/v3/historicalTrades?symbol=\(symbol)&fromId=1&limit=1000"
        return VenueExchange(target: target, body: ByteBuffer(string: "[\(trades.joined(separator: ","))]")).frame
    }

    func answer(_ ids: UInt64..., of symbol: String = "BTCUSDT") {
        self.input.take(answer: Self.exchange(ids, of: symbol), of: .binanceREST, now: self.now)
    }

    func identify(_ missing: ClosedRange<UInt64>..., lost: [ClosedRange<UInt64>] = [], reason: String? = nil) {
        self.input.gapIdentified(
            IdentifiedGap(
                symbol: Self.symbol,
                from: 50,
                to: 60,
                after: 3_000_000,
                missing: missing,
                lost: lost,
                reason: reason
            )
        )
    }
}

@Suite("The gaps of a feed without ids")
struct IdentifiedGapsTests {
    private let feed = UnnumberedFeed()

    private var trades: [String] { self.feed.frames.trades.map { $0.replacing("\(UnnumberedFeed.symbol):", with: "") } }

    @Test("are filled with the trades that were named, which have numbers of the tape, and nothing else")
    func filled() {
        self.feed.read(3)
        self.feed.read(9)
        self.feed.identify(4...6, 8...8)
        #expect(
            self.feed.input.missing == [
                MissingTrades(
                    symbol: UnnumberedFeed.symbol,
                    holes: [.init(ids: 4...6, after: 3_000_000), .init(ids: 8...8, after: 3_000_000)]
                )
            ]
        )
        self.feed.second += 1
        let received = self.feed.input.lastReceived
        self.feed.answer(3, 4, 5, 6, 7, 9)
        #expect(self.trades == ["0", "0", "4+", "5+", "6+"])
        #expect(self.feed.log.contents.sequences == [1, 2, 3, 4, 5])
        let frame = self.feed.frames.frames.last
        #expect(frame?.dialect == .binanceREST && frame?.leftOut == [0, 4, 5])
        #expect(self.feed.input.lastReceived == received)
        // The outcome comes with the last of them.
        #expect(self.feed.outcomes.texts.isEmpty)
        self.feed.answer(8)
        #expect(self.feed.outcomes.texts == ["4-6 (50...60)", "8-8 (50...60)"])
        #expect(self.feed.input.missing.isEmpty)
        #expect(self.feed.frames.losses == TapeBatch.Losses())
    }

    @Test("are lost with a reason: what the exchange has not, what the other source lacks, and an unsubscribed symbol")
    func lost() {
        self.feed.read(3)
        self.feed.identify(4...6, lost: [7...9], reason: "too late")
        self.feed.answer(4, 5)
        self.feed.input.giveUp(0 ... .max, of: "BINANCE:ETHUSDT", reason: "not this one", now: self.feed.now)
        #expect(self.feed.outcomes.texts.isEmpty)
        self.feed.input.giveUp(6...6, of: UnnumberedFeed.symbol, reason: "the venue has it no more", now: self.feed.now)
        #expect(self.feed.outcomes.texts == ["4-9 lost 6-9: the venue has it no more (50...60)"])
        self.feed.identify(lost: [12...13], reason: "too late")
        #expect(self.feed.outcomes.texts.last == "12-13 lost 12-13: too late (50...60)")
        self.feed.identify(20...21, 25...26)
        self.feed.answer(20, 21)
        self.feed.input.symbols = []
        // Readers take the first outcome of a gap for what became of it.
        #expect(
            self.feed.outcomes.texts.suffix(2) == [
                "25-26 lost 25-26: the symbol was unsubscribed (50...60)", "20-21 (50...60)",
            ]
        )
    }

    @Test("in which nothing is missing have one outcome without ids, at once")
    func whole() {
        self.feed.read(3)
        self.feed.identify()
        #expect(self.feed.outcomes.texts == ["none (50...60)"] && self.feed.input.missing.isEmpty)
    }

    @Test("put nothing on the tape of an answer that has none of their trades")
    func foreign() {
        self.feed.read(3)
        self.feed.identify(4...6)
        let frames = self.feed.frames.frames.count
        self.feed.answer(4, 5, 6, of: "ETHUSDT")
        self.feed.answer(7, 8)
        self.feed.answer()
        #expect(self.feed.frames.frames.count == frames)
        self.feed.read(10)
        #expect(self.feed.log.contents.sequences == [1, 2])
        self.feed.answer(4, 5, 6)
        #expect(self.feed.log.contents.sequences == [1, 2, 3, 4, 5])
    }

    @Test("are no business of a symbol that is not subscribed, and filled trades none of the comparison after a cut")
    func apart() {
        self.feed.input.symbols = ["BINANCE:ETHUSDT"]
        self.feed.identify(4...6)
        #expect(self.feed.input.missing.isEmpty && self.feed.outcomes.texts.isEmpty)
        self.feed.input.symbols = [UnnumberedFeed.symbol]
        self.feed.read(2)
        self.feed.read(3)
        self.feed.identify(4...4)
        self.feed.answer(4)
        self.feed.input.interrupted(from: 1, reason: "cut", cause: .lost)
        self.feed.input.connectionOpened(now: self.feed.now)
        // A trade like the filled one is new: only trades of the connection may come again.
        self.feed.read(4)
        #expect(self.trades == ["0", "0", "4+", "0"] && self.feed.frames.losses.possibleRepeats == 0)
    }

    @Test("are filled in a replay as the recording says")
    func replayed() {
        let marks = FrameMarks()
        let replay = UnnumberedFeed(marks: marks)
        let outcome = GapOutcome(symbol: UnnumberedFeed.symbol, missing: 4...5, from: 50, to: 60)
        let places = FramePlaces(leftOut: [0], filled: [1, 2])
        replay.input.connectionOpened(port: 1, now: replay.now)
        marks.post(.judged(true), after: 1, on: 1)
        marks.post(.answer(UnnumberedFeed.exchange([3, 4, 5]), .binanceREST, places), after: 1, on: 1)
        marks.post(.settled(outcome), after: 1, on: 1)
        replay.read(3)
        replay.read(9)
        #expect(
            replay.frames.trades.map { $0.replacing("\(UnnumberedFeed.symbol):", with: "") } == ["0", "4+", "5+", "0"]
        )
        #expect(replay.outcomes.texts == ["4-5 (50...60)"])
        #expect(replay.frames.frames.map(\.leftOut) == [[], [0], []])
    }
}
