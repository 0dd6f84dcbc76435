import TLS
import Ingest
import Feeds
import Logging
package import Market
package import MockUpstream
import NIOCore
package import Recordings
import NIOEmbedded
import WebSocket
package import Wire

/// A replay on virtual time: the real mock server, WebSocket, feed and tape, without sockets and with clocks under
/// control.
///
/// The feed's clock is the recording's, so the readers of the tape see the same batches at the same times, on every
/// machine and at every speed. It must be used on one thread from its creation to its end.
package final class VirtualReplay {
    /// The longest recording that is played, ns. The readers' timers fire throughout, about six times a second.
    private static let longest: Int64 = 31 * 86_400_000_000_000

    /// The feed's configuration.
    package struct Order: Sendable {
        package var symbols: [String]
        /// The source of the trades that readers get.
        package var source: FeedStatus.Source
        /// The epoch of the tape.
        package var epoch: UInt64
        package var cutting = ReplayCutting.messages

        package init(symbols: [String], source: FeedStatus.Source, epoch: UInt64) {
            self.symbols = symbols
            self.source = source
            self.epoch = epoch
        }
    }

    package let clock: RecordedClock
    /// The part of the recording that is played.
    package let span: RecordingSpan
    private let pace = EmbeddedEventLoop()
    private let material: ReplayMaterial
    private let settings: ReplaySettings

    /// Prepares the replay; the clock shows the time of the first message.
    ///
    /// - Parameter settings: the settings of the player. Its speed applies only to its own clock, and no reader sees
    ///   it.
    package init(_ material: ReplayMaterial, settings: ReplaySettings) throws(RecordingFailure) {
        self.material = material
        self.settings = settings
        let whole = try material.span()
        let bounds = try material.bounds(from: settings.from, to: settings.to, in: whole)
        guard bounds.upperBound.subtractingCapped(bounds.lowerBound) <= Self.longest else {
            throw RecordingFailure(
                "a recording of more than 31 days takes too long on virtual time: choose a part of it with "
                    + "--from and --to"
            )
        }
        self.span = RecordingSpan(start: whole.start, bounds: bounds)
        self.clock = RecordedClock(start: whole.start)
        self.clock.advance(to: bounds.lowerBound)
    }

    /// Returns the position by the recording's clock, at the recorded pace.
    package var position: @Sendable () -> ReplayPosition {
        let (wall, span) = (self.clock.wall, self.span)
        return {
            ReplayPosition(
                start: span.start.addingCapped(span.bounds.lowerBound),
                end: span.start.addingCapped(span.bounds.upperBound),
                at: wall(),
                speed: 1
            )
        }
    }

    /// Plays the whole recording to these readers; called once.
    ///
    /// - Returns: the time that it took by the player's clock, ns: the recording's length at the recorded pace.
    /// - Throws: ``RecordingFailure`` if the recording cannot be played to its end.
    package func run(_ order: Order, readers: [any TapeReader]) throws(RecordingFailure) -> Int64 {
        let connections = self.material.connections(for: order.symbols)
        var mockServer = MockServerSettings()
        mockServer.replay = self.settings
        // The settings of a replay inside the program.
        mockServer.sharesClock = true
        mockServer.pingInterval = nil
        for dialect in connections.keys { mockServer.marks[dialect] = FrameMarks() }
        let source = try ReplaySource(
            self.material,
            settings: mockServer,
            loop: self.pace,
            wallClock: self.clock.wall
        )
        let upstream = VirtualUpstream(
            source: source,
            settings: mockServer,
            clock: self.clock,
            pace: self.pace,
            cutting: order.cutting
        )
        let tape = TapeWriter(epoch: order.epoch, readers: readers)
        var running = connections.count
        // In the order of the program's feeds.
        let feeds = connections.sorted { $0.key.rawValue < $1.key.rawValue }.map { dialect, symbols in
            self.makeFeed(dialect, symbols, order, marks: mockServer.marks[dialect], upstream, tape)
        }
        for feed in feeds {
            feed.finished.assumeIsolated().whenSuccess { running -= 1 }
            feed.start()
        }
        self.clock.loop.run()
        // The player's only timers are those that lead to the end of the recording.
        self.pace.advanceTime(to: .uptimeNanoseconds(1 << 62))
        self.clock.loop.run()
        guard running == 0, let endedAt = upstream.endedAt else {
            for feed in feeds { feed.stop() }
            self.clock.loop.run()
            throw RecordingFailure("the recording was not played to its end")
        }
        return endedAt
    }

    /// Creates the feed of one service, which has not started.
    private func makeFeed(
        _ dialect: FrameDialect,
        _ symbols: [String],
        _ order: Order,
        marks: FrameMarks?,
        _ upstream: VirtualUpstream,
        _ tape: TapeWriter
    ) -> any Feed {
        func adapt(_ client: inout ClientSettings, path: String) {
            client.upstream = UpstreamAddress(isEncrypted: true, host: "127.0.0.1", port: 443, path: path)
            client.symbols = symbols
            client.source = order.source
            client.marks = marks
            client.webSocket.pingInterval = nil
            client.connection.silentAfter = nil
            client.connection.heartbeatSilentAfter = nil
            client.watch.subscribeInterval = 0
        }
        func connector(_ client: ClientSettings, target: String) -> VirtualConnector {
            VirtualConnector(
                upstream: NIOLoopBound(upstream, eventLoop: self.clock.loop),
                target: target,
                webSocket: client.webSocket
            )
        }
        let logger = Logger(label: "replay", factory: { _ in SwiftLogNoOpLogHandler() })
        let context = FeedContext(loop: self.clock.loop, wallClock: self.clock.wall, chance: { 0.5 }, logger: logger)
        guard let venue = Venue.allCases.first(where: { $0.dialect == dialect }) else {
            var settings = FinnhubSettings(key: Secret("replay"))
            adapt(&settings.client, path: UpstreamAddress.finnhub.path)
            let way = connector(settings.client, target: "/?token=replay")
            return FinnhubFeed(settings, tape, connector: way, context)
        }
        var settings = VenueSettings(venue, symbols: [])
        adapt(&settings.client, path: venue.upstream.path)
        let way = connector(settings.client, target: venue.upstream.path)
        return VenueFeed(settings, tape, connector: way, names: nil, context)
    }
}
