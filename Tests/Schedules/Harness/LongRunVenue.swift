import Feeds
import Market
import MockUpstream
import NIOCore
import NIOEmbedded
import Simulation
import WebSocket
import Wire

/// One venue of a ``LongRun``: its connection, its REST service and its faults.
///
/// Unchecked, because everything runs on the thread of the harness, which is the loop's too.
final class LongRunVenue: Connecting, VenueNameSource, VenueTradesSource, @unchecked Sendable {
    let market: FormulaMarket
    private let loop: EmbeddedEventLoop
    private let mock: any MockProtocol
    private let recent = RecentTrades()
    private var chance: SeededGenerator
    private var lines: [VenueLine] = []
    private var outageUntil: Int64 = 0
    private var refusesUntil: Int64 = 0
    private let attempts: AttemptCount?
    /// The mock server's REST service, which counts the requests against the venue's limits.
    private let limits: VenueRestService
    /// The first events and the numbers of those that nobody ever gets.
    private var lost: Set<Int> = []
    private var losing = 0
    private(set) var cuts = 0
    private(set) var requests = 0
    private(set) var faults: [String] = []
    private var table = SymbolTable()
    private let ids: [SymbolID]

    init(_ market: FormulaMarket, loop: EmbeddedEventLoop, seed: UInt64) throws(MarketFailure) {
        guard let mock = MockProtocols.of(market.venue.dialect) else {
            throw MarketFailure("no mock server speaks \(market.venue.name)'s protocol")
        }
        self.market = market
        self.loop = loop
        self.mock = mock
        self.chance = SeededGenerator(seed: seed)
        self.attempts = mock.attemptLimit.map(AttemptCount.init)
        self.limits = VenueRestService(
            of: market.venue,
            trades: PlayedTrades(),
            known: Set(market.symbols),
            attempts: market.venue == .kraken ? self.attempts : nil,
            start: 0
        )
        var table = SymbolTable()
        self.ids = market.symbols.compactMap { table.intern($0) }
        self.table = table
    }

    private var now: Int64 { Int64(self.loop.now.uptimeNanoseconds) - LongRun.origin }

    var wallClock: @Sendable () -> Int64 {
        let loop = NIOLoopBound(self.loop, eventLoop: self.loop)
        return { LongRun.start + Int64(loop.value.now.uptimeNanoseconds) - LongRun.origin }
    }

    func draw() -> Double { .random(in: 0...1, using: &self.chance) }

    private func fault(_ text: String) { if self.faults.count < 20 { self.faults.append(text) } }

    func isLost(_ event: Int) -> Bool { self.lost.contains(event) }

    // MARK: Trades

    func send(_ event: Int) {
        if self.losing > 0 {
            self.losing -= 1
            self.lost.insert(event)
            return
        }
        // Coinbase's heartbeats and `last_match`, and Kraken's snapshot.
        if self.market.venue != .binance { self.remember(event) }
        for line in self.lines { line.send([event], reads: .frames) }
    }

    private func remember(_ event: Int) {
        let count = self.market.symbols.count
        let (symbol, place) = (event % count, event / count)
        let (price, size) = self.market.numbers(symbol, place)
        guard let price = ExactDecimal(significand: Int64(price), exponent: -2),
            let size = ExactDecimal(significand: Int64(size), exponent: -5)
        else { return }
        let trade = Trade(
            price: price,
            size: size,
            exchangeTime: self.market.time(symbol, place),
            symbol: self.ids[symbol],
            id: self.market.firstID + UInt64(place)
        )
        self.recent.take([trade], symbols: self.table)
    }

    // MARK: Faults

    /// Lets something go wrong, perhaps; returns the time until something may go wrong again, ns.
    func suffer(_ at: Int64) -> Int64 {
        switch Int.random(in: 0..<12, using: &self.chance) {
        case 0, 1: self.cut(.reset)
        case 2: self.cut(.close(1_001))
        case 3:
            self.cut(.fin)
            self.outageUntil = at + Int64.random(in: 1_000_000_000...20_000_000_000, using: &self.chance)
        case 4:
            self.cut(.reset)
            self.refusesUntil = at + Int64.random(in: 1_000_000_000...30_000_000_000, using: &self.chance)
        case 5: self.losing = Int.random(in: 1...5, using: &self.chance)
        default: break
        }
        return Int64.random(in: 30_000_000_000...120_000_000_000, using: &self.chance)
    }

    private func cut(_ cut: Fault.Cut) {
        self.cuts += 1
        for line in self.lines { line.cut(cut, next: 0) }
    }

    // MARK: Connections

