package import Market
package import Recordings
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

    /// Returns the recording's wall clock at one of its times, ns since 1970.
    package func moment(_ at: Int64) -> Int64 { self.start.addingCapped(at) }
}

/// The search for places by time, without reading the whole recording: frames are in the order of their arrival.
extension RecordingFile {
    /// Returns when the recording begins and ends. This reads a little of its start and of its end. It reads all of a
    /// compressed file by another program that has no table of its frames.
    package func span() throws(RecordingFailure) -> RecordingSpan {
        let reader = try self.makeReader()
        guard let first = try reader.next() else { throw RecordingFailure("\(self.path) holds no recorded frame") }
        let start = if let reported = reader.header?.start { reported } else { try self.likelyStart() }
        var last = first.at
        if let found = try reader.lastFrame() {
            last = max(last, found)
        } else {
            while let frame = try reader.next() { last = max(last, frame.at) }
        }
        return RecordingSpan(start: start, bounds: first.at...last)
    }

    /// Returns the range between two places, ns since the recording's start.
    package func bounds(
        from: ReplayPlace?,
        to: ReplayPlace?,
        in span: RecordingSpan
    ) throws(RecordingFailure) -> ClosedRange<Int64> {
        let first = if let from { try self.time(of: from, in: span) } else { span.bounds.lowerBound }
        let last = if let to { try self.time(of: to, in: span) } else { span.bounds.upperBound }
        guard first <= last, first <= span.bounds.upperBound, last >= span.bounds.lowerBound else {
            throw RecordingFailure("nothing of \(self.path) is between these two places")
        }
        return max(first, span.bounds.lowerBound)...min(last, span.bounds.upperBound)
    }

    private func time(of place: ReplayPlace, in span: RecordingSpan) throws(RecordingFailure) -> Int64 {
        let bounds = span.bounds
        switch place {
        case .time(let time): return time.subtractingCapped(span.start)
        case .offset(let offset): return bounds.lowerBound.addingCapped(offset)
        case .percent(let percent):
            let length = bounds.upperBound.subtractingCapped(bounds.lowerBound)
            return bounds.lowerBound.addingCapped(ReplayPlace.part(percent, of: length))
        case .nextGap: throw RecordingFailure("next-gap is not a place to begin or to end at")
        }
    }

    /// The plain form has no wall clock.
    private func likelyStart() throws(RecordingFailure) -> Int64 {
        try RecordingStream(self.segments).likelyStart() ?? 0
    }
}
