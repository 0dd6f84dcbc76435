import Feeds
import Ingest
import Logging
import Market
import Measurements
import NIOCore
import NIOEmbedded
import Platform
import Simulation
import WebSocket
import Wire

/// One run of the program, from its start to its end or to the moment at which it is killed: a venue's feed and its
/// tape, on a loop with virtual time.
///
/// Unchecked, because everything runs on the thread of the harness, which is the loop's too.
final class ProgramLife: @unchecked Sendable {
    /// The loop's time at the market's start, ns: a day, so that times before it stay positive.
    static let origin: Int64 = 86_400_000_000_000

    let loop = EmbeddedEventLoop()
    let checker: TapeChecker
    /// The program's own report of what is on the tape.
    let meter = CompletenessMeter()
    private let service: VenueService
    private let market: VenueMarket
    private var feed: VenueFeed?
    private(set) var isDead = false
    /// Whether the program was asked to end.
    private(set) var isEnding = false
    private let recorder: LifeRecorder?
    /// The ids up to the tape's newest that an answer of the REST service has brought, by symbol.
    private var offered: [Int: Set<UInt64>] = [:]
    /// What was missing at the newest reconnect and is not there yet.
    private var recovery: (began: Int64, targets: [Int], missing: Int)?
    private var hasConnected = false
    private var chance: SeededGenerator
    /// The channels of the program's connections.
    private var channels: [EmbeddedChannel] = []

    /// Starts the program at a time of the market, ns.
    ///
    /// - Parameter recording: takes the recording of the run; `nil` records nothing.
    init(
        _ service: VenueService,
        epoch: UInt64,
        at: Int64,
        files: ProgramFiles,
        recording: RunRecording? = nil
    ) throws(MarketFailure) {
        self.service = service
        self.market = service.market
        self.checker = TapeChecker(service.market)
        self.chance = SeededGenerator(seed: service.schedule.seed &+ epoch &* 1_000)
        self.loop.advanceTime(to: .uptimeNanoseconds(UInt64(at + Self.origin)))
        let wall = Self.wallClock(self.loop, service.market.start)
        self.recorder = try recording?.begin(epoch: epoch, loop: self.loop, wallClock: wall)
        self.checker.added = { [unowned self] in self.added($0, $1) }
        var settings = VenueSettings(service.market.venue, symbols: service.market.symbols)
        settings.holding = files.holding(of: self, \.attempts)
        settings.serviceHolding = files.holding(of: self, \.requests)
        if let age = service.schedule.age, age != .ofBinance {
            settings.rotation?.age = age.program
            settings.rotation?.jitter = age.jitter
        }
        var readers: [any TapeReader] = [self.checker, self.meter]
        if let recorder { readers.append(recorder) }
        let context = FeedContext(
            loop: self.loop,
            wallClock: self.wallClock,
            chance: { [unowned self] in Double.random(in: 0...1, using: &self.chance) },
            logger: Logger(label: "schedule", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        let feed = VenueFeed(
            settings,
            TapeWriter(epoch: epoch, readers: readers),
            connector: self.connector,
            names: ProgramConnector(life: self, service: service),
            trades: ProgramTrades(life: self, service: service),
            context
        )
        self.feed = feed
        service.counts.lives += 1
        feed.start()
        self.loop.run()
    }

    var now: Int64 { Int64(self.loop.now.uptimeNanoseconds) }

    var wallClock: @Sendable () -> Int64 { Self.wallClock(self.loop, self.market.start) }

    private static func wallClock(_ loop: EmbeddedEventLoop, _ start: Int64) -> @Sendable () -> Int64 {
        let loop = NIOLoopBound(loop, eventLoop: loop)
        return { start + Int64(loop.value.now.uptimeNanoseconds) - Self.origin }
    }

    /// The way to the venue, whose first address may refuse this location.
    private var connector: any Connecting {
        let own = ProgramConnector(life: self, service: self.service)
        guard self.service.schedule.hosts == .second else { return own }
        return VenueConnector([
            VenueConnector.Way(self.market.venue.upstream, RefusingConnector()),
            VenueConnector.Way(.binanceMarketData, own),
        ])
    }

    /// Lets time pass, to a time of the market.
    func advance(to at: Int64) {
        self.loop.advanceTime(to: .uptimeNanoseconds(UInt64(at + Self.origin)))
    }

    // MARK: Connections

    /// Opens a connection to the venue.
    func open(_ reached: (any Channel) throws -> Void) throws -> (EmbeddedChannel, VenueLine) {
        let socket = VirtualSocket()
        let channel = EmbeddedChannel(loop: self.loop)
        try channel.pipeline.syncOperations.addHandler(socket)
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 443), promise: nil)
        channel.localAddress = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
        self.channels.removeAll { !$0.isActive }
        self.channels.append(channel)
        try reached(channel)
        try channel.pipeline.syncOperations.addWebSocketHandlers(WebSocketSettings(role: .client))
        let line = VenueLine(
            self.market,
            self.service.makeSession(wallClock: self.wallClock),
            socket,
            recent: self.service.recent,
            loop: self.loop
        )
        // The socket retains the other end, as the network would.
        let sent = socket.sent
        socket.sent = { bytes in withExtendedLifetime(line) { sent(bytes) } }
        line.gave = { [unowned self] event in
            self.checker.given(symbol: self.market.trades[event].symbol, place: self.market.place(of: event))
        }
        return (channel, line)
    }

