import Market

/// Frames that are not in a recording where they should be, until the file tells of them.
struct MissingFrames: Sendable {
    private struct Span {
        var count: UInt64
        /// The arrivals of the first and the last of them, wall clock, ns since 1970.
        var from: Int64
        var to: Int64
        var reason: String
    }

    private var missing: Span?
    /// Whether what is written next tells of them.
    private var isReporting = false

    /// Notes that so many frames are missing, or with none, that something else is.
    mutating func note(_ count: UInt64, from: Int64, to: Int64, reason: String) {
        var missing = self.missing ?? Span(count: 0, from: from, to: to, reason: reason)
        missing.count += count
        missing.to = max(missing.to, to)
        self.missing = missing
    }

    /// What the file has to tell before its next line; `nil` where that is nothing, or is on its way.
    mutating func take(nextSequence: UInt64, epoch: UInt64) -> (gap: Gap, count: UInt64)? {
        guard let missing, !self.isReporting else { return nil }
        self.isReporting = true
        let words =
            switch missing.count {
            case 0: "what happened on the connection is not told of in this recording"
            case 1: "1 frame is missing in this recording"
            default: "\(missing.count) frames are missing in this recording"
            }
        let gap = Gap(
            from: missing.from,
            to: missing.to,
            reason: "\(words): \(missing.reason)",
            nextSequence: nextSequence,
            epoch: epoch
        )
        return (gap, missing.count)
    }

    /// Notes that the file was written to, or could not be.
    mutating func ended(isWritten: Bool) {
        if self.isReporting, isWritten { self.missing = nil }
        self.isReporting = false
    }
}
