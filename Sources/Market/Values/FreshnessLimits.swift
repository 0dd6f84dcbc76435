/// The ages from which the feed calls its data late and a symbol's price old, for readers who see its trades.
///
/// The feed's own words decide what every output says. These limits speak only where it says nothing: for a symbol that it
/// tells no state of, and when it hangs.
package struct FreshnessLimits: Sendable, Equatable {
    /// Without a trade of any symbol for so long the feed calls itself late; ns.
    package var lateAfter: Int64 = 5_000_000_000
    /// Without a trade for so long a symbol that the feed says nothing of is old; ns.
    package var staleAfter: Int64 = 30_000_000_000
    /// Whether the reader gets all trades of the feed. One who gets only some symbols cannot know that the feed hangs.
    package var seesAllTrades = true

    /// How long the feed's word may take to arrive, ns. A feed that goes on calling itself live for longer hangs.
    package static let patience: Int64 = 1_000_000_000

    package init() {}
}

extension FreshnessLimits {
    /// How many times as long as its longest recent silence a symbol must be silent to be late: fewer than make it quiet.
    static let lateFactor = 2

    /// The age from which a price is late though the feed's other symbols trade, ns.
    ///
    /// - Parameter longest: the symbol's longest recent silence, ns.
    package func unusualSilence(longest: Int64) -> Int64 {
        UsualSilence.limit(longest: longest, times: Self.lateFactor, within: self.lateAfter...Int64.max)
    }
}

extension FeedStatus {
    /// What is true while somebody has paused the replay: nobody expects a trade, also where none came before the pause.
    ///
    /// What is over is not paused, though a replay stands still at its end.
    package var heldStill: FeedStatus {
        guard self.phase != .ended, self.phase != .stopped else { return self }
        var status = self
        status.isPaused = self.source != .live
        guard self.phase == .late || self.phase == .stale else { return status }
        status.phase = .live
        status.reason = nil
        return status
    }

    /// What is true of the feed for whoever knows the age of its newest trade: the feed's word, or, when it hangs and goes on
    /// calling itself live, what it should have said.
    ///
    /// - Parameters:
    ///   - newestAge: the time since the newest trade of all arrived, ns; `nil` when none has.
    ///   - wall: the wall clock now, ns since 1970.
    package func believed(newestAge: Int64?, wall: Int64, limits: FreshnessLimits) -> FeedStatus {
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
        status.reason = "no trade, and no word of that from the feed: it hangs"
        return status
    }
}
