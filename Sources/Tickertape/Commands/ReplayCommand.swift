import ArgumentParser
import Feeds
import Market
import MockUpstream
package import NIOCore
import Recordings
import Wire

/// Lives a recording again.
struct ReplayCommand: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Show and relay a recording as if it came from the market.",
        discussion: """
            The recording is served by a stand-in Finnhub inside the program, over real TLS and a real WebSocket, so \
            everything behind it works as it does live. No key is needed.

            EXAMPLES:
              tickertape replay btc.jsonl
              tickertape replay btc.jsonl --speed max --wait-client --quiet
              tickertape replay btc.jsonl --from 14:30:00 --to 15:00 --skip-idle 2s
              curl -d '{"request":"seek","to":"50%"}' http://127.0.0.1:8080/v1/replay

            PLACES, for --from and --to: 90s or 1h5m from the recording's start, 50% of its length, 14:30:00 (UTC) or \
            2026-01-01T14:30:00Z.
            """
    )

    @Argument(help: ArgumentHelp("The recording.", valueName: "file"), completion: .file())
    var file: String

    @OptionGroup var pace: PaceOptions

    @Flag(help: "Begin paused; space, or a program, lets it go on.")
    var paused = false

    @Flag(
        name: .customLong("wait-client"),
        help: "Start when the first client of the relay has subscribed to its symbols."
    )
    var waitsForClient = false

    @Flag(
        name: .customLong("hash"),
        help: ArgumentHelp(
            "Print a SHA-256 of what each output would say, on virtual time; with --format json as one object.",
            discussion: "No other setting makes a difference to it but --symbol, --from, --to and --alert."
        )
    )
    var hashes = false

    @Option(name: .of(.symbols), help: ArgumentHelp("A symbol to follow; several may be given.", valueName: "symbol"))
    var symbols: [String] = []

    @OptionGroup(title: "Display") var display: DisplayOptions
    @OptionGroup(title: "Display") var alerts: AlertOptions
    @OptionGroup(title: "Relay and recording") var relay: RelayOptions
    @OptionGroup(title: "Relay and recording") var record: RecordOptions
    @OptionGroup var common: CommonOptions

    var groups: [any SettingFlags] {
        [SymbolFlags(symbols: self.symbols), self.display, self.alerts, self.relay, self.record, self.common]
    }

    func validate() throws {
        guard self.hashes else { return }
        let refused = [("--loop", self.pace.loops), ("--paused", self.paused), ("--wait-client", self.waitsForClient)]
        if let (flag, _) = refused.first(where: { $0.1 }) {
            throw ValidationError("--hash plays the recording once, from one end to the other; leave \(flag) out")
        }
        if self.record.record != nil { throw ValidationError("--hash records nothing; leave --record out") }
    }

    mutating func run() async throws {
        let settings = try self.loadSettings().settings
        if self.hashes {
            var order = ReplayOrder(recording: self.file, speed: self.pace.speed)
            order.part = self.pace.part
            return try await Assembly.hash(
                order,
                symbols: self.symbols,
                rules: self.alerts.alerts,
                isJSON: settings.display.format == .json
            )
        }
        if self.waitsForClient, settings.relay.isOff {
            throw OperatorError("--wait-client waits for a client of the relay, which is off", status: .usage)
        }
        if self.paused, settings.relay.isOff, DisplayPart.format(settings) != .tui {
            throw OperatorError(
                "--paused waits for a key or for a program to let it go on, and there is neither a screen nor a relay; "
                    + "leave out --paused, or let the relay on",
                status: .usage
            )
        }
        var order = ReplayOrder(recording: self.file, speed: self.pace.speed, waitsForClient: self.waitsForClient)
        order.part = self.pace.part
        order.isPaused = self.paused
        try await Assembly.replay(order, settings)
    }
}

/// What `tickertape replay` was told beside the settings.
package struct ReplayOrder: Sendable, Equatable {
    /// The recording's path.
    package var recording: String
    package var speed: ReplaySpeed
    /// Whether to start only when the first client has subscribed.
    package var waitsForClient: Bool
    package var part = ReplayPart()
    /// Whether it begins paused.
    package var isPaused = false

    package init(recording: String, speed: ReplaySpeed = .recorded, waitsForClient: Bool = false) {
        self.recording = recording
        self.speed = speed
        self.waitsForClient = waitsForClient
    }
}

/// How fast a recording goes.
package struct ReplaySpeed: Sendable, Equatable, ExpressibleByArgument {
    /// So many times the recording's own pace; `nil` is as fast as it goes.
    package var factor: Double?

    package init(factor: Double?) {
        self.factor = factor
    }

    package static let recorded = ReplaySpeed(factor: 1)
    package static let max = ReplaySpeed(factor: nil)

    package init?(argument: String) {
        if argument.lowercased() == "max" {
            self = .max
            return
        }
        let number = argument.hasSuffix("x") ? String(argument.dropLast()) : argument
        guard let factor = Double(number), (0.01...10_000).contains(factor) else { return nil }
        self.factor = factor
    }

    package var defaultValueDescription: String { self.factor.map { "\($0)" } ?? "max" }
}

/// What of a recording is played, and what is left out of it.
package struct ReplayPart: Sendable, Equatable {
    /// Places, as they were written.
    package var from: String?
    package var to: String?
    /// Whether it begins anew at its end.
    package var repeats = false
    /// Of a longer silence only so much is waited.
    package var longestSilence: TimeAmount?

    package init() {}

    /// Puts it into the terms of the feeds.
    ///
    /// - Throws: ``OperatorError`` when a place is none of the recording's.
    func apply(to settings: inout ReplaySettings, recording: RecordingFile) throws(OperatorError) {
        settings.machine.longestSilence = self.longestSilence?.nanoseconds
        settings.repeats = settings.repeats || self.repeats
        do throws(RecordingFailure) {
            let span = try recording.span()
            // Its clock begins with its header: the first message may come in a later second.
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
}

/// The flags for what of a recording is played, and how fast.
struct PaceOptions: ParsableArguments {
    @Option(
        name: .customLong("speed"),
        help: ArgumentHelp("So many times the recording's pace, 0.01 to 10000, or max.", valueName: "n|max")
    )
    var speed = ReplaySpeed.recorded

    @Option(help: ArgumentHelp("Begin at this place of the recording.", valueName: "place"), transform: Self.place)
    var from: String?

    @Option(help: ArgumentHelp("End at this place of the recording.", valueName: "place"), transform: Self.place)
    var to: String?

    @Flag(name: .customLong("loop"), help: "Begin anew at the end.")
    var loops = false

    @Option(
        name: .customLong("skip-idle"),
        help: ArgumentHelp("Wait only so long where the recording is silent for longer.", valueName: "duration"),
        transform: Self.silence
    )
    var skipIdle: TimeAmount?

    var part: ReplayPart {
        var part = ReplayPart()
        part.from = self.from
        part.to = self.to
        part.repeats = self.loops
        part.longestSilence = self.skipIdle
        return part
    }

    @Sendable private static func place(_ text: String) throws -> String {
        // Of what kind it is can be told without the recording.
        guard let place = ReplayPlaceText.parse(text, start: 0, at: 0), place != .nextGap,
            !"+-".contains(text.prefix(1))
        else {
            throw ValidationError("\"\(text)\" is no place: 90s, 50%, 14:30:00 or 2026-01-01T14:30:00Z")
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
