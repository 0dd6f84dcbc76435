import Logging
import Market
import NIOCore
import Testing
import TickertapeTesting
import Wire
@testable import Ingest

/// A feed of an invented dialect, in which each frame is `SYMBOL PRICE`, with `filled` behind it for a filled trade.
private final class ToyFeed: FeedInputDelegate {
    let input: FeedInput

    init(_ name: String, symbols: [String], _ tape: TapeWriter) {
        self.input = FeedInput(
            tape,
            FeedInput.Settings(name: name),
            status: FeedStatus(source: .live, phase: .waiting, since: 1),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        self.input.symbols = symbols
        self.input.delegate = self
        self.input.connectionOpened(now: Moment(monotonic: 0, wall: 1))
    }

    func tradesArrived(_ trades: [Trade], symbols: SymbolTable, now: Moment) -> Bool {
        guard self.input.status.phase != .live || self.input.isInterrupted else { return false }
        self.change(.live)
        return true
    }

    func publishChanges() {}
    func readEnded(hasTrades: Bool, hasChanges: Bool, now: Moment) {}
    func pauseChanged(_ isPaused: Bool, now: Moment) {}

    func change(_ phase: FeedStatus.Phase, reason: String? = nil) {
        (self.input.status.phase, self.input.status.reason) = (phase, reason)
        self.input.statusChanged()
    }

    /// Takes one frame of the current read.
    func say(_ text: String, at second: Int64 = 1) {
        self.input.take(ByteBuffer(string: text), of: .tickertape, now: second * oneSecond) { _, symbols, trades in
            let words = text.split(separator: " ")
            guard words.count > 1, let price = ExactDecimal(String(words[1])) else { return .malformed }
            guard let symbol = symbols.intern(String(words[0])) else { return .trades(skipped: 1) }
            let marks: TradeMarks = words.last == "filled" ? [.filled] : []
            trades.append(Trade(price: price, size: .zero, exchangeTime: 1, symbol: symbol, marks: marks))
            return .trades(skipped: 0)
        }
    }

    /// Takes a whole read of one frame, at a second of the wall clock.
    func read(_ text: String, at second: Int64 = 1) {
        self.say(text, at: second)
        self.input.endRead(wall: second * oneSecond)
    }
}

@Suite("Two feeds on one tape")
struct TwoFeedsTests {
    private let log = TapeLog()
    private let tape: TapeWriter
    private let first: ToyFeed
    private let second: ToyFeed

    init() {
        self.tape = TapeWriter(epoch: 7, readers: [self.log])
        self.first = ToyFeed("first", symbols: ["BTC", "ETH"], self.tape)
        self.second = ToyFeed("second", symbols: ["EUR"], self.tape)
    }

    @Test("the trades of both have the numbers of one epoch, and frames their dialect")
    func numbers() {
        self.first.read("BTC 1")
        self.second.read("EUR 2")
        self.first.read("ETH 3")
        #expect(self.log.contents.lines == ["BTC 1 0", "EUR 2 0", "ETH 3 0"])
        #expect(self.log.contents.sequences == [1, 2, 3])
    }

    @Test("a filled trade of another program's tape is no sign of life, and ends no gap")
    func filled() {
        self.first.input.interrupted(from: 1, reason: "lost", cause: .lost)
        self.first.read("BTC 1 filled")
        #expect(self.first.input.status.phase == .waiting && self.first.input.isInterrupted)
        #expect(self.log.contents.lines == ["BTC 1 0"])
        self.first.say("BTC 2 filled", at: 2)
        self.first.read("BTC 3", at: 2)
        #expect(self.first.input.status.phase == .live && !self.first.input.isInterrupted)
        #expect(self.log.contents.sequences == [1, 2, 3])
    }

    @Test("a read that has not ended does not mix with the other feed's")
    func apart() {
        self.first.say("BTC 1")
        self.second.read("EUR 2")
        #expect(self.log.contents.lines == ["EUR 2 0"])
        self.first.read("ETH 3")
        #expect(self.log.contents.lines == ["EUR 2 0", "BTC 1 0", "ETH 3 0"])
        #expect(self.log.contents.order == ["read 1", "read 2"])
    }

