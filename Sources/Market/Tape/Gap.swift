/// How many of the trades that came behind a gap had come before it: between two numbers, as trades have no ids.
package struct OverlapBounds: Sendable, Equatable {
    /// Those that came again in a row, up to the newest before the gap, with two times or more among them.
    package var least: Int
    /// All that equal one before the gap.
    package var most: Int

    package init(least: Int, most: Int) {
        self.least = least
        self.most = most
    }
}

/// A stretch of time in which trades may have happened that the tape does not hold.
package struct Gap: Sendable, Equatable {
    /// When the last frame before it arrived and when the first trade after it did (where none came for a while: when the
    /// symbols were asked for again); wall clock, ns since 1970.
    package var from: Int64
    package var to: Int64
    /// Why, in one line; never holds a key.
    package var reason: String
    /// The number of the first trade after it.
    package var nextSequence: UInt64
    /// The run of numbers that `nextSequence` belongs to; 0 where it is not known.
    package var epoch: UInt64
    /// How many trades after it seem to have come before it, by their order: an estimate. They are on the tape, marked as
    /// possible repeats, unless the user wants them left out; `nil` where nothing could be compared.
    package var overlap: Int?
    /// Between which numbers the true one lies; `nil` where nothing could be compared, and in what older programs wrote.
    package var overlapBounds: OverlapBounds?
    /// What kind of trouble it was, where that is known; recordings hold the reason only.
    package var cause: FeedStatus.Cause?
    /// The only symbol of which something may be missing; `nil` for all of the feed's.
    package var symbol: String?

    package init(
        from: Int64,
        to: Int64,
        reason: String,
        nextSequence: UInt64,
        epoch: UInt64 = 0,
        overlap: Int? = nil,
        overlapBounds: OverlapBounds? = nil,
        cause: FeedStatus.Cause? = nil,
        symbol: String? = nil
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
    }

    /// Whether the trades behind it may be from before those in front of it, and are not late for that: a replay was moved,
    /// or began again.
    package var movesClock: Bool { self.cause == .seek }

    /// How long it is, ns, never less than nothing: times that a file tells may be any.
    package var length: Int64 {
        let (length, isOut) = self.to.subtractingReportingOverflow(self.from)
        if isOut { return self.to > self.from ? .max : 0 }
        return max(0, length)
    }
}
