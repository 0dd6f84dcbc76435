import Feeds
import Market
import MockUpstream
import NIOCore
import Wire

/// The venue of a run: its connections, its REST service, its limits and its faults. It outlives the program.
///
/// Unchecked, because everything runs on the thread of the harness.
final class VenueService: @unchecked Sendable {
    let market: VenueMarket
    let schedule: Schedule
    let recent = RecentTrades()
    let mock: any MockProtocol
    private var chance: SeededGenerator
    private let attempts: AttemptCount?
    /// The trades that the mock server has played, and its REST service: it counts the requests against the venue's
    /// limits, and answers those of even seeds.
    private let played = PlayedTrades()
    let mockREST: VenueRestService
    /// The connections that are open, oldest first.
    private(set) var lines: [VenueLine] = []
    private var outage: (kind: Fault.Outage, until: Int64)?
    var rest: (kind: Fault.REST, until: Int64)?
    /// The events whose trades nobody ever gets.
    private var lost: [Bool]
    /// Until when the REST service wants no request.
    var refusedUntil: Int64 = 0
    var counts = ScheduleCounts()
    /// The next event, of which a cut may send a part.
    var next = 0
    private(set) var faults: [String] = []

    init(_ market: VenueMarket, _ schedule: Schedule) throws(MarketFailure) {
        guard let mock = MockProtocols.of(market.venue.dialect) else {
            throw MarketFailure("no mock server speaks \(market.venue.name)'s protocol")
        }
        self.market = market
        self.schedule = schedule
        self.mock = mock
        self.chance = SeededGenerator(seed: schedule.seed &+ 77)
        let attempts = mock.attemptLimit.map(AttemptCount.init)
        self.attempts = attempts
        let lag = max(schedule.lag / 1_000_000, 1)
        guard let plan = try? FaultPlan(parsing: ["rest-lag=\(lag)ms"]) else {
            throw MarketFailure("the mock server knows no fault rest-lag")
        }
        self.mockREST = VenueRestService(
            of: market.venue,
            trades: self.played,
            known: Set(market.symbols),
            faults: plan,
            attempts: market.venue == .kraken ? attempts : nil,
            start: 0
        )
        self.lost = Array(repeating: false, count: market.trades.count)
    }

    /// Whether the mock server's REST service answers, and not the harness.
    var hasMockREST: Bool { self.schedule.seed.isMultiple(of: 2) }

    func fault(_ text: String) {
        if self.faults.count < 20 { self.faults.append(text) }
    }

    func loses(_ event: Int) { self.lost[event] = true }

    /// Whether a trade that exists may be in no answer of the REST service: the hosts for market data have the newest ones
    /// only, and Kraken's pages cannot pass a crowd.
    func mayBeBeyond(symbol: Int, place: Int) -> Bool {
        if self.schedule.hosts != .first { return true }
        return self.market.venue == .kraken && self.market.crowds[symbol].contains { $0.contains(place) }
    }

    /// Whether ``mayBeBeyond(symbol:place:)`` may say so of any trade.
    var hasLimits: Bool { self.schedule.hosts != .first || self.market.crowd != nil }

    func isLost(symbol: Int, place: Int) -> Bool { self.lost[Int(self.market.columns[symbol].events[place])] }

    /// Draws a time around another one.
    func jitter(_ time: Int64) -> Int64 { time / 2 + Int64.random(in: 0...max(time, 1), using: &self.chance) }

    // MARK: Connections

    /// What an attempt to connect meets.
    enum Opening {
        case accepted
        case refused(UpstreamFailure)
        case hangs
    }

    func attempted(now: Int64) -> Opening {
        self.counts.attempts += 1
        if let refusal = self.attempts?.attempted(now: now) {
            self.fault("too many attempts: HTTP \(refusal.status)")
            return .refused(UpstreamFailure("HTTP \(refusal.status)", cause: .rateLimited))
        }
        guard let outage, now < outage.until else { return .accepted }
        self.counts.exercised(.outage(outage.kind, 0))
        switch outage.kind {
        case .unreachable: return .refused(UpstreamFailure("the venue cannot be reached", cause: .lost))
        case .down: return .refused(UpstreamFailure("HTTP 503", cause: .refusedStatus))
        case .tooMany(let retryAfter):
            let failure = UpstreamFailure(
                "HTTP 429",
                cause: .rateLimited,
                disposition: .rateLimited(retryAfter: retryAfter)
            )
            return .refused(failure)
        case .hangs: return .hangs
        }
    }

