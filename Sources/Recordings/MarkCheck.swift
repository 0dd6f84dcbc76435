import Wire

/// The check of a recording's wall clock marks against the lines before them.
struct MarkCheck {
    private var wallClocks = WallClockMarks()

    /// Takes the next readable line; returns whether it is a mark that contradicts the lines before it.
    ///
    /// - Parameter isWhole: whether all lines before it could be read. Otherwise some of an unknown wall clock are
    ///   missing.
    mutating func take(_ line: RecordedLine, isWhole: Bool) -> Bool {
        defer { if let wall = line.wall { self.wallClocks.take(wall) } }
        if case .header(let header) = line.content, let start = header.start {
            self.wallClocks.take(RecordingSyntax.microseconds(start))
        }
        guard let mark = line.wallMark else { return false }
        return isWhole ? mark.wallClocks != self.wallClocks : !mark.wallClocks.mayFollow(self.wallClocks)
    }
}