    @Test("a feed that fails makes a gap for its symbols only, and its status stands for both until it recovers")
    func falls() {
        self.first.read("BTC 1", at: 1)
        self.second.read("EUR 2", at: 2)
        #expect(self.log.contents.statuses.last?.phase == .live)
        self.first.input.interrupted(from: oneSecond, reason: "reset", cause: .lost)
        self.first.change(.reconnecting(attempt: 1, retryAt: 9), reason: "reset")
        #expect(self.log.contents.statuses.last?.reason == "first: reset")
        self.second.read("EUR 3", at: 3)
        // A better status of the other feed does not hide the worse one.
        self.second.change(.late, reason: "no trades")
        #expect(self.log.contents.statuses.last?.word == "reconnecting")
        #expect(self.log.contents.gaps.isEmpty)
        self.first.read("ETH 4", at: 4)
        #expect(self.log.contents.gaps.map(\.symbol) == ["BTC", "ETH"])
        #expect(
            self.log.contents.gaps.allSatisfy { $0.from == oneSecond && $0.to == 4 * oneSecond && $0.nextSequence == 4 }
        )
        #expect(self.log.contents.order == ["read 1", "read 1", "read 1", "gap", "gap", "read 1"])
        #expect(self.log.contents.statuses.last?.reason == "second: no trades")
        self.second.change(.live)
        #expect(self.log.contents.statuses.last?.word == "live")
    }

    @Test("behind another program's tape each feed with symbols has one gap, which its first trade ends")
    func tookOver() {
        let idle = ToyFeed("idle", symbols: [], self.tape)
        var complete = TapeCompleteness(1)
        for symbol in ["BTC", "ETH", "CHF", "EUR"] { complete.subscribed(symbol, at: 1) }
        complete.gapFound(Gap(from: 1, to: 2, reason: "", nextSequence: 0, symbol: "BTC"))
        complete.gapFound(Gap(from: 1, to: 3, reason: "", nextSequence: 0, symbol: "CHF"))
        var source = BatchSource()
        complete.read(source.batch([Frames.trade("ETH", "1")]), at: 2)
        self.tape.tookOver(complete, reason: "taken over")
        idle.read("JPY 1", at: 3)
        #expect(self.log.contents.gaps.isEmpty)
        self.first.read("BTC 1", at: 4)
        self.second.read("EUR 2", at: 5)
        self.first.read("ETH 3", at: 6)
        let gaps = self.log.contents.gaps
        #expect(gaps.map(\.symbol) == ["BTC", "ETH", "EUR"])
        #expect(gaps.map(\.to) == [4 * oneSecond, 4 * oneSecond, 5 * oneSecond])
        #expect(gaps.map(\.from) == [2, 2, 1])
        #expect(gaps.allSatisfy { $0.reason == "taken over" && $0.cause == .replaced })
        #expect(self.log.contents.order == ["read 1", "gap", "gap", "read 1", "gap", "read 1", "read 1"])
    }

    @Test("each feed counts its own losses")
    func losses() {
        self.first.read("nonsense")
        self.second.read("EUR 2")
        #expect(self.first.input.losses.malformedFrames == 1 && self.second.input.losses.malformedFrames == 0)
        #expect(self.log.contents.losses.map(\.malformedFrames) == [1, 0])
    }

    @Test("the symbols get new numbers only when no feed is amid a read, whose trades have the old ones")
    func renewal() {
        self.first.say("BTC 1")
        for number in 1...SymbolTable.capacity - 100 { self.second.say("NAME:\(number) 1") }
        self.second.input.endRead(wall: 1)
        #expect(self.tape.epoch == 7)
        self.first.read("ETH 2")
        #expect(self.log.contents.lines.suffix(2) == ["BTC 1 0", "ETH 2 0"])
        #expect(self.tape.epoch == 8)
        self.second.read("EUR 3")
        let newest = self.log.contents
        #expect(newest.trades.last.map { newest.symbols.name(of: $0.symbol) } == "EUR" && newest.sequences.last == 1)
    }
}
