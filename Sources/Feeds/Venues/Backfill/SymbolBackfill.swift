import Ingest
import Market
import Wire

/// The missing trades of one symbol, and how far the requests for them have come: the oldest first.
///
/// A state machine; times are arguments, monotonic ns.
struct SymbolBackfill {
    /// Trades that cannot be had.
    struct Loss: Equatable {
        var ids: ClosedRange<UInt64>
        var symbol: String
        /// In one line.
        var reason: String
    }

    /// A time in which every answer brings nothing.
    private struct Fruitless {
        let since: Int64
        /// The present wait between two requests.
        private(set) var wait = SymbolBackfill.lag.first

        mutating func answered() { self.wait = self.wait.doubled(times: 1, limit: SymbolBackfill.lag.longest) }

        /// Whether trades are given up. A long pause that the service asks for between two answers does not suffice.
        func isTooLong(now: Int64) -> Bool {
            now - self.since >= SymbolBackfill.patience && self.wait == SymbolBackfill.lag.longest
        }
    }

    /// How long a hole is left to frames that come late, ns.
    static let lateFrames: Int64 = 300_000_000
    /// The waits after answers that end before the missing trades, ns; each is twice the one before. A REST service
    /// reads a database, which may be some seconds behind (reference of the venues, A1).
    static let lag: (first: Int64, longest: Int64) = (1_000_000_000, 60_000_000_000)
    /// How long the answers, or failures to answer, may bring nothing, ns.
    static let patience: Int64 = 600_000_000_000
    /// The time until the second request for trades that an answer left out, ns.
    static let secondTry: Int64 = 5_000_000_000
    /// The most trades of one hole that are requested: 1,000 pages.
    static let maximumIDs: UInt64 = 1_000_000
    /// By how much a trade's time may differ between a venue's REST service and its WebSocket, ns: Kraken's frames
    /// have whole microseconds.
    private static let timeStep: Int64 = 1_000

    let venue: Venue
    let name: String
    private var holes: [MissingTrades.Hole] = []
    /// The earliest time of the next request.
    private(set) var notBefore: Int64
    /// While answers end before the missing trades.
    private var lagging: Fruitless?
    /// The missing ids that the newest answer left out between others.
    private var suspected = IDRanges()
    /// While no answer can be used.
    private var unusable: Fruitless?
    /// The newest trade of the answers before the first missing one, and whether the next request begins after its
    /// time. Otherwise it begins before: other trades may have the same time.
    private var cursor: (trade: EarlierTrades.Entry, isExclusive: Bool)?

    init(_ venue: Venue, _ name: String, now: Int64) {
        self.venue = venue
        self.name = name
        self.notBefore = now.addingCapped(Self.lateFrames)
    }

    private var ids: IDRanges { IDRanges(self.holes.map(\.ids)) }

    /// Takes what is missing now; returns the losses of holes that are too large.
    mutating func missingChanged(_ holes: [MissingTrades.Hole]) -> [Loss] {
        self.holes = holes
        return holes.compactMap { hole in
            let (first, last) = (hole.ids.lowerBound, hole.ids.upperBound)
            guard last - first >= Self.maximumIDs else { return nil }
            let words = "more than \(TradeID.grouped(Self.maximumIDs)) trades are missing at once, and only the"
            // Kraken finds trades by their time, and only the time before the first one is known.
            return venue == .kraken
                ? self.loss(first + Self.maximumIDs...last, "\(words) oldest of them are requested")
                : self.loss(first...last - Self.maximumIDs, "\(words) newest of them are requested")
        }
    }

    // MARK: Requests

    /// Returns the next request; `nil` if nothing is missing.
    ///
    /// - Parameter findsIDs: whether the address has trades by their ids or times, and not the newest only.
    func request(findsIDs: Bool) -> VenueTradesRequest.Trades? {
        guard let hole = self.holes.first else { return nil }
        let first = hole.ids.lowerBound
        let newest = VenueTradesRequest.Trades.newest(count: VenueTradesRequest.maximumCount)
        guard findsIDs else { return newest }
        guard self.venue == .kraken else {
            let end = first.addingReportingOverflow(UInt64(VenueTradesRequest.maximumCount) - 1)
            let page = self.ids.clipped(to: first...(end.overflow ? .max : end.partialValue))
            var count = Int((page.ranges.last?.upperBound ?? first) - first) + 1
            // Coinbase's answer ends with the newest trade up to the last id. The trade after the hole shows that the
            // answer is not behind.
            // A heartbeat may name the largest number.
            if self.venue == .coinbase, UInt64(count) <= .max - first {
                count = min(count + 1, VenueTradesRequest.maximumCount)
            }
            return .ids(first: first, count: count)
        }
        if let cursor, cursor.trade.id < first, cursor.trade.time >= hole.after ?? .min {
            return .since(cursor.isExclusive ? cursor.trade.time : cursor.trade.time.addingCapped(-Self.timeStep))
        }
        // `since` is exclusive.
        return hole.after.map { .since($0.addingCapped(-Self.timeStep)) } ?? newest
    }

    // MARK: Answers

