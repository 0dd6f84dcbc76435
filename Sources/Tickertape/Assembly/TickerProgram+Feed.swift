import Feeds
import Market
import ServiceLifecycle

/// The feed of the program, at whose end a replay is over.
extension TickerProgram {
    func feedPart(
        _ feed: FinnhubFeed,
        door: RelayDoor?,
        shown: DisplayPart?,
        tally: TradeTally,
        alerts: AlertsPart
    ) -> ProgramPart {
        let standIn = self.standIn
        let waitsForClient = self.waitsForClient
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
