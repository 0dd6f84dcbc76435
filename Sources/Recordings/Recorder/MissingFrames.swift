import Market

/// Frames missing in a recording, until the file reports them.
struct MissingFrames: Sendable {
    private struct Span {
        var count: UInt64
        /// The arrivals of the first and the last of them, wall clock, ns since 1970.
        var from: Int64
        var to: Int64
        var reason: String
    }

    private var missing: Span?
    /// Whether the next write contains the report.
    private var isReporting = false

    /// Records missing frames; a `count` of 0 means that other lines are missing.
    mutating func note(_ count: UInt64, from: Int64, to: Int64, reason: String) {
        var missing = self.missing ?? Span(count: 0, from: from, to: to, reason: reason)
        missing.count += count
        missing.to = max(missing.to, to)
        self.missing = missing
    }

    /// Returns the report that the file needs before its next line; `nil` without one, and while one is being written.
    mutating func take(nextSequence: UInt64, epoch: UInt64) -> (gap: Gap, count: UInt64)? {
        guard let missing, !self.isReporting else { return nil }
        self.isReporting = true
        let words =
            switch missing.count {
            case 0: "what happened on the connection is missing in this recording"
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

    /// Records the outcome of a write to the file.
    mutating func ended(isWritten: Bool) {
        if self.isReporting, isWritten { self.missing = nil }
        self.isReporting = false
    }
}
