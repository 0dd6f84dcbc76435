import Feeds
import Ingest
import Logging
import Market
import NIOCore
import ServiceLifecycle

/// The feed of the program, at whose end a replay is over.
extension TickerProgram {
    /// Makes the feed, which has not begun: the one place that names the services that trades come from.
    static func makeFeed(
        _ settings: FinnhubSettings,
        into tape: NIOLoopBound<TapeWriter>,
        loop: any EventLoop,
        logger: Logger
    ) async throws -> FeedService {
        try await FinnhubSupervisor.make(settings, into: tape, loop: loop, logger: logger, wallClock: WallClock.now)
    }

    func feedPart(
        _ feed: FeedService,
        door: RelayDoor?,
        shown: DisplayPart?,
        tally: TradeTally,
        alerts: AlertsPart
    ) -> ProgramPart {
        let standIn = self.played?.standIn
        let waitsForClient = self.played?.waitsForClient ?? false
        let isQuiet = shown?.isScreen == true
        return ProgramPart("feed") {
            let relay = door?.relay
            let starter = Task {
                if waitsForClient, let relay { guard await relay.firstSubscribe() else { return } }
                standIn?.go()
            }
            defer { starter.cancel() }
            try await feed.run()
            guard !Task.isShuttingDownGracefully else { return }
            // A replay is over: everybody gets the rest, and a person may look at the end for as long as they like.
            if !isQuiet { Console.complain(tally.report) }
            await shown?.display.finish()
            await alerts.finish()
            await withGracefulShutdownHandler {
                await door?.finish()
            } onGracefulShutdown: {
                // Nobody wants to wait for slow clients any more.
                Task { await relay?.stop() }
            }
            if shown?.isScreen == true { try await gracefulShutdown() }
        }
    }
}
