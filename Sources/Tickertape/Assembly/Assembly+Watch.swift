package import Feeds
import Market
import Measurements
import NIOPosix
import Platform
import Terminal

extension Assembly {
    /// Shows what the relay at `url` sends until it is stopped.
    package static func watch(_ url: UpstreamAddress, _ settings: Settings) async throws {
        EarlyStop.take()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let status = FeedStatus(source: .live, phase: .connecting, since: WallClock.now())
        let isChosen = settings.origin(of: .symbols) != .builtIn
        let symbols = isChosen ? settings.finnhub.symbols : []
        // The relay's times, and not ours, are what its trades have.
        let latency = LatencyBook(clocks: .relayed)
        let relay = WatchedRelay(symbols: symbols, monotonic: DisplayClock.monotonic)
        let shown = try DisplayPart(
            settings: settings,
            loop: loop,
            symbols: symbols,
            status: status,
            relay: { .watched("\(url)") },
            clients: nil,
            latency: latency,
            seesAllTrades: false,
            replay: { relay.position() }
        )
        guard let shown else {
            throw OperatorError("watch with --quiet shows nothing; leave --quiet out", status: .usage)
        }
        let logger = shown.logger
        var feedSettings = StreamFeed.Settings(
            relay: url,
            symbols: symbols
        )
        // A chart and a tape have a place for every trade of a break; lines are for the settled prices.
        feedSettings.takesEveryTrade = shown.isScreen
        feedSettings.dial = try settings.dial(to: url)
        feedSettings.token = settings.relayToken.map { APIKey($0.reveal()) }
        let display = shown.display
        let alerts = try AlertsPart(
            settings,
            loop: loop,
            source: .live,
            symbols: symbols,
            registry: MetricRegistry(),
            shown: shown,
            // What was set by key belongs to the program with the feed, and any number of these may run beside it.
            keeps: false,
            warn: { [isScreen = shown.isScreen] text in
                isScreen ? display.notice("warning: \(text)") : Console.complain("warning: \(text)")
            }
        )
        let past = shown.isScreen ? try StreamPast(feedSettings, on: loop, wallClock: WallClock.now) : nil
        let charts = EarlierCharts(past, display: shown.display, loop: loop)
        let feed = try await StreamFeed.make(
            settings: feedSettings,
            loop: loop,
            logger: logger,
            wallClock: WallClock.now
        ) { event in
            switch event {
            case .message(let message):
                relay.show(message, on: display)
                alerts.reader.take(message)
                charts.take(message, chosen: symbols)
            case .lost(let status):
                relay.showLost(status, on: display)
            }
        }
        shown.connect(
            ScreenControls.make(
                watching: feed,
                display: display,
                symbols: symbols,
                alerts: alerts,
                charts: charts,
                // It asks Finnhub's REST service, which does not use the key's one connection.
                desk: settings.token == nil ? nil : Result { () throws(OperatorError) in try ServiceDesk(settings) }
            )
        )
        defer { if !settings.display.isOnce { TickerProgram.report(latency) } }
        try await TickerProgram.live(
            [shown.part, alerts.part, ProgramPart("feed") { try await feed.run() }, charts.part],
            hasScreen: shown.isScreen
        )
        await group.end()
    }
}