    func connect(
        on loop: any EventLoop,
        reached: @escaping (any Channel) throws -> Void,
        connected: @escaping (any Channel, _ isRelay: Bool) throws -> Void
    ) -> EventLoopFuture<Void> {
        if let refusal = self.attempts?.attempted(now: self.now) {
            self.fault("too many attempts at \(self.market.venue.name): HTTP \(refusal.status)")
        }
        guard self.now >= self.outageUntil else {
            return loop.makeFailedFuture(UpstreamFailure("the venue cannot be reached", cause: .lost))
        }
        do {
            let socket = VirtualSocket()
            let channel = EmbeddedChannel(loop: self.loop)
            try channel.pipeline.syncOperations.addHandler(socket)
            channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 443), promise: nil)
            try reached(channel)
            try channel.pipeline.syncOperations.addWebSocketHandlers(WebSocketSettings(role: .client))
            let opening = MockSessionOpening(
                known: Set(self.market.symbols),
                uri: self.market.venue == .binance ? "/stream" : "/",
                wallClock: self.wallClock
            )
            let line = VenueLine(
                self.market,
                self.mock.makeSession(opening),
                socket,
                recent: self.recent,
                loop: self.loop
            )
            line.broke = { [unowned self] in self.fault("a limit of \(self.market.venue.name) is broken: \($0)") }
            let sent = socket.sent
            socket.sent = { bytes in withExtendedLifetime(line) { sent(bytes) } }
            let steps = NIOLoopBound((venue: self, channel: channel, line: line, connected: connected), eventLoop: loop)
            return loop.scheduleTask(in: .milliseconds(60)) {
                let (venue, channel, line, connected) = steps.value
                guard channel.isActive else { throw ChannelError.eof }
                venue.lines.removeAll { $0.isEnded }
                venue.lines.append(line)
                line.opened()
                try connected(channel, false)
            }.futureResult
        } catch {
            return loop.makeFailedFuture(error)
        }
    }

    func names(on loop: any EventLoop, then: @escaping (Result<VenueNames, ServiceFailure>) -> Void) {
        let listings = zip(self.market.symbols, self.market.natives).map { symbol, name in
            VenueListing(symbol: symbol, name: name, isTrading: true)
        }
        let bound = NIOLoopBound(then, eventLoop: loop)
        let names = VenueNames(self.market.venue, listings)
        loop.execute { bound.value(.success(names)) }
    }

    // MARK: The REST service

    var addresses: [String] { ["\(self.market.venue.name)'s REST service"] }

    func ask(
        _ request: VenueTradesRequest,
        at address: Int,
        on loop: any EventLoop,
        then: @escaping (VenueTradesAnswer) -> Void
    ) {
        self.requests += 1
        let breaches = self.limits.breaches
        _ = self.limits.answer(target: request.target, now: self.now)
        if self.limits.breaches > breaches { self.fault("too many requests: \(request)") }
        let bound = NIOLoopBound((venue: self, then: then), eventLoop: loop)
        let isRefused = self.now < self.refusesUntil
        let until = self.wallClock() + self.refusesUntil - self.now
        loop.scheduleTask(in: .milliseconds(80)) {
            let (venue, then) = bound.value
            if isRefused {
                then(VenueTradesAnswer(.failure(.rateLimited(until: until, "HTTP 429"))))
            } else {
                then(VenueTradesAnswer(.success(venue.body(for: request))))
            }
        }
    }

    private func body(for request: VenueTradesRequest) -> ByteBuffer {
        guard let symbol = self.market.symbols.firstIndex(of: request.symbol) else {
            return ByteBuffer(string: #"{"error":["EQuery:Unknown asset pair"],"result":null}"#)
        }
        let visible = self.market.count(of: symbol, at: self.now - 300_000_000)
        let count = self.market.symbols.count
        var places: [Int] = []
        func take(_ candidates: some Sequence<Int>, _ most: Int) {
            for place in candidates where places.count < most && !self.lost.contains(place * count + symbol) {
                places.append(place)
            }
        }
        var since: Int64 = 0
        switch request.trades {
        case .ids(let first, let most):
            let begin = Int(max(first, self.market.firstID) - self.market.firstID)
            if self.market.venue == .coinbase {
                take((max(begin, 0)..<max(begin, min(begin + most, visible))).reversed(), most)
                places.reverse()
            } else {
                take(begin..<max(begin, min(visible, begin + 2 * most)), most)
            }
        case .newest(let most):
            take((max(visible - 2 * most, 0)..<visible).reversed(), most)
            places.reverse()
        case .since(let time):
            since = time
            // The first place after the time, with some room for its rounding.
            let begin = max(self.market.count(of: symbol, at: time - LongRun.start) - 2, 0)
            take(
                (begin..<max(begin, min(visible, begin + 1_010))).lazy.filter { self.market.time(symbol, $0) > time },
                1_000
            )
        }
        let trades = places.map { self.market.trade(symbol, $0) }
        return ByteBuffer(
            string: VenueText.answer(trades, of: self.market.venue, symbol: request.symbol, since: since)
        )
    }
}
