import ArgumentParser
import Feeds
import Market
import MockUpstream
import Recordings
import Wire

/// A moment in a recording, as a person writes it for `cut` and `export`: a place of a replay, but none that depends on where
/// one stands.
struct RecordingPlace: Sendable, Equatable {
    static let forms = ReplayPlaceText.fixedForms

    private let text: String

    /// Reads a flag's value.
    @Sendable static func read(_ text: String) throws -> RecordingPlace {
        guard let place = RecordingPlace(text) else {
            throw ValidationError("\"\(text)\" is no time in a recording: write \(Self.forms).")
        }
        return place
    }

    init?(_ text: String) {
        guard ReplayPlaceText.parseFixed(text, start: 0) != nil else { return nil }
        self.text = text
    }

    /// The wall clock, ns since 1970, in a recording; of one that does not say when it began, by what its first trade makes
    /// likely, as in a replay.
    func wall(in path: String) throws(RecordingFailure) -> Int64 {
        // A moment is the same in any recording, a time of day is not. It is no start in whose second it lies, either: trades of
        // that second came before they arrived.
        if case .time(let time) = ReplayPlaceText.parse(self.text, start: 0, at: 0),
            ReplayPlaceText.parse(self.text, start: 86_400_000_000_000, at: 0) == .time(time)
        {
            return time
        }
        let span = try Self.span(of: path)
        let (start, bounds) = (span.start, span.bounds)
        switch ReplayPlaceText.parse(self.text, start: start, at: start) {
        case .time(let time): return time
        // As in a replay, which begins with the first frame.
        case .offset(let offset): return span.moment(Self.sum(bounds.lowerBound, offset))
        case .percent(let percent):
            let length = bounds.upperBound - bounds.lowerBound
            return span.moment(Self.sum(bounds.lowerBound, ReplayPlace.part(percent, of: length)))
        case .nextGap, nil: throw RecordingFailure("\(self.text) is no time in \(path)")
        }
    }

    private static func span(of path: String) throws(RecordingFailure) -> RecordingSpan {
        try RecordingFile(path: path).span()
    }

    /// When a recording probably began that does not say so, ns since 1970.
    static func likelyStart(of path: String) throws(RecordingFailure) -> Int64? {
        let stream = try RecordingStream(path: path)
        return stream.segments[0].header.start == nil ? try stream.likelyStart() : nil
    }

    private static func sum(_ start: Int64, _ offset: Int64) -> Int64 {
        let (sum, isOut) = start.addingReportingOverflow(offset)
        return isOut ? .max : sum
    }
}
