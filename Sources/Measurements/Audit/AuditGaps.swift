import Market

/// The gaps in Finnhub's trades of one symbol, and the venue's trades of their times that Finnhub has not sent.
///
/// A state machine. A gap is identified, once, when Finnhub has gone on for a while, the venue has gone on, too, and what
/// the venue's own connection lacked of that time has come or is lost for good. Times are the exchange's, ms since 1970,
/// and arrivals are ns on the clock of both sides.
struct AuditGaps {
    private struct Pending {
        /// The times of Finnhub's last trade before the gap and of the first one after it; `nil` until that comes.
        let from: Int64
        var to: Int64?
        /// The arrival of the latter.
        var endedAt: Int64 = .max
        /// The times of the published gap, wall clock, ns since 1970.
        var published: ClosedRange<Int64>
        /// The ids of the trades that were judged, and wait for their partners no longer.
        var ids = IDRanges()
        /// Whether these were too scattered to remember all.
        var isScattered = false

        /// - Parameter slack: how far outside a trade may be, ms.
        func contains(_ time: Int64, slack: Int64 = 0) -> Bool {
            self.from.subtractingCapped(slack) <= time && time.subtractingCapped(slack) <= self.to ?? .max
        }

        mutating func insert(_ id: UInt64) {
            self.ids.insert(id...id)
            guard self.ids.count > AuditGaps.ranges else { return }
            self.isScattered = true
            self.ids.keep(atMost: AuditGaps.ranges)
        }
    }

    /// Ids that the venue's connection lacked.
    private struct VenueHole {
        let ids: ClosedRange<UInt64>
        let from: Int64
        var to: Int64?
        /// What became of it; `nil` while the trades may come.
        var lost: [ClosedRange<UInt64>]?
        var reason: String?

        func touches(_ gap: Pending) -> Bool { self.from <= gap.to ?? .max && gap.from <= self.to ?? .max }
    }

    private enum Progress {
        case waiting, unknown, identified
    }

    /// The most gaps that wait, and the most holes of the venue's connection. The oldest are not identified, and nothing
    /// before the oldest hole.
    private static let limits = (gaps: 64, holes: 64)
    /// How far outside a gap's times its trades may be, ms. Finnhub's trades need not come in the order of their times,
    /// so a lost one may be older than the last trade before the gap, or newer than the first one after it.
    private static let slack: Int64 = 1_000
    /// The most separate ranges of ids of a gap. One with more is not identified.
    private static let ranges = 256
    /// How long a gap waits for the venue, ns.
    private static let patience: Int64 = 3_600_000_000_000

    /// How long after the gap's end a trade may still come from Finnhub, ns.
    private let wait: Int64
    private let symbol: String
    private var pending: [Pending] = []
    /// The trades that were judged while Finnhub's newest trade was of this time: a gap that shows later has them.
    private var parked = Pending(from: .min, published: 0...0)
    private var holes: [VenueHole] = []
    /// The venue's trades after this time are known but for ``holes``; `nil` before its next trade.
    private var knownAfter: Int64?
    /// The highest id that was named.
    private var newest: UInt64 = 0

    init(of symbol: String, wait: Int64) {
        self.symbol = symbol
        self.wait = wait
    }

    // MARK: Finnhub

    /// Takes a published gap, before the next trade.
    ///
    /// - Parameters:
    ///   - time: of the newest trade before it.
    ///   - published: its times, wall clock, ns since 1970.
    mutating func finnhubInterrupted(after time: Int64, published: ClosedRange<Int64>) {
        if let last = self.pending.indices.last, self.pending[last].to == nil {
            let before = self.pending[last].published
            self.pending[last].published =
                min(before.lowerBound, published.lowerBound)...max(before.upperBound, published.upperBound)
            return
        }
        var gap = Pending(from: time, published: published)
        if self.parked.from == time { (gap.ids, gap.isScattered) = (self.parked.ids, self.parked.isScattered) }
        self.parked = Pending(from: .min, published: 0...0)
        self.pending.append(gap)
        if self.pending.count > Self.limits.gaps { self.pending.removeFirst() }
    }

    mutating func finnhubTraded(_ time: Int64, at arrival: Int64) {
        guard let last = self.pending.indices.last, self.pending[last].to == nil, time > self.pending[last].from else {
            return
        }
        self.pending[last].to = time
        self.pending[last].endedAt = arrival
    }

    /// Takes the id of a trade that Finnhub has sent.
    mutating func delivered(_ id: UInt64) {
        for index in self.pending.indices { _ = self.pending[index].ids.remove(id) }
        if self.parked.ids.count > 0 { _ = self.parked.ids.remove(id) }
    }

    // MARK: The venue

    /// Takes the time of a trade that came live.
    mutating func venueTraded(_ time: Int64) {
        if self.knownAfter == nil { self.knownAfter = time }
        if let last = self.holes.indices.last, self.holes[last].to == nil {
            for index in self.holes.indices where self.holes[index].to == nil {
                self.holes[index].to = max(time, self.holes[index].from)
            }
        }
    }