    /// - Parameter wallClock: the program's, ns since 1970.
    func makeSession(wallClock: @escaping @Sendable () -> Int64) -> any MockSession {
        self.mock.makeSession(
            MockSessionOpening(
                known: Set(self.market.symbols),
                uri: self.market.venue == .binance ? "/stream" : "/",
                wallClock: wallClock
            )
        )
    }

    /// - Parameter life: the program, where it runs in virtual time.
    func opened(_ line: VenueLine, of life: ProgramLife?) {
        self.lines.removeAll { $0.isEnded }
        self.lines.append(line)
        line.firstEvent = self.next
        line.broke = { [unowned self] in self.fault("a limit of the venue is broken: \($0)") }
        if let age = self.schedule.age, let life { self.end(line, age, of: life) }
        line.opened()
    }

    /// Ends a connection by its age, and counts whether the program has closed it before, because another connection has
    /// taken its place.
    private func end(_ line: VenueLine, _ age: Schedule.Age, of life: ProgramLife) {
        let openedAt = life.now
        line.close(after: age.venue) { [unowned self] in
            self.counts.rotations += 1
            self.counts.exercised(Fault.rotationByAge)
        }
        line.beganClosing = { [unowned self, unowned life] in
            guard !life.isEnding, life.now - openedAt >= age.program else { return }
            self.counts.rotations += 1
            self.counts.rotationsClosedByProgram += 1
            self.counts.exercised(Fault.rotationByAge)
        }
    }

    /// Whether a connection passes trades to the program.
    var isLive: Bool { self.lines.contains { $0.isLive } }

    // MARK: Trades

    /// Sends the frames of some events to all connections, as one read.
    func send(_ events: ArraySlice<Int>) {
        // A connection may end within a read, and open another one.
        for line in self.lines { line.send(events, reads: self.schedule.reads) }
    }

    /// Sends the frames of events that were held back, to the connections that were open when they happened.
    func sendLate(_ events: [Int]) {
        for line in self.lines where line.firstEvent < events[0] { line.send(events[...], reads: self.schedule.reads) }
    }

    /// Notes that the market has traded, for what a mock server sends at a subscription.
    func traded(_ event: Int) {
        guard !self.lost[event] else { return }
        let trades = CollectionOfOne(self.market.parsed[event])
        let now = self.market.trades[event].at + ProgramLife.origin
        if self.hasMockREST { self.played.take(trades, symbols: self.market.table, now: now) }
        if self.market.venue != .binance { self.recent.take(Array(trades), symbols: self.market.table) }
    }

    // MARK: Faults

    /// Begins a fault of the connections or of the REST service.
    func suffer(_ fault: Fault, now: Int64) {
        let wasLive = self.isLive
        let lines = self.lines
        switch fault {
        case .cut(let cut): for line in lines { line.cut(cut, next: self.next) }
        case .outage(let kind, let length):
            self.outage = (kind, now + length)
            for line in lines { line.end(isReset: true) }
            return
        case .stall(let time): for line in lines { line.stall(for: time) }
        case .freeze: for line in lines { line.freeze() }
        case .rotation(let time): self.rotate(lines, in: time, now: now)
        case .rest(let kind, let length):
            self.rest = (kind, now + length)
            return
        case .repeats, .reorder, .withhold, .kill: return
        }
        if wasLive { self.counts.exercised(fault) }
    }

    /// The connections that were announced to end, and when.
    private var rotating: [(line: VenueLine, at: Int64)] = []

    private func rotate(_ lines: [VenueLine], in time: Int64, now: Int64) {
        let wall = self.market.start + now - ProgramLife.origin
        guard let text = self.mock.announcement(at: wall) else { return }
        for line in lines where line.isLive && !self.rotating.contains(where: { $0.line === line }) {
            self.rotating.append((line, now + time))
            line.send(text: text)
        }
    }

    /// Ends the announced connections whose time has come; returns when the next one ends.
    func endRotations(now: Int64) -> Int64? {
        while let index = self.rotating.firstIndex(where: { $0.at <= now || $0.line.isEnded }) {
            let (line, _) = self.rotating.remove(at: index)
            // The program has closed it meanwhile, if another connection has taken its place.
            self.counts.rotations += 1
            if line.isEnded { self.counts.rotationsClosedByProgram += 1 }
            line.close(1_001)
        }
        return self.rotating.map(\.at).min()
    }
}
