package import Market

/// Up to when the tape of an ingest has all trades, by its messages; wall clock, ns since 1970.
package struct TapeCompleteness: Sendable, Equatable {
    /// A time in which a feed of the ingest is not live. Its gap is published when it has a connection again.
    package struct Outage: Sendable, Equatable {
        package var since: Int64
        /// The symbols that have traded meanwhile, so that they are of other feeds.
        package var traded: Set<String> = []
    }

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

    /// Notes the arrival of trades.
    ///
    /// - Parameter symbols: theirs, which are asked for during an outage only.
    package mutating func traded(_ time: Int64, of symbols: () -> [String]) {
        self.end = max(self.end, time)
        self.proven = max(self.proven, time)
        if self.outage != nil { self.outage?.traded.formUnion(symbols()) }
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

    /// Returns the gaps of the open outage, one for each symbol that has not traded since. What is missing since the
    /// newest trade is not in them, so there are none if no symbol has traded.
    ///
    /// - Parameter symbols: those with a state.
    package func outageGaps(of symbols: Set<String>, _ gap: Gap) -> [Gap] {
        guard let outage, outage.since < self.proven else { return [] }
        return symbols.subtracting(outage.traded).sorted().map { symbol in
            var gap = gap
            (gap.symbol, gap.from, gap.to) = (symbol, outage.since, self.proven)
            return gap
        }
    }
}
