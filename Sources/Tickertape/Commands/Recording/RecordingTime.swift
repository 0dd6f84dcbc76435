import ArgumentParser
import Market
import MockUpstream
import Recordings
import Wire

/// A moment in a recording, in the syntax that `cut` and `export` accept: a place of a replay, except those that are
/// relative to the current one.
struct RecordingTime: Sendable, Equatable {
    static let forms = ReplayPlaceText.fixedForms

    private let text: String

    /// Parses a flag's value.
    @Sendable static func read(_ text: String) throws -> RecordingTime {
        guard let time = RecordingTime(text) else {
            throw ValidationError("\"\(text)\" is not a time in a recording: write \(Self.forms).")
        }
        return time
    }

    init?(_ text: String) {
        guard ReplayPlaceText.parseFixed(text, start: 0) != nil else { return nil }
        self.text = text
    }

    /// Returns the wall clock, ns since 1970. For a recording without a start time, it assumes the start that its first
    /// trade makes likely, as a replay does.
    func wall(in path: String) throws(RecordingFailure) -> Int64 {
        // A moment with a date is the same in any recording. A time of day depends on the start, so two different
        // starts tell the two apart. The moment is not moved to a recording's start in the same second, since trades
        // happen before they arrive.
        if case .time(let time) = ReplayPlaceText.parse(self.text, start: 0, at: 0),
            ReplayPlaceText.parse(self.text, start: 86_400_000_000_000, at: 0) == .time(time)
        {
            return time
        }
        let span = try RecordingSpan(of: RecordingStream(path: path).segments)
        let (start, bounds) = (span.start, span.bounds)
        switch ReplayPlaceText.parse(self.text, start: start, at: start) {
        case .time(let time): return time
        // As in a replay, offset 0 is the first frame.
        case .offset(let offset): return span.moment(Self.sum(bounds.lowerBound, offset))
        case .percent(let percent):
            let length = bounds.upperBound - bounds.lowerBound
            return span.moment(Self.sum(bounds.lowerBound, ReplayPlace.part(percent, of: length)))
        case .nextGap, nil: throw RecordingFailure("\(self.text) is not a time in \(path)")
        }
    }

    /// Returns the likely start of a recording without a start time, ns since 1970; `nil` for any other recording.
    static func likelyStart(of path: String) throws(RecordingFailure) -> Int64? {
        let stream = try RecordingStream(path: path)
        return stream.segments[0].header.start == nil ? try stream.likelyStart() : nil
    }

    private static func sum(_ start: Int64, _ offset: Int64) -> Int64 {
        let (sum, isOut) = start.addingReportingOverflow(offset)
        return isOut ? .max : sum
    }
}
