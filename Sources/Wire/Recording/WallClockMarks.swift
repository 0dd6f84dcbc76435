/// What a recording's marks say of the wall clocks of the lines before them: the latest, and how far it was set back at most.
///
/// Both only grow from line to line, also where the clock is set back. So the places of a time are found by halving, though the
/// times themselves are in no order (docs/recording-format.md).
package struct WallClockMarks: Sendable, Equatable {
    /// The latest, µs since 1970; `Int64.min` before the first line.
    package private(set) var latest: Int64
    /// How far at most one lay behind one before it, µs.
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

    /// Before which no line comes that is behind these, where the clock is set back no farther than so (µs), in µs since 1970.
    package func earliestBehind(back: Int64) -> Int64 {
        let (earliest, isOut) = self.latest.subtractingReportingOverflow(back)
        return isOut ? .min : earliest
    }

    /// Whether these can stand behind others in a file.
    package func mayFollow(_ before: WallClockMarks) -> Bool {
        self.latest >= before.latest && self.back >= before.back
    }
}
