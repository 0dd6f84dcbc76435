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
    private let mockServer: MockServerSettings
    private let replay: ReplaySource

    /// Prepares the replay; the clock shows the time of the first message.
    ///
    /// - Parameter settings: the settings of the player. Its speed applies only to its own clock, and no reader sees
    ///   it.
    package init(_ material: ReplayMaterial, settings: ReplaySettings) throws(RecordingFailure) {
        var mockServer = MockServerSettings()
        mockServer.replay = settings
        // The settings of a replay inside the program.
        mockServer.sharesClock = true
        mockServer.marks = FrameMarks()
        mockServer.pingInterval = nil
        self.mockServer = mockServer
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
        self.replay = try ReplaySource(material, settings: mockServer, loop: self.pace, wallClock: self.clock.wall)
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
        var settings = FinnhubSettings(key: Secret("replay"))
        settings.upstream = UpstreamAddress(isEncrypted: true, host: "127.0.0.1", port: 443)
        settings.symbols = order.symbols
        settings.source = order.source
        settings.marks = self.mockServer.marks
        settings.webSocket.pingInterval = nil
        settings.connection.silentAfter = nil
        settings.watch.subscribeInterval = 0
        let logger = Logger(label: "replay", factory: { _ in SwiftLogNoOpLogHandler() })
        let upstream = VirtualUpstream(
            source: self.replay,
            settings: self.mockServer,
            webSocket: settings.connector.webSocket,
            clock: self.clock,
            pace: self.pace,
            cutting: order.cutting
        )
        let connector = VirtualConnector(upstream: NIOLoopBound(upstream, eventLoop: self.clock.loop))
        let isOver = NIOLoopBoundBox(false, eventLoop: self.clock.loop)
        let feed = FinnhubFeed(
            settings,
            TapeWriter(epoch: order.epoch, readers: readers),
            connector: connector,
            FeedContext(loop: self.clock.loop, wallClock: self.clock.wall, chance: { 0.5 }, logger: logger)
        )
        feed.finished.assumeIsolated().whenSuccess { isOver.value = true }
        feed.start()
        self.clock.loop.run()
        // The player's only timers are those that lead to the end of the recording.
        self.pace.advanceTime(to: .uptimeNanoseconds(1 << 62))
        self.clock.loop.run()
        guard isOver.value, let endedAt = upstream.endedAt else {
            feed.stop()
            self.clock.loop.run()
            throw RecordingFailure("the recording was not played to its end")
        }
        return endedAt
    }
}
