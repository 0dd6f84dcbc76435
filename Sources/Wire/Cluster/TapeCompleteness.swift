package import Market

/// Up to when the tape of an ingest has all trades, by its messages; wall clock, ns since 1970.
package struct TapeCompleteness: Sendable, Equatable {
    /// The newest trade of a symbol whose trades have ids.
    package struct Newest: Sendable, Equatable {
        package var id: UInt64
        /// The exchange's time, ns since 1970.
        package var time: Int64
        /// Wall clock, ns since 1970.
        package var arrival: Int64
    }

    private struct Symbol: Equatable {
        /// The most outages that are remembered; the newest are joined.
        private static let most = 8

        /// Since when the ingest subscribes to it, as far as this tape knows.
        var since: Int64
        /// The newest trade, or the end of the newest gap.
        var proven: Int64?
        /// The newest id, also of a filled trade; `nil` if trades of unknown ids may be missing behind it.
        var newest: Newest?
        /// The outages that are over since its newest trade or gap.
        private(set) var doubts: [ClosedRange<Int64>] = []

        init(since: Int64) { self.since = since }

        mutating func take(_ trade: Trade, at time: Int64) {
            guard trade.marks.contains(.filled) else {
                self.prove(time)
                self.newest = trade.id.map { Newest(id: $0, time: trade.exchangeTime, arrival: time) }
                return
            }
            guard let id = trade.id, let newest, newest.id < id else { return }
            self.newest = Newest(id: id, time: trade.exchangeTime, arrival: newest.arrival)
        }

        mutating func prove(_ time: Int64) {
            self.proven = max(self.proven ?? .min, time)
            self.doubts = []
        }

        /// Takes an outage that began at a time, or at the newest trade after that.
        mutating func doubt(from earliest: Int64, to end: Int64) {
            var from = max(self.proven ?? self.since, earliest)
            guard from < end else { return }
            while let last = self.doubts.last, last.upperBound >= from || self.doubts.count >= Self.most {
                from = min(from, last.lowerBound)
                self.doubts.removeLast()
            }
            self.doubts.append(from...end)
        }

        /// Takes that a gap has named what is in doubt.
        mutating func named() { self.doubts = [] }
    }

    /// A time in which a feed of the ingest is not live.
    private struct Outage: Equatable {
        /// The newest trade, or the end of the newest gap, when the ingest noticed it.
        var since: Int64
        /// Whether a feed is without a connection. What comes after a silence shows that nothing was missed.
        var isCut: Bool
        /// Whether trades have come meanwhile: those of other feeds.
        var isPartial = false
    }

    /// A symbol without a trade for a shorter time is not silent, ns.
    private static let brief: Int64 = 1_000_000_000
    /// What a symbol misses in an outage that is over is named from this length on, ns: the end of a feed's own gap and
    /// its status are two readings of the clock.
    private static let least: Int64 = 100_000_000
    /// How long before its notice a connection can have been cut, ns. Feeds notice it after `feed.late-after` (5 s), or by
    /// an unanswered ping.
    private static let noticeTime: Int64 = 60_000_000_000

    /// Up to when nothing is missing, as far as the ingest knows.
    package private(set) var end: Int64
    /// The newest trade, or the end of the newest gap. Gaps begin there: the ingest's feed may have been cut off without
    /// having noticed.
    package private(set) var proven: Int64
    /// The end of the newest gap of all symbols.
    private var named: Int64
    private var symbols: [String: Symbol] = [:]
    /// The open outage; `nil` while all feeds are live.
    private var outage: Outage?
    private var isLive = false

    package init(_ end: Int64) {
        self.end = end
        self.proven = end
        self.named = end
    }

    /// Returns up to when nothing is missing of the symbols of one feed. Other feeds say nothing of it.
    package func proven(of symbols: [String]) -> Int64 {
        let newest = symbols.compactMap { self.symbols[$0]?.proven }.max() ?? .min
        return min(self.proven, max(newest, self.earliest(self.outage)))
    }

    /// Returns the newest trade of a symbol; `nil` if its id is not known.
    package func newest(of symbol: String) -> Newest? { self.symbols[symbol]?.newest }

    /// Returns when an outage can have begun; `nil` stands for one that was not noticed.
    private func earliest(_ outage: Outage?) -> Int64 {
        let notice = outage.map { $0.isCut ? $0.since : self.proven } ?? self.proven
        return min(self.proven, max(self.named, notice.subtractingCapped(Self.noticeTime)))
    }

    // MARK: Messages

    /// Notes a message of the ingest: while it is live, it has had all trades.
    package mutating func passed(_ time: Int64) {
        if self.isLive { self.end = max(self.end, time) }
    }

    /// Notes the trades of a read that arrived at a time. Filled ones say nothing of the connection.
    package mutating func read(_ batch: TapeBatch, at time: Int64) {
        for trade in batch.trades {
            self.symbols[batch.symbols.name(of: trade.symbol)]?.take(trade, at: time)
            guard !trade.marks.contains(.filled) else { continue }
            self.proven = max(self.proven, time)
            self.outage?.isPartial = true
        }
        self.end = max(self.end, self.proven)
    }

    /// Notes a gap: what it names is not in doubt any more.
    package mutating func gapFound(_ gap: Gap) {
        if let symbol = gap.symbol {
            self.symbols[symbol]?.prove(gap.to)
            return
        }
        self.proven = max(self.proven, gap.to)
        self.end = max(self.end, gap.to)
        self.named = max(self.named, gap.to)
        for name in self.symbols.keys { self.symbols[name]?.named() }
        self.outage?.since = self.proven
    }

    /// Notes that the ingest subscribes to a symbol. Nothing is noted of symbols without that: a trade can follow the end
    /// of its subscription.
    package mutating func subscribed(_ symbol: String, at time: Int64) {
        guard self.symbols[symbol] == nil, self.symbols.count < SymbolTable.capacity else { return }
        self.symbols[symbol] = Symbol(since: time)
    }

    /// Notes that the ingest does not subscribe to a symbol any more.
    package mutating func released(_ symbol: String) { self.symbols[symbol] = nil }

    /// Forgets all symbols but those to which the ingest subscribes.
    package mutating func keep(_ symbols: Set<String>) {
        guard !self.symbols.keys.allSatisfy(symbols.contains) else { return }
        self.symbols = self.symbols.filter { symbols.contains($0.key) }
    }

    /// Notes that the tape has lost trades which others may have: what is missing behind the newest ids is not known.
    package mutating func lostTrades() { for name in self.symbols.keys { self.symbols[name]?.newest = nil } }

    /// Notes the phase of the feeds, which is the worst one of several; `nil` while it is not known.
    ///
    /// A feed notices late that its connection was cut. So when it is not live any more, the time since the newest trade
    /// is in doubt, unless it was stopped.
    package mutating func changed(to phase: FeedStatus.Phase?, at time: Int64) {
        switch phase {
        case .live:
            self.cutEnded(time)
            self.outage = nil
            self.isLive = true
            return
        case .ended, .stopped: break
        case nil: self.outage = nil
        case let phase?:
            if phase.isConnected { self.cutEnded(time) }
            self.outageNoticed(isCut: !phase.isConnected)
        }
        self.isLive = false
    }

    private mutating func outageNoticed(isCut: Bool) {
        if self.isLive { self.end = self.proven }
        if let outage, outage.isCut || !isCut { return }
        self.outage = Outage(since: self.proven, isCut: isCut, isPartial: self.outage?.isPartial ?? false)
    }

    /// All feeds have a connection. What a symbol has missed shows with its next trade.
    private mutating func cutEnded(_ time: Int64) {
        guard let outage, outage.isCut else { return }
        let earliest = self.earliest(outage)
        for name in self.symbols.keys { self.symbols[name]?.doubt(from: earliest, to: time) }
        self.outage = nil
    }

    // MARK: Outages

    /// Returns the gaps that the ingest may name no more, one for each symbol, and takes them as named: of outages that
    /// are over if it has not traded since, and of the open one.
    ///
    /// - Parameters:
    ///   - symbols: those with a state.
    ///   - end: where the open outage ends, for the symbols that have not traded in it; `nil` for the newest trade, and
    ///     for all that are silent then.
    ///   - gap: what they have in common.
    package mutating func takeOutageGaps(of symbols: Set<String>, to end: Int64? = nil, _ gap: Gap) -> [Gap] {
        var gaps: [Gap] = []
        for name in symbols.sorted() {
            guard var symbol = self.symbols[name] else { continue }
            var times = symbol.doubts.filter { $0.upperBound - $0.lowerBound >= Self.least }
            // Trades while the status is not live are those of other feeds.
            if let outage, end != nil ? symbol.proven ?? .min < outage.since : outage.isPartial {
                symbol.doubt(from: self.earliest(outage), to: end ?? self.proven)
                if let last = symbol.doubts.last, last.upperBound - last.lowerBound >= Self.brief {
                    times = times.filter { $0.upperBound < last.lowerBound } + [last]
                }
            }
            for times in times {
                var gap = gap
                (gap.symbol, gap.from, gap.to) = (name, times.lowerBound, times.upperBound)
                gaps.append(gap)
            }
        }
        for gap in gaps { self.gapFound(gap) }
        for name in symbols { self.symbols[name]?.named() }
        return gaps
    }
}

extension FeedStatus.Phase {
    /// Whether the feed has a connection, by which trades of its symbols come if there are any.
    package var isConnected: Bool {
        switch self {
        case .waiting, .live, .late, .stale, .noSuchSymbol, .notPermitted: true
        case .connecting, .reconnecting, .rateLimited, .keyRejected, .keyInUse, .ended, .stopped: false
        }
    }
}
