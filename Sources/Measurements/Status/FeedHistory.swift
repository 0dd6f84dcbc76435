package import Market
package import Wire

/// The history of a feed: its interruptions by cause, and its gaps.
///
/// A value without a clock, of bounded size.
package struct FeedHistory: Sendable, Equatable {
    /// A gap, and its outcomes for the symbols whose missing trades have ids.
    package struct KnownGap: Sendable, Equatable {
        package var gap: Gap
        package var outcomes: [GapOutcome] = []

        /// Returns whether an outcome is of this gap.
        fileprivate func has(_ outcome: GapOutcome) -> Bool {
            guard self.gap.from == outcome.from, self.gap.to == outcome.to else { return false }
            return (self.gap.symbol ?? outcome.symbol) == outcome.symbol
                && (self.gap.missing ?? outcome.missing) == outcome.missing
        }
    }

    /// The number of newest gaps that are kept individually.
    package static let rememberedGaps = 32

    /// The attempts announced after an interruption, by its cause.
    package private(set) var reconnects: [FeedStatus.Cause: UInt64] = [:]
    /// The newest gaps, oldest first.
    package private(set) var gaps: [KnownGap] = []
    package private(set) var gapCount: UInt64 = 0
    /// The length of all gaps together, ns.
    package private(set) var gapNanoseconds: Int64 = 0
    /// The frames repeated within two seconds, and the trades left out or marked as repeats, in such frames or after a
    /// gap.
    package private(set) var repeats = TapeBatch.Losses()
    private var phase: FeedStatus.Phase?

    package init() {}

    /// Takes a status; returns the cause of an interruption if the status announces another attempt.
    package mutating func statusChanged(_ status: FeedStatus) -> FeedStatus.Cause? {
        defer { self.phase = status.phase }
        // The same attempt may be reported again with a longer reason.
        guard status.phase != self.phase, status.phase.announcesAttempt else { return nil }
        let cause = status.cause ?? .other
        self.reconnects[cause, default: 0] += 1
        return cause
    }

    /// Adds the possible repeats of a read.
    package mutating func repeated(_ losses: TapeBatch.Losses) {
        self.repeats.repeatedFrames += losses.repeatedFrames
        self.repeats.repeatedTrades += losses.repeatedTrades
        self.repeats.possibleRepeats += losses.possibleRepeats
    }

    package mutating func gapFound(_ gap: Gap) {
        self.gapCount += 1
        let (span, isAbsurd) = gap.to.subtractingReportingOverflow(gap.from)
        // The sum counts only gaps of the whole feed: while a single symbol was silent, the others traded on.
        if !isAbsurd, gap.symbol == nil { self.gapNanoseconds &+= max(span, 0) }
        if self.gaps.count == Self.rememberedGaps { self.gaps.removeFirst() }
        self.gaps.append(KnownGap(gap: gap))
    }

    /// Adds an outcome of a gap, unless newer gaps have replaced that one.
    ///
    /// - Returns: the outcome of the gap and the symbol that this one replaces.
    @discardableResult
    package mutating func gapSettled(_ outcome: GapOutcome) -> GapOutcome? {
        guard let place = self.gaps.lastIndex(where: { $0.has(outcome) }) else { return nil }
        // A symbol has one outcome of a gap.
        let before = self.gaps[place].outcomes.first { $0.symbol == outcome.symbol }
        self.gaps[place].outcomes.removeAll { $0.symbol == outcome.symbol }
        self.gaps[place].outcomes.append(outcome)
        return before
    }
}

extension FeedStatus.Phase {
    /// Whether a connection or an attempt has failed, and another attempt will follow, if necessary after a person's
    /// action.
    fileprivate var announcesAttempt: Bool {
        switch self {
        case .reconnecting, .rateLimited, .keyRejected, .keyInUse: true
        case .connecting, .waiting, .live, .late, .stale, .noSuchSymbol, .notPermitted, .ended, .stopped: false
        }
    }
}
