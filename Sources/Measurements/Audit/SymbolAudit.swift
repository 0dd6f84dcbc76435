import Market
import NIOCore

/// The comparison of Finnhub's trades of one symbol with its venue's: as multisets of time, price and size, in order.
///
/// A state machine; times are arguments, in ns on a clock that both sides share. A trade waits for its partner, and is
/// judged when it has waited for ``AuditLimits/wait`` and the other side has gone on. If its partner comes later, the
/// judgement is taken back.
struct SymbolAudit {
    private let limits: AuditLimits
    private let measuresDelays: Bool
    private var venue: AuditQueue
    private var finnhub: AuditQueue
    private var groups: [AuditContent: AuditGroup] = [:]
    /// The contents that have found partners, with the times from which they are forgotten.
    private var matched: CircularBuffer<(content: AuditContent, until: Int64)> = []
    private var venueStream = AuditStream()
    private var finnhubStream = AuditStream()
    /// The number of Finnhub's trades so far.
    private var finnhubCount: UInt64 = 0
    /// The id of Finnhub's first trade, once it has found its partner.
    private var firstID: UInt64?
    private var order = AuditOrder()
    private var missing = AuditedIDs()
    /// Finnhub's gaps, if their trades are wanted.
    private var gaps: AuditGaps?
    private var counts: AuditedSymbol
    private let delays = LatencyHistogram()

    init(_ symbol: String, limits: AuditLimits = AuditLimits(), measuresDelays: Bool = true) {
        self.limits = limits
        self.measuresDelays = measuresDelays
        self.venue = AuditQueue(waiting: limits.trades, remembered: limits.remembered)
        self.finnhub = AuditQueue(waiting: limits.trades, remembered: limits.remembered)
        self.counts = AuditedSymbol(symbol: symbol)
        self.gaps = limits.gapWait.map { AuditGaps(of: symbol, wait: $0) }
    }

    // MARK: Trades

    /// Takes one of the venue's trades; its id has not come before.
    mutating func venueTraded(_ trade: Trade, id: UInt64, at arrival: Int64) {
        self.timePassed(now: arrival)
        let content = AuditContent(trade)
        // A filled trade is not where the stream is.
        if !trade.isFilled, !trade.marks.contains(.ahead) {
            self.venueStream.take(content.time)
            self.gaps?.venueTraded(content.time)
        }
        let own = AuditQueue.Entry(content: content, number: id, arrival: arrival, isFilled: trade.isFilled)
        if let index = self.groups[content, default: AuditGroup()].take(ofVenue: false),
            let partner = self.finnhub.take(index)
        {
            return self.match(own, partner)
        }
        self.groups[content, default: AuditGroup()].wait(self.venue.append(own), number: id, isVenue: true)
    }

    /// Takes one of Finnhub's trades.
    mutating func finnhubTraded(_ trade: Trade, at arrival: Int64) {
        self.timePassed(now: arrival)
        let content = AuditContent(trade)
        if !trade.marks.contains(.ahead) {
            self.finnhubStream.take(content.time)
            self.gaps?.finnhubTraded(content.time, at: arrival)
        }
        var own = AuditQueue.Entry(content: content, number: self.finnhubCount, arrival: arrival)
        self.finnhubCount += 1
        if let index = self.groups[content, default: AuditGroup()].take(
            ofVenue: true,
            beyond: self.order.newest
        ),
            let partner = self.venue.take(index)
        {
            return self.match(partner, own)
        }
        own.isRepeat = self.groups[content]?.matched ?? 0 > 0
        self.groups[content, default: AuditGroup()].wait(
            self.finnhub.append(own),
            number: own.number,
            isVenue: false
        )
    }

