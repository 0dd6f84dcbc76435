package import Market

/// What has happened to a feed: its interruptions by kind, and its gaps.
///
/// A value without a clock, of bounded size.
package struct FeedHistory: Sendable, Equatable {
    /// How many of the newest gaps are remembered one by one.
    package static let rememberedGaps = 32

    /// Attempts that were announced after an interruption, by its kind.
    package private(set) var reconnects: [InterruptionClass: UInt64] = [:]
    /// The newest gaps, the oldest first.
    package private(set) var gaps: [Gap] = []
    package private(set) var gapCount: UInt64 = 0
    /// The length of all gaps together, ns.
    package private(set) var gapNanoseconds: Int64 = 0
    private var phase: FeedStatus.Phase?

    package init() {}

    /// Takes a status; answers with the kind of interruption if it announces another attempt.
    package mutating func statusChanged(_ status: FeedStatus) -> InterruptionClass? {
        defer { self.phase = status.phase }
        // The same attempt may be told of again, with more words.
        guard status.phase != self.phase, let kind = InterruptionClass(status) else { return nil }
        self.reconnects[kind, default: 0] += 1
        return kind
    }

    package mutating func gapFound(_ gap: Gap) {
        self.gapCount += 1
        let (span, isAbsurd) = gap.to.subtractingReportingOverflow(gap.from)
        if !isAbsurd { self.gapNanoseconds &+= max(span, 0) }
        if self.gaps.count == Self.rememberedGaps { self.gaps.removeFirst() }
        self.gaps.append(gap)
    }
}
