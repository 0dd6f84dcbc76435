package import Market

/// Up to when the tape of an ingest has all trades, by its messages; wall clock, ns since 1970.
package struct TapeCompleteness: Sendable, Equatable {
    /// A time in which a feed of the ingest is not live. Its gap is published when it has a connection again.
    package struct Outage: Sendable, Equatable {
        package var since: Int64
        /// The newest trades meanwhile. Which feed is not live can change.
        package var newest: [String: Int64] = [:]
    }

    /// A symbol without a trade for a shorter time is not silent, ns.
    private static let brief: Int64 = 1_000_000_000

    /// Up to when nothing is missing, as far as the ingest knows.
    package private(set) var end: Int64
    /// The newest trade, or the end of the newest gap. Gaps begin there: the ingest's feed may have been cut off without
    /// having noticed.
    package private(set) var proven: Int64
    /// The open outage; `nil` while all feeds are live.
    package private(set) var outage: Outage?
    private var isLive = false

    package init(_ end: Int64) {
        self.end = end
        self.proven = end
    }

    /// Notes a message of the ingest: while it is live, it has had all trades.
    package mutating func passed(_ time: Int64) {
        if self.isLive { self.end = max(self.end, time) }
    }

    /// Notes the arrival of trades; not of filled ones, which say nothing of the connection.
    ///
    /// - Parameter symbols: theirs, which are asked for during an outage only.
    package mutating func traded(_ time: Int64, of symbols: () -> [String]) {
        self.end = max(self.end, time)
        self.proven = max(self.proven, time)
        guard let outage else { return }
        for symbol in symbols() where outage.newest[symbol] != nil || outage.newest.count < SymbolTable.capacity {
            self.outage?.newest[symbol] = time
        }
    }

    /// Notes the trades of a read that arrived at a time.
    package mutating func read(_ batch: TapeBatch, at time: Int64) {
        func isLive(_ trade: Trade) -> Bool { !trade.marks.contains(.filled) }
        guard batch.trades.contains(where: isLive) else { return }
        self.traded(time) { batch.trades.filter(isLive).map { batch.symbols.name(of: $0.symbol) } }
    }

    /// Notes the end of a gap of all symbols.
    package mutating func gapEnded(_ time: Int64) {
        self.proven = max(self.proven, time)
        self.end = max(self.end, time)
        if self.outage != nil { self.outage = Outage(since: self.proven) }
    }

    /// Notes the phase of the feeds, which is the worst one of several; `nil` while it is not known.
    ///
    /// A feed notices late that its connection was cut. So when it is not live any more, the time since the newest trade
    /// is in doubt, unless it was stopped.
    package mutating func changed(to phase: FeedStatus.Phase?) {
        switch phase {
        case .live:
            self.isLive = true
            self.outage = nil
            return
        case .connecting, .waiting, .late, .stale, .reconnecting, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol,
            .notPermitted:
            if self.isLive { self.end = self.proven }
            self.outage = self.outage ?? Outage(since: self.proven)
        case .ended, .stopped: break
        case nil: self.outage = nil
        }
        self.isLive = false
    }

    /// Returns the gaps of the open outage, one for each symbol that was silent before ``proven``: from its newest trade
    /// since the outage began.
    ///
    /// - Parameters:
    ///   - symbols: those with a state.
    ///   - gap: what they have in common.
    package func outageGaps(of symbols: Set<String>, _ gap: Gap) -> [Gap] {
        guard let outage else { return [] }
        return symbols.sorted().compactMap { symbol in
            var gap = gap
            (gap.symbol, gap.from, gap.to) = (symbol, outage.newest[symbol] ?? outage.since, self.proven)
            return gap.to - gap.from < Self.brief ? nil : gap
        }
    }
}
