import Wire

/// The edits of recordings: repair, cut, merge. Each writes a new file and never changes an existing one.
///
/// The new file's lines are numbered anew. It states what is missing between them (``RecordingLosses``).
package enum RecordingEdits {
    /// The outcome of an edit.
    package struct Result: Sendable, Equatable {
        package var frames = 0
        package var lines = 0
        /// Damaged lines that were left out.
        package var damagedLines = 0
        /// Why the files that would follow were left out, in one line.
        package var unreadable: String?
        /// The wanted symbols without a trade, in one line that also names those that trade.
        package var missing: String?
        /// The number of losses that the new file reports.
        package var losses = 0
        /// Lines found in several recordings and written once.
        package var duplicates = 0
        /// The number of files that were read.
        package var files = 1
    }

    /// Writes all lines that can be read, and a line for each loss between them.
    package static func repair(
        _ path: String,
        to target: String,
        form: RecordingOutputFile.Form
    ) throws(RecordingFailure) -> Result {
        let input = try LineSource(path, followsSegments: false)
        var result = Result()
        var output = try RecordingOutputFile(path: target, form: form, header: input.header)
        var wall = input.header.start ?? 0
        var at: Int64 = 0
        while let (line, loss) = try input.next() {
            if let time = line.at { at = time }
            wall = input.wall(of: line) ?? wall
            if let loss {
                try output.append(input.line(of: loss), wall: wall, at: at)
                result.losses += 1
            }
            try output.append(line, wall: wall, at: at)
        }
        if let loss = input.lossAtEnd {
            try output.append(input.line(of: loss), wall: wall, at: at)
            result.losses += 1
        }
        try output.finish(wall: wall)
        result.damagedLines = input.damagedLines
        result.frames = output.frames
        result.lines = output.lines
        return result
    }
}
