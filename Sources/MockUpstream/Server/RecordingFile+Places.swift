package import Market
package import Recordings
import Wire

/// When a recording begins and ends.
package struct RecordingSpan: Sendable, Equatable {
    /// The wall clock at the recording's start, ns since 1970: the header's, or else what the first trade's time makes
    /// likely.
    package var start: Int64
    /// The times of the first and the last frame, ns since the recording's start.
    package var bounds: ClosedRange<Int64>

    package init(start: Int64, bounds: ClosedRange<Int64>) {
        self.start = start
        self.bounds = bounds
    }

    /// The recording's wall clock at one of its times, ns since 1970.
    package func moment(_ at: Int64) -> Int64 { self.start.addingCapped(at) }
}

/// Places in a recording by time, found without reading all of it: frames stand in the order of their arrival.
extension RecordingFile {
    /// Finds out when the recording begins and ends; reads a little of its start and of its end, and all only of a
    /// compressed file of another program's that has no table of its frames.
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

    /// What of the recording is played between two places, ns since its start.
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
        case .nextGap: throw RecordingFailure("next-gap is no place to begin or to end at")
        }
    }

    /// The plain form tells no wall clock.
    private func likelyStart() throws(RecordingFailure) -> Int64 {
        try RecordingStream(self.segments).likelyStart() ?? 0
    }
}