    /// Notes that trades after the newest one are missing.
    ///
    /// - Parameters:
    ///   - time: of the newest one.
    ///   - ids: those of the missing ones, which have an outcome later; `nil` if they are unknown.
    mutating func venueInterrupted(after time: Int64, ids: ClosedRange<UInt64>?) {
        guard let ids else {
            self.knownAfter = nil
            // The ids may begin anew.
            self.newest = 0
            return
        }
        self.holes.append(VenueHole(ids: ids, from: time))
        if self.holes.count > Self.limits.holes {
            let oldest = self.holes.removeFirst()
            if let known = self.knownAfter { self.knownAfter = max(known, oldest.to ?? time) }
        }
    }

    /// Takes the outcome of missing trades.
    mutating func venueSettled(_ outcome: GapOutcome) {
        guard let index = self.holes.firstIndex(where: { $0.ids == outcome.missing }) else { return }
        guard !outcome.isComplete else {
            self.holes.remove(at: index)
            return
        }
        self.holes[index].lost = outcome.lost
        self.holes[index].reason = outcome.reason
    }

    /// Takes a trade that found no partner and waits no longer.
    ///
    /// - Parameter finnhub: the time of Finnhub's newest trade.
    mutating func judged(_ id: UInt64, of time: Int64, finnhub: Int64) {
        let index =
            self.pending.firstIndex { $0.contains(time) }
            ?? self.pending.firstIndex { $0.contains(time, slack: Self.slack) }
        if let index {
            guard id > self.newest else { return }
            self.pending[index].insert(id)
        } else if time >= finnhub.subtractingCapped(Self.slack) {
            if self.parked.from != finnhub { self.parked = Pending(from: finnhub, published: 0...0) }
            self.parked.insert(id)
        }
    }

    // MARK: Identified gaps

    /// Whether a gap may be identified now.
    ///
    /// - Parameter venue: the time of the venue's newest trade.
    func isDue(now: Int64, venue: Int64) -> Bool {
        self.pending.first.map { self.progress(of: $0, now: now, venue: venue) != .waiting } ?? false
    }

    private func progress(of gap: Pending, now: Int64, venue: Int64) -> Progress {
        guard let to = gap.to, now.subtractingCapped(gap.endedAt) >= self.wait else { return .waiting }
        let isLate = now.subtractingCapped(gap.endedAt) >= Self.patience
        guard let knownAfter else { return isLate ? .unknown : .waiting }
        guard gap.from > knownAfter else { return .unknown }
        if venue > to, !self.holes.contains(where: { $0.lost == nil && $0.touches(gap) }) { return .identified }
        return isLate ? .unknown : .waiting
    }

    /// Removes and returns the gaps of which it is known which trades are missing, if any. A gap of a time in which the
    /// venue was not connected is dropped.
    ///
    /// - Parameter waiting: the venue's trades that wait for their partners.
    mutating func take(now: Int64, venue: Int64, waiting: [AuditQueue.Entry]) -> [IdentifiedGap] {
        var identified: [IdentifiedGap] = []
        while let gap = self.pending.first {
            let progress = self.progress(of: gap, now: now, venue: venue)
            guard progress != .waiting else { break }
            self.pending.removeFirst()
            if progress == .identified, let found = self.identify(gap, waiting, now: now) { identified.append(found) }
        }
        return identified
    }

    private mutating func identify(_ gap: Pending, _ waiting: [AuditQueue.Entry], now: Int64) -> IdentifiedGap? {
        var gap = gap
        for entry in waiting where entry.number > self.newest {
            let time = entry.content.time
            // Of the others some may still come from Finnhub, and some are those of the next gap.
            let isNear = gap.contains(time, slack: Self.slack) && now.subtractingCapped(entry.arrival) >= self.wait / 2
            guard gap.contains(time) || isNear && self.pending.first?.contains(time) != true else { continue }
            gap.insert(entry.number)
        }
        guard !gap.isScattered else { return nil }
        var lost = IDRanges()
        var reason: String?
        for hole in self.holes where hole.touches(gap) {
            for range in hole.lost ?? [] where range.lowerBound > self.newest {
                // A lost trade may have come after all.
                let parts = gap.ids.ranges.reduce([range]) { parts, known in
                    parts.flatMap { $0.overlaps(known) ? $0.without(known) : [$0] }
                }
                for part in parts { lost.insert(part) }
            }
            reason = reason ?? hole.reason.map { "the exchange's own connection lacked them, too: \($0)" }
        }
        self.newest = [gap.ids, lost].compactMap(\.ranges.last?.upperBound).reduce(self.newest, max)
        return IdentifiedGap(
            symbol: self.symbol,
            from: gap.published.lowerBound,
            to: gap.published.upperBound,
            // Finnhub's times are cut to milliseconds.
            after: gap.from.subtractingCapped(Self.slack + 1).multipliedCapped(by: 1_000_000),
            missing: gap.ids.ranges,
            lost: lost.ranges,
            reason: lost.ranges.isEmpty ? nil : reason
        )
    }
}
