import Wire

/// What becomes of recordings in new files: repaired, cut, merged. No file that is there is ever changed.
///
/// What is missing between their lines (``RecordingLosses``) is told in the new file, whose lines are numbered anew.
package enum RecordingEdits {
    /// What was written.
    package struct Result: Sendable, Equatable {
        package var frames = 0
        package var lines = 0
        /// Damaged lines that were left out.
        package var damagedLines = 0
        /// Why files that would follow were left out, in one line.
        package var unreadable: String?
        /// Of which of the wanted symbols there is no trade, in one line that says what there is.
        package var missing: String?
        /// Places at which the new file tells that something is missing.
        package var losses = 0
        /// The same lines in several recordings, which are there once.
        package var duplicates = 0
        /// The files that were read, in order.
        package var files = 1
    }

    /// Writes all lines that can be read; where some are missing, a line says so.
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
