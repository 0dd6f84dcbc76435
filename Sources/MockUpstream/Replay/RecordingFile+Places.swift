package import Market
package import Recordings
import Wire

/// The search for places by time, without reading the whole recording: frames are in the order of their arrival.
extension RecordingFile {
    /// Returns when the recording begins and ends.
    package func span() throws(RecordingFailure) -> RecordingSpan { try RecordingSpan(of: self.segments) }

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
}
