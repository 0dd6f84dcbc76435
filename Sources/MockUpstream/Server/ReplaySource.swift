import HTTP
import Market
package import NIOCore
package import Recordings
import Wire

/// The source of players for a mock server's clients: one player for all, or one for each.
package final class ReplaySource {
    let material: ReplayMaterial
    /// The trades with ids that its players have played.
    package let played = PlayedTrades()
    /// The player of all clients that name no place.
    package let shared: ReplayPlayer?
    private let settings: ReplaySettings
    private let span: RecordingSpan
    private let loop: any EventLoop
    let wallClock: @Sendable () -> Int64

    /// - Throws: ``RecordingFailure`` if there is nothing to play.
    package init(
        _ material: ReplayMaterial,
        settings: MockServerSettings,
        loop: any EventLoop,
        wallClock: @escaping @Sendable () -> Int64
    ) throws(RecordingFailure) {
        self.material = material
        self.settings = settings.replay
        self.loop = loop
        self.wallClock = wallClock
        self.span = try material.span()
        _ = try material.bounds(from: settings.replay.from, to: settings.replay.to, in: self.span)
        self.shared =
            settings.sharesClock
            ? try ReplayPlayer(
                material,
                settings: settings.replay,
                loop: loop,
                awaited: Set(settings.marks.keys),
                played: self.played,
                wallClock: wallClock
            ) : nil
    }

    /// The loop's monotonic clock, ns.
    var now: Int64 { Int64(self.loop.now.uptimeNanoseconds) }

    /// Whether the shared clock is in a gap of the recording, during which connections are refused.
    var isBroken: Bool { self.shared?.isBroken ?? false }

    /// The reason why a client cannot begin at its place, in words that need no escaping in JSON.
    struct Misplaced: Error {
        let reason: String
    }

    /// Parses a client's place to begin at.
    func place(_ text: String) throws(Misplaced) -> ReplayPlace {
        let (first, last) = (
            self.span.moment(self.span.bounds.lowerBound), self.span.moment(self.span.bounds.upperBound)
        )
        // In a query `%` and `+` are percent-encoded. A lone `%` at the end stands for itself, because people write `50%`
        // that way.
        let decoded =
            text.hasSuffix("%")
            ? PercentText.decoded(text.dropLast()).map { "\($0)%" } : PercentText.decoded(text)
        let place = decoded.flatMap { ReplayPlaceText.parseFixed($0, start: self.span.start) }
        guard let place else { throw Misplaced(reason: "start must be \(ReplayPlaceText.fixedForms)") }
        guard (try? self.material.bounds(from: place, to: self.settings.to, in: self.span)) != nil else {
            let times = "from \(first / 1_000_000) to \(last / 1_000_000), in ms since 1970"
            throw Misplaced(reason: "the recording has nothing at this start; it runs \(times)")
        }
        return place
    }

    func sharing(start: ReplayPlace?) -> MockServerHandler.Sharing {
        guard self.shared != nil, start == nil else { return .own }
        return self.settings.waitsForAll ? .waiting : .goingOn
    }

    /// Returns the player for a client, with its own place or without one.
    func player(start: ReplayPlace?) throws(RecordingFailure) -> ReplayPlayer {
        if start == nil, let shared { return shared }
        var settings = self.settings
        if let start { settings.from = start }
        settings.hasBreaks = false
        settings.waitsForAll = true
        return try ReplayPlayer(
            self.material,
            settings: settings,
            loop: self.loop,
            played: self.played,
            wallClock: self.wallClock
        )
    }
}