    /// Notes that a connection is open.
    func opened(_ line: VenueLine) {
        let isFirst = !self.hasConnected
        self.hasConnected = true
        let isBeside = self.service.lines.contains { $0.isLive }
        self.service.opened(line, of: self)
        // Where the REST service is limited, what it cannot have would never come.
        guard !isFirst, !isBeside, self.service.schedule.hosts == .first else { return }
        if self.recovery != nil { self.service.counts.interruptedRecoveries += 1 }
        let targets = self.market.symbols.indices.map {
            self.market.count(of: $0, at: self.now - Self.origin) - 1
        }
        let missing = targets.enumerated().reduce(0) { sum, target in
            sum
                + self.checker.missing(of: target.offset, through: target.element) {
                    self.service.isLost(symbol: target.offset, place: $0)
                }
        }
        self.recovery = missing == 0 ? nil : (self.now, targets, missing)
    }

    private func added(_ symbol: Int, _ place: Int) {
        guard let recovery, place <= recovery.targets[symbol] else { return }
        if recovery.missing == 1 {
            self.service.counts.recoveries.append(self.now - recovery.began)
            self.recovery = nil
        } else {
            self.recovery?.missing = recovery.missing - 1
        }
    }

    /// Notes that an answer of the REST service brings these trades. Those beyond the newest one on the tape are not
    /// missing yet: the program leaves them to its connection.
    func offered(_ body: ByteBuffer, _ name: String) {
        guard let symbol = self.market.symbols.firstIndex(of: name), let newest = self.checker.newest(of: symbol) else {
            return
        }
        let last = self.market.columns[symbol].first + UInt64(newest)
        let ids = VenueText.ids(in: String(buffer: body), of: self.market.venue)
        self.offered[symbol, default: []].formUnion(ids.lazy.filter { $0 <= last })
    }

    /// Whether the venue never gave a trade to this run, so that the tape may lack it.
    func mayLack(symbol: Int, place: Int) -> Bool {
        if self.service.isLost(symbol: symbol, place: place) { return true }
        guard self.service.mayBeBeyond(symbol: symbol, place: place) else { return false }
        return self.offered[symbol]?.contains(self.market.columns[symbol].first + UInt64(place)) != true
    }

    /// Whether trades are missing that the venue gives, or a gap has no outcome.
    var isWaiting: Bool { self.missing > 0 || self.checker.unsettled > 0 }

    /// The number of trades that the venue gives and the tape lacks, up to the newest ones on the tape.
    private var missing: Int {
        self.market.symbols.indices.reduce(0) { sum, symbol in
            guard let newest = self.checker.newest(of: symbol) else { return sum }
            return sum
                + self.checker.missing(of: symbol, through: newest) {
                    self.service.isLost(symbol: symbol, place: $0)
                        || (self.service.hasLimits && self.checker.isLost(symbol: symbol, place: $0))
                }
        }
    }

    // MARK: The end

    /// Ends the program without a goodbye: nothing that it does afterwards has an effect.
    func kill() {
        self.isDead = true
        self.isEnding = true
        for line in self.service.lines { line.abandon() }
        self.unwind()
    }

    func stop() {
        self.isEnding = true
        self.feed?.stop()
        self.advance(to: self.now - Self.origin + 1_000_000_000)
        self.recorder?.stop()
        self.isDead = true
        self.unwind()
    }

    /// Ends what is left, so that the loop has no task: it cannot be freed with one.
    private func unwind() {
        self.feed?.stop()
        self.loop.run()
        for channel in self.channels where channel.isActive { channel.close(promise: nil) }
        self.loop.advanceTime(by: .hours(2))
        self.feed = nil
        self.channels = []
    }
}
