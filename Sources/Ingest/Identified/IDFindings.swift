import Market

/// A gap of a feed with ids, before its place on the tape is known.
struct FoundGap {
    /// The index, within the read, of the frame that shows it.
    var frame: Int
    /// Without a number and an epoch.
    var gap: Gap
}

/// The holes that show within one read, until its end, and the outcomes of gaps. A hole that is filled by then is no gap.
struct IDFindings {
    /// What is known of a hole when it shows.
    struct Opening {
        var frame: Int
        /// Wall clock, ns since 1970.
        var from: Int64
        var to: Int64
        var reason: String?
        var cause: FeedStatus.Cause?
    }

    private(set) var openings: [Opening] = []
    private(set) var gaps: [FoundGap] = []
    private var outcomes: [GapOutcome] = []

    var isEmpty: Bool { self.openings.isEmpty }

    /// Takes a new hole; returns its index for ``add(_:of:symbol:)``.
    mutating func open(_ opening: Opening) -> Int {
        self.openings.append(opening)
        return self.openings.count - 1
    }

    /// Adds a gap: ids of a hole that are still missing, or with `nil` the opening's reason alone.
    @discardableResult
    mutating func add(_ ids: ClosedRange<UInt64>?, of index: Int, symbol: String) -> Gap {
        let opening = self.openings[index]
        let words = [opening.reason, ids.map { MissingTrades.text(of: $0) }].compactMap(\.self)
        let gap = Gap(
            from: opening.from,
            // The wall clock may have been set back.
            to: max(opening.to, opening.from),
            reason: words.joined(separator: ": "),
            nextSequence: 0,
            cause: opening.cause,
            symbol: symbol,
            missing: ids
        )
        self.gaps.append(FoundGap(frame: opening.frame, gap: gap))
        return gap
    }

    /// Adds the outcome of a gap.
    mutating func add(_ outcome: GapOutcome) { self.outcomes.append(outcome) }

    /// Removes and returns the gaps in the order of their frames.
    mutating func take() -> [FoundGap] {
        guard !self.isEmpty else { return [] }
        defer {
            self.openings = []
            self.gaps = []
        }
        // The index keeps the order of the gaps that one frame shows.
        return self.gaps.enumerated().sorted { ($0.element.frame, $0.offset) < ($1.element.frame, $1.offset) }
            .map(\.element)
    }

    /// Removes and returns the outcomes in their order.
    mutating func takeOutcomes() -> [GapOutcome] {
        guard !self.outcomes.isEmpty else { return [] }
        defer { self.outcomes = [] }
        return self.outcomes
    }
}
