import Ingest
import Logging
import Market
import NIOCore
import NIOEmbedded
import Recordings
import TickertapeTesting
import WebSocket
import Wire
@testable import MockUpstream

/// A tape line by line: its trades with their numbers, ids and marks, and the gaps and outcomes between them.
final class TapeLines: TapeReader, @unchecked Sendable {
    private(set) var lines: [String] = []

    func read(_ batch: TapeBatch) {
        for (place, trade) in batch.trades.enumerated() {
            let name = batch.symbols.name(of: trade.symbol)
            let number = batch.firstSequence + UInt64(place)
            self.lines.append("\(number) \(name) \(trade.id ?? 0) \(trade.exchangeTime) \(trade.marks.rawValue)")
        }
    }

    func statusChanged(_ status: FeedStatus) {}

    func gapFound(_ gap: Gap) {
        let reason = gap.reason.replacing("in the recording: ", with: "")
        let missing = gap.missing.map { "\($0.lowerBound)-\($0.upperBound)" } ?? "none"
        // Recordings have whole microseconds.
        self.lines.append(
            "gap before \(gap.nextSequence): \(gap.symbol ?? "all") \(missing) \(gap.from / 1_000) \(gap.to / 1_000) \(reason)"
        )
    }

    func gapSettled(_ outcome: GapOutcome) {
        let lost = outcome.lost.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: ",")
        let missing = outcome.missing.map { "\($0.lowerBound)-\($0.upperBound)" } ?? "none"
        self.lines.append(
            "settled \(outcome.symbol) \(missing) "
                + "\(outcome.from / 1_000) \(outcome.to / 1_000) lost \(lost) \(outcome.reason ?? "")"
        )
    }
}

/// A live feed of Kraken's trades whose tape is recorded, and on which everything may go wrong.
final class RecordedSession {
    static let start: Int64 = 1_723_161_255_000_000_000
    static let symbols = ["KRAKEN:XXBTZUSD", "KRAKEN:XETHZUSD"]

    let tape = TapeLines()
    let input: FeedInput
    private let recorder: Recorder
    private let clock: Clock
    private var reader = FrameReader()
    private var table = SymbolTable()

    /// Unchecked, because only the test's thread uses it.
    private final class Clock: @unchecked Sendable {
        var monotonic: Int64 = 0
    }

    /// - Parameter epoch: the epoch of the recording; the tape's is 3.
    init(path: String, epoch: UInt64? = 3) throws {
        let clock = Clock()
        self.clock = clock
        self.recorder = try Recorder(
            path: path,
            symbols: Self.symbols,
            started: Self.start,
            program: "test",
            epoch: epoch,
            dialect: .kraken,
            source: "live",
            clock: RecorderClock(wall: { Self.start + clock.monotonic }, monotonic: { clock.monotonic }),
            isByHand: true,
            printError: { _ in }
        )
        self.input = FeedInput(
            TapeWriter(epoch: 3, readers: [self.tape, self.recorder]),
            FeedInput.Settings(name: "Kraken", repeats: .identified),
            status: FeedStatus(source: .live, phase: .live, since: 1),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        self.input.symbols = Self.symbols
        self.input.connectionOpened(now: self.now)
    }

    var now: Moment { Moment(monotonic: self.clock.monotonic, wall: Self.start + self.clock.monotonic) }

    func pass(milliseconds: Int64) { self.clock.monotonic += milliseconds * 1_000_000 }

    /// Returns trades of a symbol, by its place in ``symbols``; each has its id as its time, ms after the start.
    private func trades(_ symbol: Int, _ ids: [UInt64]) -> [Trade] {
        ids.map { id in
            Trade(
                price: ExactDecimal(significand: 5 + Int64(id % 7), exponent: 0) ?? .zero,
                size: ExactDecimal(significand: 1, exponent: 0) ?? .zero,
                exchangeTime: Self.start + Int64(id) * 1_000_000,
                symbol: self.table.intern(Self.symbols[symbol]) ?? SymbolID(index: 0),
                id: id
            )
        }
    }

    /// Takes one frame of the current read; a symbol is its place in ``symbols``.
    func say(_ symbol: Int, _ ids: [UInt64], as kind: KrakenEncoder.Kind = .update) {
        let trades = self.trades(symbol, ids)
        let frame = KrakenEncoder.trades(trades, as: kind, symbols: self.table, pair: Venue.kraken.native(of:))
        self.input.take(frame, of: .kraken, now: self.clock.monotonic) { bytes, symbols, trades in
            self.reader.read(bytes, of: .kraken, symbols: &symbols, into: &trades)
        }
    }

    func endRead() { self.input.endRead(wall: self.now.wall) }

    func read(_ symbol: Int, _ ids: UInt64..., as kind: KrakenEncoder.Kind = .update) {
        self.pass(milliseconds: 1)
        self.say(symbol, ids, as: kind)
        self.endRead()
    }

    /// Takes an answer of the REST service; `nil` is no list of trades.
    func answer(_ symbol: Int, _ ids: [UInt64]?) {
        self.pass(milliseconds: 1)
        let pair = Self.symbols[symbol].replacing("KRAKEN:", with: "")
        let trades = self.trades(symbol, ids ?? [])
        let body = ids == nil ? ByteBuffer(string: "busy") : KrakenTradeList.encode(trades, pair: pair, last: 0)
        let exchange = VenueExchange(target: "/0/public/Trades?pair=\(pair)&since=0&count=1000", body: body)
        self.input.take(answer: exchange.frame, of: .krakenREST, now: self.now)
    }

    func report(_ symbol: Int, _ id: UInt64) {
        self.input.newestReported(id, of: Self.symbols[symbol], now: self.now)
    }

    func passTime(milliseconds: Int64) {
        self.pass(milliseconds: milliseconds)
        self.input.timePassed(patience: oneSecond, now: self.now)
    }

    func giveUp(_ symbol: Int, _ ids: ClosedRange<UInt64>) {
        self.input.giveUp(ids, of: Self.symbols[symbol], reason: "too old", now: self.now)
    }

    func reconnect() {
        self.endRead()
        self.input.interrupted(from: self.input.lastReceived, reason: "reset", cause: .lost)
        self.pass(milliseconds: 300)
        self.input.connectionAttempted()
        self.input.connectionOpened(now: self.now)
    }

    func finish() {
        self.endRead()
        _ = self.recorder.close()
    }
}

/// A replay of a recording inside the program, without sockets: the mock server's handler and the marks, and the feed's
/// input behind them.
enum RecordedReplay {
    private final class Socket: ChannelOutboundHandler {
        typealias OutboundIn = WebSocketOutput

