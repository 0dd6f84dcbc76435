import Market
import Wire

/// The beginning and the end of a recording.
package struct RecordingSpan: Sendable, Equatable {
    /// The wall clock at the recording's start, ns since 1970, from the header, or else derived from the first trade's
    /// time.
    package var start: Int64
    /// The times of the first and the last frame, ns since the recording's start.
    package var bounds: ClosedRange<Int64>

    package init(start: Int64, bounds: ClosedRange<Int64>) {
        self.start = start
        self.bounds = bounds
    }

    /// Finds when a recording begins and ends. This reads a little of its start and of its end. It reads all of a
    /// compressed file by another program that has no table of its frames.
    ///
    /// - Parameter segments: the recording's files, not empty.
    /// - Throws: ``RecordingFailure`` if it cannot be read, or has no frame.
    package init(of segments: [RecordingStream.Segment]) throws(RecordingFailure) {
        let stream = try RecordingStream(segments)
        guard let first = try stream.nextFrame() else {
            throw RecordingFailure("\(segments[0].path) holds no recorded frame")
        }
        var last = first
        if let found = try stream.last(where: { $0.frame != nil }) {
            last = max(last, found)
        } else {
            while let at = try stream.nextFrame() { last = max(last, at) }
        }
        // The plain form has no wall clock.
        let likely = segments[0].header.start == nil ? try RecordingStream(segments).likelyStart() : nil
        let start = segments[0].header.start ?? likely ?? 0
        self.init(start: start, bounds: first...last)
    }

    /// Returns the recording's wall clock at one of its times, ns since 1970.
    package func moment(_ at: Int64) -> Int64 { self.start.addingCapped(at) }
}

extension RecordingStream {
    /// Returns the time of the next frame, ns since the recording's start; `nil` at the end.
    fileprivate func nextFrame() throws(RecordingFailure) -> Int64? {
        while let line = try self.next() { if let frame = line.frame { return frame.at } }
        return nil
    }
}
