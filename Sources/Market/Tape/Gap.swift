/// The bounds of the number of trades after a gap that had already come before it. Trades have no ids, so it is not
/// exact.
package struct OverlapBounds: Sendable, Equatable {
    /// The trades that repeat, without interruption, the last ones before the gap, if they have at least two different
    /// times.
    package var least: Int
    /// All trades that equal one before the gap.
    package var most: Int

    package init(least: Int, most: Int) {
        self.least = least
        self.most = most
    }
}

/// A period in which trades may have happened that the tape does not hold.
package struct Gap: Sendable, Equatable {
    /// The arrivals of the last frame before the gap and of the first trade after it, wall clock, ns since 1970. If no
    /// trade came for a while, the end is the time at which the symbols were subscribed again.
    package var from: Int64
    package var to: Int64
    /// The cause in one line; never contains a key.
    package var reason: String
    /// The number of the first trade after the gap.
    package var nextSequence: UInt64
    /// The epoch that `nextSequence` belongs to; 0 if it is not known.
    package var epoch: UInt64
    /// The estimated number of trades after the gap that had come before it, by their order; `nil` if nothing could be
    /// compared. They are on the tape, marked as possible repeats, unless the user wants them left out.
    package var overlap: Int?
    /// The bounds of that number; `nil` if nothing could be compared, and in what older programs wrote.
    package var overlapBounds: OverlapBounds?
    /// The kind of trouble, if it is known; recordings hold only the reason.
    package var cause: FeedStatus.Cause?
    /// The only symbol whose trades may be missing; `nil` for all symbols of the feed.
    package var symbol: String?
    /// The ids of the trades of ``symbol`` that are missing, all of them; `nil` where the upstream sends no ids.
    package var missing: ClosedRange<UInt64>?

    package init(
        from: Int64,
        to: Int64,
        reason: String,
        nextSequence: UInt64,
        epoch: UInt64 = 0,
        overlap: Int? = nil,
        overlapBounds: OverlapBounds? = nil,
        cause: FeedStatus.Cause? = nil,
        symbol: String? = nil,
        missing: ClosedRange<UInt64>? = nil
    ) {
        self.from = from
        self.to = to
        self.reason = reason
        self.nextSequence = nextSequence
        self.epoch = epoch
        self.overlap = overlap
        self.overlapBounds = overlapBounds
        self.cause = cause
        self.symbol = symbol
        self.missing = missing
    }

    /// The times from ``from`` to ``to``; those of a file may be in the wrong order.
    package var times: ClosedRange<Int64> { min(self.from, self.to)...max(self.from, self.to) }

    /// Whether the trades after the gap may be older than those before it without being late: a replay was moved or
    /// began again.
    package var movesClock: Bool { self.cause == .seek }

    /// The gap with its length and reason, as a line has it, and its symbol where ids prove it. A replay that was moved has no length.
    package var sentence: String {
        let reason = ScreenText.clean(self.reason, columns: 256)
        if self.movesClock { return reason }
        let subject = self.missing == nil ? "" : self.symbol.map { "\(SymbolName.word($0)): " } ?? ""
        return "gap of \(AgeText.record(self.length)): \(subject)\(reason)"
    }

    /// The length, ns, at least 0 and saturated: the times of a file are untrusted.
    package var length: Int64 {
        let (length, isOut) = self.to.subtractingReportingOverflow(self.from)
        if isOut { return self.to > self.from ? .max : 0 }
        return max(0, length)
    }
}
