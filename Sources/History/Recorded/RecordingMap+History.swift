import Recordings
import Wire

/// What the history asks of a recording's file.
extension RecordingMap {
    /// Opens a file under its name, or under that which it has got by compression; `nil` where it is not there, is no recording
    /// that has a clock, or is compressed by a program that leaves no table of its frames.
    static func ofHistory(_ path: String) -> RecordingMap? {
        guard let file = try? RecordingMap(path: SegmentNames.present(path)), file.header?.start != nil,
            file.length != nil
        else { return nil }
        return file
    }

    /// When a line was written, ns since 1970.
    func arrival(of line: RecordedLine) -> Int64 { line.wall.map { $0 &* 1_000 } ?? self.header?.start ?? 0 }

    /// What the index says of a file that is complete: its first and last frames, read from its two ends.
    ///
    /// - Parameter path: the name in the index, which is that of the file before it is compressed.
    func entry(path: String) -> HistoryBatch.Segment {
        var first: RecordedLine?
        try? self.scan(from: 0, to: 2 * Int64(RecordingReader.maximumLineBytes), isLineStart: true) { line in
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
