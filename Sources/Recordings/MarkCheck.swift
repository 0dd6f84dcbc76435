import Wire

/// The check of what a recording's marks say of the wall clocks of the lines before them.
struct MarkCheck {
    private var walls = RecordedWalls()

    /// Takes the next line, which can be read; returns whether it is a mark that contradicts the lines before it.
    ///
    /// - Parameter isWhole: whether all of those could be read; else there were others, of any time.
    mutating func take(_ line: RecordedLine, isWhole: Bool) -> Bool {
        defer { if let wall = line.wall { self.walls.take(wall) } }
        if case .header(let header) = line.content, let start = header.start {
            self.walls.take(RecordingSyntax.microseconds(start))
        }
        guard let mark = line.wallMark else { return false }
        return isWhole ? mark.walls != self.walls : !mark.walls.mayFollow(self.walls)
    }
}
