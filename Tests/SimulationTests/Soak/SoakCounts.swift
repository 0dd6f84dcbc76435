import Market
import Wire
@testable import Feeds

/// The soak's record of the market and of the program's output, and the check of both.
///
/// It allocates all of its memory at once, so that the heap grows only by what the program keeps.
///
/// Unchecked, because everything runs on the test's thread, which is the loop's too.
final class SoakCounts: TapeReader, @unchecked Sendable {
    struct Span {
        var from: Int64
        var to: Int64
    }

    private let clock: SoakClock
    var backoff = SoakBackoff()
    /// The number drawn last for a jitter.
    var chance = 0.0
    var redeliveries = 0

    /// For each symbol, by number less one: the trade's time (wall clock, ms), and how often it was delivered.
    private(set) var times: [[Int64]]
    private(set) var seen: [[UInt8]]
    private(set) var gaps: [Span] = []
    /// Gaps of a single symbol.
    private(set) var symbolGaps: [[Span]] = [[], [], []]
    /// How many of them report only silence, and how many are nested in others.
    private(set) var silences = 0
    private(set) var nested = 0
    /// The most by which a gap exceeded the outage in it; ns.
    private(set) var longestExcess: Int64 = 0
    /// The outages, as the service knows them.
    private var outages: [Span] = []
    private var wasBroken = false
    private var lastLook: Int64 = SoakClock.start
    /// The spans in which each symbol was reported as refused. They begin where it was last reported live: the service
    /// may refuse a symbol without naming it, and others are suspected first.
    private(set) var refusals: [[Span]] = [[], [], []]
    private(set) var wrongs: [String] = []

    private(set) var phase = FeedStatus.Phase.connecting
    private(set) var words: [String: Int] = [:]
    private var notLiveSince: [Int64]
    private(set) var states: [SymbolStatus.State] = Array(repeating: .asked, count: 3)
    private var nextSequence: UInt64 = 1
    private var places: [Int] = []
    /// The times of the last trades, of any symbol and of each; monotonic ns.
    private var lastRead: Int64 = 0
    private var lastReads: [Int64] = [0, 0, 0]
    /// The end of each symbol's last pause that was longer than the market's own; for an hour the threshold counts it
    /// as the symbol's.
    private var pausedAt: [Int64] = [0, 0, 0]
    /// The number of repeated trades, all of them marked.
    private(set) var twice = 0

    init(clock: SoakClock, capacity: Int) {
        self.clock = clock
        self.times = (0..<3).map { _ in
            var list: [Int64] = []
            list.reserveCapacity(capacity)
            return list
        }
        self.seen = (0..<3).map { _ in
            var list: [UInt8] = []
            list.reserveCapacity(capacity)
            return list
        }
        self.notLiveSince = Array(repeating: SoakClock.start, count: 3)
        self.gaps.reserveCapacity(8_192)
        self.outages.reserveCapacity(8_192)
        for symbol in 0..<3 { self.refusals[symbol].reserveCapacity(1_024) }
    }

    func wrong(_ words: String) {
        let at = Double(self.clock.wall - SoakClock.start) / Double(SoakClock.second)
        self.wrongs.append("\(at) s: \(words)")
    }

    // MARK: The market

    func happened(_ event: SoakMarket.Event) {
        for time in event.times {
            self.times[event.symbol].append(time)
            self.seen[event.symbol].append(0)
        }
    }

    func attemptBegan() { self.backoff.began(now: self.clock.monotonic) }
    func attemptMeets(rateLimit: Bool, retryAfter: Int64?) {
        self.backoff.meets(rateLimit: rateLimit, retryAfter: retryAfter)
    }
    func attemptOpened() { self.backoff.opened(now: self.clock.monotonic) }

    // MARK: The tape

    func read(_ batch: TapeBatch) {
        if batch.firstSequence != self.nextSequence { self.wrong("the tape jumps to \(batch.firstSequence)") }
        self.nextSequence = batch.firstSequence + UInt64(batch.trades.count)
        guard !batch.trades.isEmpty else { return }
        if self.phase != .live { self.wrong("trades while \(self.phase.word)") }
        let now = self.clock.monotonic
        self.backoff.traded(now: now)
        self.lastRead = now
        if self.places.count != batch.symbols.names.count {
            self.places = batch.symbols.names.map { SoakMarket.names.firstIndex(of: $0) ?? -1 }
        }
        for trade in batch.trades { self.take(trade, now: now) }
    }

