import Logging
import Market
import NIOCore
import TickertapeTesting
import Wire
@testable import Ingest

/// A feed of an invented dialect whose trades have ids: a frame such as `BTC:5 BTC:6~` has two trades, the second from
/// before the subscription. A trade's exchange time is its id in ms, or what stands after `@`.
final class NumberedFeed: FeedInputDelegate {
    let log = TapeLog()
    let tape: TapeWriter
    let input: FeedInput
    /// The ids of the trades that changed the status, and what the end of each read said.
    private(set) var live: [UInt64] = []
    private(set) var ends: [(hasTrades: Bool, hasChanges: Bool)] = []
    /// The ids that were missing each time when holes were found.
    private(set) var found: [[ClosedRange<UInt64>]] = []
    let frames = FrameLog()
    var second: Int64 = 1_000

    /// A reader that records what frames say, and the trades of all epochs.
    final class FrameLog: TapeReader, @unchecked Sendable {
        private(set) var batches: [TapeBatch] = []
        private(set) var frames: [TapeBatch.Frame] = []
        private(set) var trades: [String] = []
        private(set) var losses = TapeBatch.Losses()
        private(set) var repeated: [UInt64] = []
        private(set) var aheadArrivals: [Int64] = []

        func read(_ batch: TapeBatch) {
            self.batches.append(batch)
            self.frames += batch.frames
            self.trades += batch.trades.map { trade in
                let mark = trade.marks.contains(.filled) ? "+" : ""
                return "\(batch.symbols.name(of: trade.symbol)):\(trade.id ?? 0)\(mark)"
            }
            self.repeated += batch.repeated.compactMap(\.id)
            self.aheadArrivals += [batch.aheadArrival].compactMap(\.self)
            self.losses.malformedFrames += batch.losses.malformedFrames
            self.losses.repeatedTrades += batch.losses.repeatedTrades
            self.losses.possibleRepeats += batch.losses.possibleRepeats
            self.losses.repeatedFrames += batch.losses.repeatedFrames
        }
        func statusChanged(_ status: FeedStatus) {}
        func gapFound(_ gap: Gap) {}
    }

    init(symbols: [String] = ["BTC", "ETH"], marks: FrameMarks? = nil) {
        self.tape = TapeWriter(epoch: 7, readers: [self.log, self.frames])
        self.input = FeedInput(
            self.tape,
            FeedInput.Settings(name: "venue", repeats: .identified, isLive: marks == nil, marks: marks),
            status: FeedStatus(source: .live, phase: .live, since: 1),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        self.input.symbols = symbols
        self.input.delegate = self
        self.input.connectionOpened(now: self.now)
    }

    var now: Moment { Moment(monotonic: self.second * oneSecond, wall: (5_000 + self.second) * oneSecond) }

    func tradesArrived(_ trades: [Trade], symbols: SymbolTable, now: Moment) -> Bool {
        self.live += trades.compactMap(\.id)
        return false
    }

    func publishChanges() {}
    func readEnded(hasTrades: Bool, hasChanges: Bool, now: Moment) { self.ends.append((hasTrades, hasChanges)) }
    func pauseChanged(_ isPaused: Bool, now: Moment) {}
    func holesFound(now: Moment) { self.found.append(self.input.missing.flatMap(\.ids)) }

    /// Takes one frame of the current read.
    func say(_ text: String) {
        if self.input.hasDueMarks { self.input.obeyMarks(now: self.now) }
        self.input.take(ByteBuffer(string: text), of: .binance, now: self.now.monotonic) { _, symbols, trades in
            for word in text.split(separator: " ") {
                // The symbol may have a colon itself.
                guard let colon = word.lastIndex(of: ":") else { return .malformed }
                let parts = [word[..<colon], word[word.index(after: colon)...]]
                let isEarlier = word.hasSuffix("~")
                let numbers = (isEarlier ? parts[1].dropLast() : parts[1]).split(separator: "@")
                guard let id = UInt64(numbers[0]), let symbol = symbols.intern(String(parts[0])) else {
                    return .malformed
                }
                let time = numbers.count > 1 ? Int64(numbers[1]) ?? 0 : Int64(clamping: id)
                trades.append(
                    Trade(
                        price: .zero,
                        size: .zero,
                        exchangeTime: time,
                        symbol: symbol,
                        id: id,
                        marks: isEarlier ? .filled : []
                    )
                )
            }
            return .trades(skipped: 0)
        }
    }

    /// Takes a whole read of several frames.
    func read(_ frames: String..., at second: Int64? = nil) {
        self.second = second ?? self.second
        for frame in frames { self.say(frame) }
        self.input.endRead(wall: self.now.wall)
    }

    func cut(_ reason: String = "reset", cause: FeedStatus.Cause = .lost) {
        self.input.interrupted(from: self.input.lastReceived, reason: reason, cause: cause)
    }

    func reconnect() {
        self.input.connectionAttempted()
        self.input.connectionOpened(now: self.now)
    }

    func passTime(to second: Int64) {
        self.second = second
        self.input.timePassed(patience: oneSecond, now: self.now)
    }

    /// The trades on the tape, such as `BTC:5`, with `+` if filled.
    var trades: [String] { self.frames.trades }

    var reasons: [String] { self.log.contents.gaps.map { "\($0.symbol ?? "all"): \($0.reason)" } }
}
