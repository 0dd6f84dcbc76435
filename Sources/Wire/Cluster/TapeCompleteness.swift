package import Market

/// Up to when the tape of an ingest has all trades, by its messages; wall clock, ns since 1970.
package struct TapeCompleteness: Sendable, Equatable {
    /// Up to when nothing is missing, as far as the ingest knows.
    package private(set) var end: Int64
    /// Up to when the trades and gaps themselves show it. Gaps begin there: the ingest's feed may have been cut off
    /// without having noticed.
    package private(set) var proven: Int64
    private var isLive = false

    package init(_ end: Int64) {
        self.end = end
        self.proven = end
    }

    /// Notes a message of the ingest: while it is live, it has had all trades.
    package mutating func passed(_ time: Int64) {
        if self.isLive { self.end = max(self.end, time) }
    }

    /// Notes the arrival of a trade. Beside an open interruption of another feed it proves nothing.
    package mutating func traded(_ time: Int64) {
        self.passed(time)
        if self.isLive { self.proven = max(self.proven, time) }
    }

    /// Notes the end of a gap.
    package mutating func gapEnded(_ time: Int64) {
        self.proven = max(self.proven, time)
        self.end = max(self.end, time)
    }

    /// Notes the feed's phase; `nil` while it is not known.
    ///
    /// A feed notices late that its connection was cut, and publishes the gap when it has another one. So when it is not
    /// live any more, the time since the newest trade is in doubt, unless it was stopped.
    package mutating func changed(to phase: FeedStatus.Phase?) {
        switch phase {
        case .live:
            self.isLive = true
            return
        case .connecting, .waiting, .late, .stale, .reconnecting, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol,
            .notPermitted:
            if self.isLive { self.end = self.proven }
        case .ended, .stopped, nil: break
        }
        self.isLive = false
    }
}