    private func take(_ trade: Trade, now: Int64) {
        let symbol = self.places[Int(trade.symbol.index)]
        var number = Int(trade.size.significand)
        for _ in 0..<trade.size.exponent { number *= 10 }
        guard symbol >= 0, (1...self.seen[symbol].count).contains(number),
            self.times[symbol][number - 1] == trade.exchangeTime / 1_000_000
        else { return self.wrong("a trade that never happened: \(symbol) \(number)") }
        if self.states[symbol] != .live { self.wrong("a trade of \(SoakMarket.names[symbol]), \(self.states[symbol])") }
        if now - self.lastReads[symbol] > SoakMarket.longestPauses[symbol] { self.pausedAt[symbol] = now }
        self.lastReads[symbol] = now
        self.seen[symbol][number - 1] += 1
        let isAgain = self.seen[symbol][number - 1] > 1
        if isAgain { self.twice += 1 }
        // No two trades of this market are equal, so each mark is either right or wrong.
        if isAgain != trade.marks.contains(.possibleRepeat) {
            let count = self.seen[symbol][number - 1]
            self.wrong("\(SoakMarket.names[symbol]) \(number) came \(count) times and is marked \(trade.marks)")
        }
    }

    func statusChanged(_ status: FeedStatus) {
        let word = status.word
        if word != self.phase.word { self.words[word, default: 0] += 1 }
        self.phase = status.phase
        guard let retryAt = status.phase.retryAt else { return }
        let wait = self.backoff.paused(now: self.clock.monotonic, chance: self.chance)
        if retryAt - self.clock.wall != wait {
            self.wrong("waits \((retryAt - self.clock.wall) / 1_000_000) ms, not \(wait / 1_000_000): \(status)")
        }
    }

    func symbolChanged(_ status: SymbolStatus) {
        guard let symbol = SoakMarket.names.firstIndex(of: status.symbol) else { return }
        let wasRefused = Self.isRefused(self.states[symbol])
        if self.states[symbol] == .live { self.notLiveSince[symbol] = self.clock.wall }
        self.states[symbol] = status.state
        let isRefused = Self.isRefused(status.state)
        if isRefused, !wasRefused {
            self.refusals[symbol].append(Span(from: self.notLiveSince[symbol], to: .max))
        } else if wasRefused, !isRefused {
            self.refusals[symbol][self.refusals[symbol].count - 1].to = self.clock.wall
        }
    }

    private static func isRefused(_ state: SymbolStatus.State) -> Bool {
        if case .refused = state { true } else { false }
    }

    func gapFound(_ gap: Gap) {
        if gap.nextSequence != self.nextSequence { self.wrong("a gap before \(gap.nextSequence)") }
        if gap.to > self.clock.wall { self.wrong("a gap that ends in the future: \(gap)") }
        let isSilence = gap.reason.hasPrefix("no trade of")
        if let symbol = gap.symbol {
            guard let place = SoakMarket.names.firstIndex(of: symbol) else { return self.wrong("a gap of \(symbol)") }
            self.silences += 1
            self.judgeLength(gap, isSilence: true)
            self.symbolGaps[place].append(Span(from: gap.from, to: gap.to))
            return
        }
        if let last = self.gaps.last, gap.from < last.to {
            // The silence of one symbol may enclose that of another; other gaps must not overlap.
            self.nested += 1
            if gap.from > last.from || !isSilence { self.wrong("a gap that overlaps the last: \(gap), \(last)") }
        }
        if isSilence { self.silences += 1 }
        self.judgeLength(gap, isSilence: isSilence)
        self.gaps.append(Span(from: gap.from, to: gap.to))
    }