        private(set) var texts: [ByteBuffer] = []

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            if case .text(let text) = self.unwrapOutboundIn(data) { self.texts.append(text) }
            promise?.succeed()
        }
    }

    /// Plays a recording of Kraken's to a client; returns the messages that it gets.
    ///
    /// - Parameter marks: those of a replay inside the program; `nil` for a client of `serve`.
    static func play(
        _ path: String,
        symbols: [String] = RecordedSession.symbols,
        marks: FrameMarks?,
        change: (inout MockServerSettings) -> Void = { _ in }
    ) throws -> [ByteBuffer] {
        let file = try RecordingFile(path: path)
        let (channel, socket) = (EmbeddedChannel(), Socket())
        let loop = channel.embeddedEventLoop
        var settings = MockServerSettings()
        settings.speed = nil
        if let marks { settings.marks[.kraken] = marks }
        change(&settings)
        let handler = MockServerHandler(
            settings: settings,
            session: KrakenMockSession(MockSessionOpening(known: file.allSymbols)),
            go: loop.makeSucceededVoidFuture(),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
            makePlayer: { () throws(RecordingFailure) in
                try ReplayPlayer(.recording(file), settings: settings.replay, loop: loop, wallClock: { 1 })
            }
        )
        try channel.pipeline.syncOperations.addHandlers([socket, handler])
        let request = VenueRequest.subscribe(symbols.map(Venue.kraken.native(of:)))
        try channel.writeInbound(WebSocketMessage.text(request.encoded(for: .kraken, id: 1)))
        // Longer than the recording, of which nothing is left then.
        for _ in 0..<1_000 { loop.advanceTime(by: .milliseconds(10)) }
        _ = try channel.finish(acceptAlreadyClosed: true)
        return socket.texts
    }

    /// Plays a recording of Kraken's; returns the lines of its tape.
    ///
    /// - Parameters:
    ///   - symbols: those to which the feed subscribes.
    ///   - reader: a further reader of the tape, whose epoch is 9.
    ///   - endsRead: whether a read ends after a frame, by the frame's number.
    static func run(
        _ path: String,
        symbols: [String] = RecordedSession.symbols,
        reader: (any TapeReader)? = nil,
        change: (inout MockServerSettings) -> Void = { _ in },
        endsRead: (Int) -> Bool = { _ in true }
    ) throws -> [String] {
        let marks = FrameMarks()
        let tape = TapeLines()
        let input = FeedInput(
            TapeWriter(epoch: 9, readers: [tape, reader].compactMap(\.self)),
            FeedInput.Settings(name: "Kraken", repeats: .identified, isLive: false, marks: marks),
            status: FeedStatus(source: .live, phase: .live, since: 1),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        input.symbols = symbols
        input.connectionOpened(now: Moment(monotonic: 0, wall: 0))
        let texts = try Self.play(path, symbols: symbols, marks: marks, change: change)
        var reader = FrameReader()
        for (number, text) in texts.enumerated() {
            let now = Moment(monotonic: Int64(number), wall: 2 * RecordedSession.start + Int64(number))
            if input.hasDueMarks { input.obeyMarks(now: now) }
            input.take(text, of: .kraken, now: now.monotonic) { bytes, symbols, trades in
                reader.read(bytes, of: .kraken, symbols: &symbols, into: &trades)
            }
            if endsRead(number) { input.endRead(wall: now.wall) }
        }
        input.obeyMarks(now: Moment(monotonic: 0, wall: 0))
        input.endRead(wall: 0)
        input.connectionEnded(now: Moment(monotonic: 0, wall: 0))
        return tape.lines
    }
}
