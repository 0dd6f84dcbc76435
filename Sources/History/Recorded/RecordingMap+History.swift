import Recordings
import Wire

/// The history's view of a recording's file.
extension RecordingMap {
    /// Opens a file by its name, or by the name that it has after compression. Returns `nil` if it does not exist, is
    /// no recording with a clock, or was compressed by a program that leaves no table of its frames.
    static func ofHistory(_ path: String) -> RecordingMap? {
        guard let file = try? RecordingMap(path: SegmentNames.present(path)), file.header?.start != nil,
            file.length != nil
        else { return nil }
        return file
    }

    /// Returns when a line was written, ns since 1970.
    func arrival(of line: RecordedLine) -> Int64 { line.wall.map { $0 &* 1_000 } ?? self.header?.start ?? 0 }

    /// Returns the index entry of a complete file: its first and last frames, read from both ends.
    ///
    /// - Parameter path: the name in the index, which is that of the file before compression.
    func entry(path: String) -> HistoryBatch.Segment {
        var first: RecordedLine?
        try? self.scan(from: 0, to: 2 * Int64(RecordingParser.maximumLineBytes), isLineStart: true) { line in
            first = line.sequences == nil ? nil : line
            return first == nil
        }
        let last = try? self.last { $0.sequences != nil }
        var sequences: Range<UInt64>?
        if let lower = first?.sequences?.lowerBound, let end = last?.sequences?.upperBound, lower <= end {
            sequences = lower..<end
        }
        let start = self.header?.start ?? 0
        return HistoryBatch.Segment(
            path: path,
            epoch: self.header?.epoch,
            sequences: sequences,
            firstTime: start,
            lastTime: max(start, last.map { self.arrival(of: $0) } ?? start)
        )
    }
}
