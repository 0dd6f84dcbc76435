import Feeds
import ServiceLifecycle

/// The run of the feed. A replay ends here, after its readers have written their output.
struct FeedJob: Sendable {
    let feed: FeedGroup
    let played: PlayedMaterial?
    let relay: RelayService?
    let display: DisplayService?
    let alerts: AlertService
    let tally: TradeTally

    var part: NamedService { NamedService("feed") { try await self.run() } }

    private func run() async throws {
        let starter = Task {
            if self.played?.waitsForClient == true, let relay = self.relay {
                guard await relay.server.firstSubscribe() else { return }
            }
            self.played?.mockServer.go()
        }
        defer { starter.cancel() }
        try await self.feed.run()
        guard !Task.isShuttingDownGracefully else { return }
        // After a replay, all readers get the remaining trades, and the screen stays until the user quits.
        let hasScreen = self.display?.isScreen == true
        if !hasScreen { Console.printError(self.tally.report) }
        await self.display?.display.finish()
        await self.alerts.finish()
        await withGracefulShutdownHandler {
            await self.relay?.finish()
        } onGracefulShutdown: {
            // A stop does not wait for slow clients.
            Task { await self.relay?.server.stop() }
        }
        if hasScreen { try await gracefulShutdown() }
    }
}
