/// The ages from which a feed counts as late and a symbol's price as old, for readers that see the trades.
///
/// Every output shows the status that the feed reports. These limits apply only without a report: to a symbol without a
/// reported state, and when the feed hangs.
package struct FreshnessLimits: Sendable, Equatable {
    /// The time without a trade of any symbol after which the feed reports itself late; ns.
    package var lateAfter: Int64 = 5_000_000_000
    /// The time without a trade after which the price of a symbol without a reported state is old; ns.
    package var staleAfter: Int64 = 30_000_000_000
    /// Whether the reader gets all trades of the feed. A reader of only some symbols cannot detect that the feed hangs.
    package var seesAllTrades = true

    /// The longest delay of the feed's report, ns. A feed that still reports itself live after that hangs.
    package static let patience: Int64 = 1_000_000_000

    package init() {}
}

extension FreshnessLimits {
    /// The multiple of its longest recent silence after which a symbol is late; smaller than the one after which it is
    /// quiet.
    static let lateFactor = 2

    /// Returns the age from which a price is late even though the feed's other symbols trade, ns.
    ///
    /// - Parameter longest: the symbol's longest recent silence, ns.
    package func unusualSilence(longest: Int64) -> Int64 {
        UsualSilence.limit(longest: longest, times: Self.lateFactor, within: self.lateAfter...Int64.max)
    }
}

extension FeedStatus {
    /// The status while the replay is paused: no trade is expected, so the feed is neither late nor stale.
    ///
    /// A replay that has ended or stopped does not count as paused, although it stands still.
    package var heldStill: FeedStatus {
        guard self.phase != .ended, self.phase != .stopped else { return self }
        var status = self
        status.isPaused = self.source != .live
        guard self.phase == .late || self.phase == .stale else { return status }
        status.phase = .live
        status.reason = nil
        return status
    }

    /// Returns the status as seen by a reader that knows the age of the newest trade: the reported one, or, if the feed
    /// hangs and still reports itself live, the one that it should have reported.
    ///
    /// - Parameters:
    ///   - newestAge: the time since the newest trade of all symbols arrived, ns; `nil` if none has.
    ///   - wall: the current wall clock, ns since 1970.
    package func effective(newestAge: Int64?, wall: Int64, limits: FreshnessLimits) -> FeedStatus {
        guard limits.seesAllTrades, self.phase == .live, let newestAge else { return self }
        var status = self
        if newestAge >= max(limits.staleAfter, limits.lateAfter) + FreshnessLimits.patience {
            status.phase = .stale
            status.since = wall - newestAge + limits.staleAfter
        } else if newestAge >= limits.lateAfter + FreshnessLimits.patience {
            status.phase = .late
            status.since = wall - newestAge + limits.lateAfter
        } else {
            return self
        }
        status.reason = "no trades and no status from the feed; it appears to hang"
        return status
    }
}