    private mutating func match(_ venue: AuditQueue.Entry, _ finnhub: AuditQueue.Entry) {
        if let outcome = venue.outcome { self.count(outcome, by: -1) }
        if venue.outcome == .missing { self.missing.remove(venue.number) }
        if let outcome = finnhub.outcome { self.count(outcome, by: -1) }
        self.gaps?.delivered(venue.number)
        self.counts.delivered += 1
        if !venue.isFilled {
            let delay = finnhub.arrival.subtractingCapped(venue.arrival)
            if delay > self.limits.wait { self.counts.late += 1 }
            if self.measuresDelays { self.delays.record(nanoseconds: delay) }
            self.order.take(venue.number)
        }
        if finnhub.number == 0 { self.firstID = venue.number }
        self.groups[venue.content, default: AuditGroup()].matched += 1
        let until = max(venue.arrival, finnhub.arrival).addingCapped(self.limits.wait)
        self.matched.append((venue.content, until))
        if self.matched.count > self.limits.trades { self.forgetMatched() }
    }

    // MARK: Streams

    /// Notes that Finnhub's trades may be missing from the newest one on, until the next one.
    ///
    /// - Parameter gap: the gap that was published, if there is one.
    mutating func finnhubInterrupted(_ kind: AuditInterruption, gap: Gap? = nil) {
        self.finnhubStream.interrupted(kind)
        guard let gap, let newest = self.finnhubStream.openSince else { return }
        self.gaps?.finnhubInterrupted(after: newest, published: gap.from...max(gap.from, gap.to))
    }

    /// Notes that Finnhub's stream was live until a time, as trades of other symbols show.
    mutating func finnhubLived(until time: Int64) { self.finnhubStream.lived(until: time) }

    /// Notes the same of the venue's trades.
    mutating func venueInterrupted(_ kind: AuditInterruption, gap: Gap? = nil) {
        self.gaps?.venueInterrupted(after: self.venueStream.newest, ids: gap?.missing)
        self.venueStream.interrupted(kind)
    }

    /// Takes the outcome of trades that the venue's connection lacked.
    mutating func venueSettled(_ outcome: GapOutcome) { self.gaps?.venueSettled(outcome) }

    /// Removes and returns Finnhub's gaps of which it is known by now which trades are missing.
    mutating func takeIdentifiedGaps(now: Int64) -> [IdentifiedGap] {
        guard self.gaps?.isDue(now: now, venue: self.venueStream.newest) == true else { return [] }
        return self.gaps?.take(now: now, venue: self.venueStream.newest, waiting: self.venue.open) ?? []
    }

    // MARK: Judgements

    /// Judges the trades that have waited for long enough.
    mutating func timePassed(now: Int64) {
        let due = now.subtractingCapped(self.limits.wait)
        let forgotten = now.subtractingCapped(self.limits.memory)
        while let entry = self.venue.oldest {
            let isOverfull = self.venue.isOverfull
            guard entry.arrival <= due || isOverfull else { break }
            let outcome = self.judgement(ofVenue: entry)
            guard let outcome = outcome ?? (isOverfull || entry.arrival <= forgotten ? .outside : nil) else { break }
            self.judgeVenue(outcome)
        }
        while let entry = self.finnhub.oldest {
            let isOverfull = self.finnhub.isOverfull
            guard entry.arrival <= due || isOverfull else { break }
            let outcome = self.judgement(ofFinnhub: entry)
            guard let outcome = outcome ?? (isOverfull || entry.arrival <= forgotten ? .outside : nil) else { break }
            self.judgeFinnhub(outcome)
        }
        while let content = self.venue.forgetOldest(before: forgotten) { self.forget(content, ofVenue: true) }
        while let content = self.finnhub.forgetOldest(before: forgotten) { self.forget(content, ofVenue: false) }
        while let first = self.matched.first, first.until <= now { self.forgetMatched() }
    }

    /// Judges all trades, because both streams are over.
    ///
    /// - Parameters:
    ///   - finnhub: the time until which Finnhub's stream was live, ms since 1970.
    ///   - venue: the same of the venue's.
    mutating func finish(finnhub: Int64, venue: Int64) {
        self.finnhubStream.lived(until: finnhub)
        self.venueStream.lived(until: venue)
        while let entry = self.venue.oldest { self.judgeVenue(self.judgement(ofVenue: entry) ?? .outside) }
        while let entry = self.finnhub.oldest { self.judgeFinnhub(self.judgement(ofFinnhub: entry) ?? .outside) }
    }

