/// The wall clocks of a recording's lines up to a mark: the latest, and the largest step back from it.
///
/// Both only grow from line to line, even where the clock is set back. So a binary search finds the places of a time,
/// although the times themselves are not in order (docs/recording-format.md).
package struct WallClockMarks: Sendable, Equatable {
    /// The latest, µs since 1970; `Int64.min` before the first line.
    package private(set) var latest: Int64
    /// The largest difference between the latest wall clock and a later line's, µs.
    package private(set) var back: Int64

    package init(latest: Int64 = .min, back: Int64 = 0) {
        self.latest = latest
        self.back = back
    }

    /// Takes a line's wall clock, µs since 1970.
    package mutating func take(_ wall: Int64) {
        if wall >= self.latest {
            self.latest = wall
        } else {
            let (behind, isOut) = self.latest.subtractingReportingOverflow(wall)
            self.back = max(self.back, isOut ? .max : behind)
        }
    }

    /// Returns the earliest wall clock that a later line can have, where no step back exceeds `back` (µs), in µs since
    /// 1970.
    package func earliestBehind(back: Int64) -> Int64 {
        let (earliest, isOut) = self.latest.subtractingReportingOverflow(back)
        return isOut ? .min : earliest
    }

    /// Whether a file can have these after the others.
    package func mayFollow(_ before: WallClockMarks) -> Bool {
        self.latest >= before.latest && self.back >= before.back
    }
}
