package import Market
package import Wire

/// What has happened to a feed: its interruptions by cause, and its gaps.
///
/// A value without a clock, of bounded size.
package struct FeedHistory: Sendable, Equatable {
    /// How many of the newest gaps are remembered one by one.
    package static let rememberedGaps = 32

    /// Attempts that were announced after an interruption, by its cause.
    package private(set) var reconnects: [FeedStatus.Cause: UInt64] = [:]
    /// The newest gaps, the oldest first.
    package private(set) var gaps: [Gap] = []
    package private(set) var gapCount: UInt64 = 0
    /// The length of all gaps together, ns.
    package private(set) var gapNanoseconds: Int64 = 0
    /// Frames that came again within two seconds, and the trades that were left out or marked for it or after a gap.
    package private(set) var repeats = TapeBatch.Losses()
    private var phase: FeedStatus.Phase?

    package init() {}

    /// Takes a status; returns the cause of an interruption if it announces another attempt.
    package mutating func statusChanged(_ status: FeedStatus) -> FeedStatus.Cause? {
        defer { self.phase = status.phase }
        // The same attempt may be told of again, with more words.
        guard status.phase != self.phase, status.phase.announcesAttempt else { return nil }
        let cause = status.cause ?? .other
        self.reconnects[cause, default: 0] += 1
        return cause
    }

    /// Takes what of a read may have come before.
    package mutating func repeated(_ losses: TapeBatch.Losses) {
        self.repeats.repeatedFrames += losses.repeatedFrames
        self.repeats.repeatedTrades += losses.repeatedTrades
        self.repeats.possibleRepeats += losses.possibleRepeats
    }

    package mutating func gapFound(_ gap: Gap) {
        self.gapCount += 1
        let (span, isAbsurd) = gap.to.subtractingReportingOverflow(gap.from)
        // Seconds are those of the feed: the others traded on while one symbol was silent.
        if !isAbsurd, gap.symbol == nil { self.gapNanoseconds &+= max(span, 0) }
        if self.gaps.count == Self.rememberedGaps { self.gaps.removeFirst() }
        self.gaps.append(gap)
    }
}

extension FeedStatus.Phase {
    /// Whether a connection or an attempt has failed, and another attempt is due or would be if a person mended things.
    fileprivate var announcesAttempt: Bool {
        switch self {
        case .reconnecting, .rateLimited, .keyRejected, .keyInUse: true
        case .connecting, .waiting, .live, .late, .stale, .noSuchSymbol, .notPermitted, .ended, .stopped: false
        }
    }
}