    /// Returns what follows from the lack of a partner; `nil` while Finnhub's stream has not gone on.
    private func judgement(ofVenue entry: AuditQueue.Entry) -> AuditOutcome? {
        let (time, stream) = (entry.content.time, self.finnhubStream)
        // Finnhub's trade of that time may have been judged and forgotten before the venue's was filled in.
        if entry.isFilled, self.venueStream.interruption(at: time) != nil { return .outside }
        guard let start = stream.start, time >= start else { return .outside }
        // Those before Finnhub's first trade in the same millisecond may be from before the subscription.
        if time == start, entry.number < self.firstID ?? .max { return .outside }
        guard time < stream.newest || entry.number < self.order.newest else { return nil }
        return switch stream.interruption(at: time) {
        case nil: .missing
        case .gap: .inGap
        case .absence: .outside
        }
    }

    /// Returns what follows from the lack of a partner; `nil` while the venue's stream has not gone on.
    private func judgement(ofFinnhub entry: AuditQueue.Entry) -> AuditOutcome? {
        let (time, stream) = (entry.content.time, self.venueStream)
        guard let start = stream.start, time >= start else { return .outside }
        // One in the same millisecond as the venue's first may be from before it, unless an equal one has its partner.
        if time == start, !entry.isRepeat { return .outside }
        guard time < stream.newest else { return nil }
        if stream.interruption(at: time) != nil { return .outside }
        return entry.isRepeat || self.groups[entry.content]?.matched ?? 0 > 0 ? .repeated : .unknown
    }

    private mutating func judgeVenue(_ outcome: AuditOutcome) {
        if let entry = self.venue.oldest {
            if outcome == .missing { self.missing.insert(entry.number) }
            if outcome == .inGap || outcome == .outside {
                self.gaps?.judged(entry.number, of: entry.content.time, finnhub: self.finnhubStream.newest)
            }
        }
        self.count(outcome, by: 1)
        self.venue.judgeOldest(outcome)
    }

    private mutating func judgeFinnhub(_ outcome: AuditOutcome) {
        self.count(outcome, by: 1)
        self.finnhub.judgeOldest(outcome)
    }

    private mutating func count(_ outcome: AuditOutcome, by step: Int) {
        switch outcome {
        case .missing: self.counts.missing += step
        case .inGap: self.counts.missingInGaps += step
        case .repeated: self.counts.repeated += step
        case .unknown: self.counts.unknown += step
        case .outside: self.counts.unproven += step
        }
    }

    /// Forgets the oldest trade of a content, whose partner can no longer be told from another trade.
    private mutating func forget(_ content: AuditContent, ofVenue isVenue: Bool) {
        _ = self.groups[content]?.take(ofVenue: isVenue)
        if self.groups[content]?.isUnused == true { self.groups[content] = nil }
    }

    private mutating func forgetMatched() {
        guard let content = self.matched.popFirst()?.content else { return }
        self.groups[content]?.matched -= 1
        if self.groups[content]?.isUnused == true { self.groups[content] = nil }
    }

    // MARK: Report

    var report: AuditedSymbol {
        var report = self.counts
        report.missingIDs = self.missing.ranges
        report.unlistedIDs = self.missing.unlisted
        report.reordered = self.order.overtaken
        report.gaps = self.finnhubStream.gapCount
        report.waiting = self.venue.waiting + self.finnhub.waiting
        report.delay = self.delays.summary
        if let one = self.venueStream.start, let other = self.finnhubStream.start {
            let (from, to) = (max(one, other), min(self.venueStream.newest, self.finnhubStream.newest))
            if from <= to { report.span = from...to }
        }
        return report
    }
}
