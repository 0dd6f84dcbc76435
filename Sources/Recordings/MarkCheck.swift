import Wire

/// The check of what a recording's marks say of the wall clocks of the lines before them.
struct MarkCheck {
    private var wallClocks = WallClockMarks()

    /// Takes the next line, which can be read; returns whether it is a mark that contradicts the lines before it.
    ///
    /// - Parameter isWhole: whether all of those could be read; else there were others, of any time.
    mutating func take(_ line: RecordedLine, isWhole: Bool) -> Bool {
        defer { if let wall = line.wall { self.wallClocks.take(wall) } }
        if case .header(let header) = line.content, let start = header.start {
            self.wallClocks.take(RecordingSyntax.microseconds(start))
        }
        guard let mark = line.wallMark else { return false }
        return isWhole ? mark.wallClocks != self.wallClocks : !mark.wallClocks.mayFollow(self.wallClocks)
    }
}
