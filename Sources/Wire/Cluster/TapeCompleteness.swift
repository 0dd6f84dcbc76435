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

    /// A time in which a feed of the ingest is not live.
    private struct Outage: Equatable {
        /// The newest trade, or the end of the newest gap, when the ingest noticed it.
        var since: Int64
        /// Whether the feed was without a connection meanwhile. What comes after a silence shows that nothing was missed.
        var isCut = false
    }

    /// A symbol without a trade for a shorter time is not silent, ns.
    private static let brief: Int64 = 1_000_000_000
    /// How long before its notice an outage can have begun, ns. Feeds notice a cut connection after `feed.late-after`,
    /// 5 s by default.
    private static let noticeTime: Int64 = 60_000_000_000

    /// Up to when nothing is missing, as far as the ingest knows.
    package private(set) var end: Int64
    /// The newest trade, or the end of the newest gap. Gaps begin there: the ingest's feed may have been cut off without
    /// having noticed.
    package private(set) var proven: Int64
    /// The end of the newest gap of all symbols.
    private var named: Int64
    /// The newest trade of each symbol, or the end of its newest gap; one that is not there is older than all.
    private var newest: [String: Int64] = [:]
    /// The newest trades with an id, unless trades of unknown ids may be missing behind them.
    private var identified: [String: Newest] = [:]
    /// The outages that are over, of the symbols that have not traded since.
    private var doubts: [String: ClosedRange<Int64>] = [:]
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
        let newest = symbols.compactMap { self.newest[$0] }.max() ?? .min
        return min(self.proven, max(newest, self.named, self.proven.subtractingCapped(Self.noticeTime)))
    }

    /// Returns the newest trade of a symbol; `nil` if its id is not known.
    package func newest(of symbol: String) -> Newest? { self.identified[symbol] }

    /// Notes that the tape has lost trades which others may have.
    package mutating func lostTrades() { self.identified = [:] }

    // MARK: Messages

    /// Notes a message of the ingest: while it is live, it has had all trades.
    package mutating func passed(_ time: Int64) {
        if self.isLive { self.end = max(self.end, time) }
    }

    /// Notes the trades of a read that arrived at a time; not filled ones, which say nothing of the connection.
    package mutating func read(_ batch: TapeBatch, at time: Int64) {
        for trade in batch.trades where !trade.marks.contains(.filled) {
            let symbol = batch.symbols.name(of: trade.symbol)
            self.note(time, of: symbol)
            self.proven = max(self.proven, time)
            guard let id = trade.id, self.newest[symbol] != nil else { continue }
            self.identified[symbol] = Newest(id: id, time: trade.exchangeTime, arrival: time)
        }
        self.end = max(self.end, self.proven)
    }

    /// Notes a gap: what it names is not in doubt any more.
    package mutating func gapFound(_ gap: Gap) {
        if let symbol = gap.symbol { return self.note(gap.to, of: symbol) }
        self.proven = max(self.proven, gap.to)
        self.end = max(self.end, gap.to)
        self.named = max(self.named, gap.to)
        self.doubts = [:]
        self.outage?.since = self.proven
    }

    private mutating func note(_ time: Int64, of symbol: String) {
        if self.newest.count >= SymbolTable.capacity, self.newest[symbol] == nil {
            self.newest = self.newest.filter { $0.value > time.subtractingCapped(Self.noticeTime) }
            self.identified = self.identified.filter { self.newest[$0.key] != nil }
            guard self.newest.count < SymbolTable.capacity else { return }
        }
        self.newest[symbol] = max(self.newest[symbol] ?? .min, time)
        self.doubts[symbol] = nil
    }

    /// Notes that the ingest does not subscribe to a symbol any more.
    package mutating func released(_ symbol: String) {
        self.newest[symbol] = nil
        self.identified[symbol] = nil
        self.doubts[symbol] = nil
    }

    /// Notes the phase of the feeds, which is the worst one of several; `nil` while it is not known.
    ///
    /// A feed notices late that its connection was cut. So when it is not live any more, the time since the newest trade
    /// is in doubt, unless it was stopped.
    package mutating func changed(to phase: FeedStatus.Phase?, at time: Int64) {
        switch phase {
        case .live:
            self.outageEnded(time)
            self.isLive = true
            return
        case .late, .stale, .waiting, .noSuchSymbol, .notPermitted: self.outageNoticed(isCut: false)
        case .connecting, .reconnecting, .rateLimited, .keyRejected, .keyInUse: self.outageNoticed(isCut: true)
        case .ended, .stopped: break
        case nil: self.outage = nil
        }
        self.isLive = false
    }

    private mutating func outageNoticed(isCut: Bool) {
        if self.isLive { self.end = self.proven }
        if self.outage == nil { self.outage = Outage(since: self.proven) }
        if isCut { self.outage?.isCut = true }
    }

    /// The feeds are live with the first trade of one symbol. What the others missed shows with their next trades.
    private mutating func outageEnded(_ time: Int64) {
        if let outage, outage.isCut {
            for (symbol, last) in self.newest where last <= outage.since {
                let from = min(self.doubts[symbol]?.lowerBound ?? .max, self.start(of: outage, last))
                if from < time { self.doubts[symbol] = from...time }
            }
        }
        self.outage = nil
    }

    /// Returns when a symbol can have begun to miss trades in an outage.
    private func start(of outage: Outage, _ last: Int64) -> Int64 {
        max(last, min(outage.since, max(self.named, outage.since.subtractingCapped(Self.noticeTime))))
    }

    // MARK: Outages

    /// Returns the gaps of outages that the ingest can name no more, one for each symbol that has not traded since, and
    /// takes them as named.
    ///
    /// - Parameters:
    ///   - symbols: those with a state.
    ///   - end: the end of an open outage.
    ///   - gap: what they have in common.
    package mutating func takeOutageGaps(of symbols: Set<String>, to end: Int64, _ gap: Gap) -> [Gap] {
        var gaps: [Gap] = []
        for symbol in symbols.sorted() {
            var times = self.doubts[symbol]
            // Trades while the status is not live are those of other feeds.
            if let outage, self.proven > outage.since || end > self.proven {
                let from = min(times?.lowerBound ?? .max, self.start(of: outage, self.newest[symbol] ?? .min))
                if from < end { times = from...end }
            }
            guard let times, times.upperBound - times.lowerBound >= Self.brief else { continue }
            var gap = gap
            (gap.symbol, gap.from, gap.to) = (symbol, times.lowerBound, times.upperBound)
            gaps.append(gap)
        }
        for gap in gaps { self.gapFound(gap) }
        self.doubts = [:]
        return gaps
    }
}
