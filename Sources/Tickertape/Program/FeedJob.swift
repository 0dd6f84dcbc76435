import Feeds
import ServiceLifecycle

/// The run of the feed; at its end a replay is over, and what it brought goes out before the program ends.
struct FeedJob: Sendable {
    let feed: FeedService
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
        // A replay is over: all readers get the rest, and a person may look at the end for as long as they like.
        let hasScreen = self.display?.isScreen == true
        if !hasScreen { Console.complain(self.tally.report) }
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