    /// Checks the length of a gap: the outage, the time to notice it, the backoff, and the time until the next trade. A
    /// silence without an outage is at most as long as the market's own pauses and the reactions to them.
    private func judgeLength(_ gap: Gap, isSilence: Bool) {
        let broken = self.outages.reduce(0) { $0 + max(min($1.to, gap.to) - max($1.from, gap.from), 0) }
        let excess = gap.to - gap.from - broken
        self.longestExcess = max(self.longestExcess, excess)
        let pause = SoakMarket.longestPauses.max() ?? 0
        let settings = self.backoff.settings
        // A `Retry-After` of ten minutes at most, or the backoff's limit; pings notice in 30 s; then a trade within a
        // pause.
        let limit = 600 * SoakClock.second + settings.limit + 30 * SoakClock.second + SoakMarket.longestPauses[0]
        if excess > (isSilence ? limit + 7 * pause : limit) {
            self.wrong(
                "a gap of \((gap.to - gap.from) / SoakClock.second) s, \(excess / SoakClock.second) too many: \(gap)"
            )
        }
    }

    /// Notes whether trades can come. Between two checks they count as broken if they are at either check.
    private func note(isBroken: Bool) {
        let now = self.clock.wall
        if self.wasBroken {
            self.outages[self.outages.count - 1].to = now
        } else if isBroken {
            self.outages.append(Span(from: self.lastLook, to: now))
        }
        self.wasBroken = isBroken
        self.lastLook = now
    }

    // MARK: Checks

    /// Checks whether the reported status is true at this moment.
    ///
    /// - Parameters:
    ///   - cutFor: how long no connection has passed anything, ns.
    ///   - isBroken: whether no trades can come, whatever the program does.
    func look(cutFor: Int64?, isBroken: Bool) {
        self.note(isBroken: isBroken)
        let now = self.clock.monotonic
        let second = SoakClock.second
        if self.phase == .live, now - self.lastRead > 5 * second { self.wrong("live without a trade") }
        for symbol in 0..<3 where self.states[symbol] == .live {
            let isRecent = self.lastReads[symbol] - self.pausedAt[symbol] < 7_200 * second
            let usual = max(30 * second, 3 * SoakMarket.longestPauses[symbol])
            let limit = (isRecent ? SymbolMonitor.Settings().staleLimit : usual) + second
            if now - self.lastReads[symbol] > limit { self.wrong("\(SoakMarket.names[symbol]) is said to be live") }
        }
        guard let cutFor, cutFor > 31 * second else { return }
        switch self.phase {
        case .waiting, .live, .late, .stale, .noSuchSymbol, .notPermitted:
            self.wrong("\(self.phase.word) without a connection")
        case .connecting, .reconnecting, .rateLimited, .keyRejected, .keyInUse, .ended, .stopped: break
        }
    }

    struct Account {
        var trades = 0
        var onTape = 0
        var inGaps = 0
        var refused = 0
        /// Trades lost close to a gap's border.
        var atBorder = 0
        /// Trades lost without a report: symbol, number, time (s).
        var lost: [String] = []
    }

    /// Counts the fate of every trade.
    ///
    /// - Parameter tolerance: how far outside of a gap a trade lost in it may have happened, ns: the transit time.
    func account(tolerance: Int64) -> Account {
        var account = Account()
        for symbol in 0..<3 {
            let spans = (self.gaps + self.symbolGaps[symbol]).sorted { $0.from < $1.from }
            for number in self.times[symbol].indices {
                account.trades += 1
                let time = self.times[symbol][number] * 1_000_000
                if self.seen[symbol][number] > 0 {
                    account.onTape += 1
                } else if Self.holds(spans, time, 0) {
                    account.inGaps += 1
                } else if self.refusals[symbol].contains(where: { $0.from <= time && time <= $0.to }) {
                    account.refused += 1
                } else if Self.holds(spans, time, tolerance)
                    || self.refusals[symbol].contains(where: { $0.from - tolerance <= time && time <= $0.to })
                {
                    account.atBorder += 1
                } else {
                    let at = Double(time - SoakClock.start) / Double(SoakClock.second)
                    account.lost.append("\(SoakMarket.names[symbol]) \(number + 1) at \(at)")
                }
            }
        }
        return account
    }

    private static func holds(_ spans: [Span], _ time: Int64, _ tolerance: Int64) -> Bool {
        spans.contains { $0.from - tolerance <= time && time <= $0.to + tolerance }
    }
}
