import ArgumentParser
import Market
import Recordings
import Wire

/// A moment in a recording, as a person writes it for `cut` and `export`: a place of a replay, but none that depends on where
/// one stands.
struct RecordingPlace: Sendable, Equatable {
    static let forms = "90s, 50%, 14:30:00, 2026-01-01T14:30:00Z, 2026-01-01 or milliseconds since 1970"

    private let text: String

    /// Reads a flag's value.
    @Sendable static func read(_ text: String) throws -> RecordingPlace {
        guard let place = RecordingPlace(text) else {
            throw ValidationError("\"\(text)\" is no time in a recording: write \(Self.forms).")
        }
        return place
    }

    init?(_ text: String) {
        let place = ReplayPlaceText.parse(text, start: 0, at: 0)
        guard let place, place != .nextGap,
            text.first(where: { !$0.isWhitespace }).map({ $0 != "+" && $0 != "-" }) == true
        else { return nil }
        self.text = text
    }

    /// The wall clock, ns since 1970, in a recording.
    func wall(in path: String) throws(RecordingFailure) -> Int64 {
        let stream = try RecordingStream(path: path)
        let told = stream.segments[0].header.start
        let start = told ?? 0
        let place = ReplayPlaceText.parse(self.text, start: start, at: start)
        switch place {
        case .time(let time):
            // What is not the same on another day is a time of day.
            let isAbsolute = ReplayPlaceText.parse(self.text, start: start &+ 86_400_000_000_000, at: start) == place
            if isAbsolute || told != nil { return time }
        case .offset(let offset):
            if told != nil { return Self.sum(start, offset) }
        case .percent(let percent):
            guard told != nil else { break }
            guard let length = try stream.duration() else {
                throw RecordingFailure("\(path) does not say how long it is; name a time instead of \(self.text)")
            }
            return Self.sum(start, ReplayPlace.part(percent, of: length))
        case .nextGap, nil: break
        }
        throw RecordingFailure("\(path) does not say when it began; \(self.text) is no time in it")
    }

    private static func sum(_ start: Int64, _ offset: Int64) -> Int64 {
        let (sum, isOut) = start.addingReportingOverflow(offset)
        return isOut ? .max : sum
    }
}
