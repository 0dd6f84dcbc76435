import ArgumentParser
import Market
import MockUpstream
import NIOCore
import Recordings
import Wire

/// The flags for the played part of a recording, its pace, and the silences that are skipped.
struct PaceOptions: ParsableArguments {
    @Option(
        name: .customLong("speed"),
        help: ArgumentHelp("The speed, as a multiple of the recording's: 0.01 to 10000, or max.", valueName: "n|max")
    )
    var speed = ReplaySpeed.recorded

    @Option(help: ArgumentHelp("Begin at this place of the recording.", valueName: "place"), transform: Self.place)
    var from: String?

    @Option(help: ArgumentHelp("End at this place of the recording.", valueName: "place"), transform: Self.place)
    var to: String?

    @Flag(name: .customLong("loop"), help: "Start again at the end.")
    var loops = false

    @Option(
        name: .customLong("skip-idle"),
        help: ArgumentHelp("Shorten each longer silence of the recording to this.", valueName: "duration"),
        transform: Self.silence
    )
    var skipIdle: TimeAmount?

    /// Whether the whole recording is played, at any pace.
    var playsWhole: Bool { self.from == nil && self.to == nil && !self.loops && self.skipIdle == nil }

    /// Sets the pace and the part of the recording to play.
    ///
    /// - Throws: ``OperatorError`` when a place is not in the recording.
    func apply(to settings: inout ReplaySettings, recording: RecordingFile) throws(OperatorError) {
        settings.machine.speed = self.speed.factor
        settings.machine.longestSilence = self.skipIdle?.nanoseconds
        settings.repeats = settings.repeats || self.loops
        do throws(RecordingFailure) {
            let span = try recording.span()
            // The recording's clock begins with its header; the first message may come in a later second.
            settings.from = self.from.flatMap { ReplayPlaceText.parse($0, start: span.start, at: span.start) }
            settings.to = self.to.flatMap { ReplayPlaceText.parse($0, start: span.start, at: span.start) }
            guard settings.from != nil || settings.to != nil else { return }
            do throws(RecordingFailure) {
                _ = try recording.bounds(from: settings.from, to: settings.to, in: span)
            } catch {
                let words = "\(error.description) (--from, --to); it is \(Self.words(span))"
                throw RecordingFailure(words)
            }
        } catch {
            throw OperatorError(error.description, status: .usage)
        }
    }

    /// `10m51s long, from 2026-01-01T00:00:00.000Z to 2026-01-01T00:10:51.000Z`.
    private static func words(_ span: RecordingSpan) -> String {
        let (first, last) = (span.moment(span.bounds.lowerBound), span.moment(span.bounds.upperBound))
        return "\(AgeText.words(last - first)) long, from \(UTCText.timestamp(first)) to "
            + UTCText.timestamp(last)
    }

    @Sendable private static func place(_ text: String) throws -> String {
        // The kind of a place does not depend on the recording.
        guard let place = ReplayPlaceText.parse(text, start: 0, at: 0), place != .nextGap,
            !"+-".contains(text.prefix(1))
        else {
            throw ValidationError("\"\(text)\" is not a place: 90s, 50%, 14:30:00 or 2026-01-01T14:30:00Z")
        }
        return text
    }

    @Sendable private static func silence(_ text: String) throws -> TimeAmount {
        do {
            return try Syntax<TimeAmount>.duration.within(.zero ... .hours(1)).read(text)
        } catch {
            throw ValidationError("\"\(text)\" \(error.reason)")
        }
    }
}