    /// Takes an answer whose trades are on the tape.
    ///
    /// - Parameters:
    ///   - missing: what is missing now.
    ///   - newestOnly: why the address has no trades before those of the answer, if it has the newest only.
    mutating func answered(
        _ answer: EarlierTrades,
        to request: VenueTradesRequest.Trades,
        missing: [MissingTrades.Hole],
        newestOnly: String,
        now: Int64
    ) -> [Loss] {
        let before = self.ids
        self.holes = missing
        self.unusable = nil
        let ids = self.ids
        let hasBrought = answer.entries.contains { before.contains($0.id) && !ids.contains($0.id) }
        /// Whether the request could not begin at the trades of the cursor's time.
        let isPast = self.cursor?.isExclusive == true
        let hasMoved = self.moveCursor(answer, hasBrought: hasBrought)
        var losses: [Loss] = []
        /// The ids for which the answer speaks, up to its newest one.
        var first: UInt64 = 0
        /// The ids that a complete answer would have.
        var last = UInt64.max
        /// The ids before those for which the answer speaks.
        var early = IDRanges()
        switch request {
        case .ids(let begin, let count):
            (first, last) = (begin, begin + UInt64(count - 1))
            // Coinbase's answer has the newest trades: one with fewer than requested does not speak for those before.
            if self.venue == .coinbase, answer.count < count, let oldest = answer.first?.id, oldest > begin {
                early = ids.clipped(to: begin...oldest - 1)
                first = oldest
            }
        case .since: break
        case .newest:
            first = answer.first?.id ?? 0
            guard first > 0 else { break }
            losses = ids.clipped(to: 0...first - 1).ranges.map { self.loss($0, newestOnly) }
        }
        let newest = answer.last?.id ?? 0
        let leftOut = first <= newest ? ids.clipped(to: first...newest) : IDRanges()
        let lost = leftOut.intersection(self.suspected)
        losses += lost.ranges.map { range in
            let isOfTime = isPast && range.lowerBound == ids.ranges.first?.lowerBound
            return self.loss(range, isOfTime ? self.oneTime : self.leavesOut)
        }
        self.suspected = leftOut
        self.notBefore = leftOut == lost ? now : now.addingCapped(Self.secondTry)
        // Later pages follow a full one that was found by time.
        let isPage = answer.isFull && (hasBrought || hasMoved)
        if case .since = request, isPage {
            self.lagging = nil
            return losses
        }
        let start = answer.entries.isEmpty ? first : max(first, newest.addingReportingOverflow(1).partialValue)
        let late = start <= last && newest < .max ? ids.clipped(to: start...last) : IDRanges()
        if let begin = late.ranges.first?.lowerBound {
            // In the middle of a hole, Coinbase's answer cannot show whether it is behind.
            let end = self.venue == .coinbase ? last : .max
            losses += self.lagged(begin...max(begin, end), hasBrought: hasBrought, now: now)
        } else if !hasBrought, let begin = early.ranges.first?.lowerBound {
            losses += self.lagged(begin...last, hasBrought: false, now: now)
        } else {
            self.lagging = nil
        }
        return losses
    }

    /// The reasons for a loss of ids that two answers do not have.
    private var leavesOut: String { "\(self.venue.name) does not have them: its answers leave them out" }
    private var oneTime: String {
        "\(self.venue.name)'s answers begin after a time and have 1,000 trades, and more than those have one time"
    }

    /// Notes that an answer ends before missing ids; returns those of the first hole among them after too long a time.
    private mutating func lagged(_ ids: ClosedRange<UInt64>, hasBrought: Bool, now: Int64) -> [Loss] {
        var lag = Fruitless(since: now)
        if !hasBrought, let lagging {
            lag = lagging
            lag.answered()
        }
        self.notBefore = max(self.notBefore, now.addingCapped(lag.wait))
        self.lagging = lag
        guard lag.isTooLong(now: now), let lost = self.ids.clipped(to: ids).ranges.first else { return [] }
        self.lagging = nil
        self.notBefore = now
        let minutes = Self.patience / 60_000_000_000
        return [self.loss(lost, "\(self.venue.name) has not delivered them within \(minutes) minutes")]
    }

    /// Moves the cursor to the newest trade before the first missing one; returns whether it has moved.
    private mutating func moveCursor(_ answer: EarlierTrades, hasBrought: Bool) -> Bool {
        guard let first = self.holes.first?.ids.lowerBound, let trade = answer.last(before: first) else { return false }
        guard let cursor, cursor.trade.id >= trade.id, cursor.trade.id < first else {
            self.cursor = (trade, false)
            return true
        }
        // More trades than an answer can have share one moment.
        guard answer.isFull, !hasBrought, !cursor.isExclusive else { return false }
        self.cursor = (trade, true)
        return true
    }

    /// Takes an answer that cannot be used, such as the page of a captive portal or of a maintenance; returns everything
    /// that is missing after too long a time.
    mutating func answerWasUnusable(_ reason: String, now: Int64) -> [Loss] {
        var unusable = self.unusable ?? Fruitless(since: now)
        if self.unusable != nil { unusable.answered() }
        self.unusable = unusable
        self.notBefore = now.addingCapped(unusable.wait)
        guard unusable.isTooLong(now: now) else { return [] }
        self.unusable = nil
        self.notBefore = now
        return self.giveUp("\(self.venue.name)'s answers cannot be used: \(reason)")
    }

    /// Returns everything that is missing as lost.
    func giveUp(_ reason: String) -> [Loss] { self.holes.map { self.loss($0.ids, reason) } }

    private func loss(_ ids: ClosedRange<UInt64>, _ reason: String) -> Loss {
        Loss(ids: ids, symbol: self.name, reason: reason)
    }
}
