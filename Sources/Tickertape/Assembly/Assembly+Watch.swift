package import Feeds
import Logging
import Market
import Measurements
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Platform
import Wire

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
        let replay = NIOLockedValueBox(WatchedReplay())
        let shown = try DisplayPart(
            settings: settings,
            loop: loop,
            symbols: symbols,
            status: status,
            relay: { .watched("\(url)") },
            clients: nil,
            latency: latency,
            seesAllTrades: false,
            replay: { replay.withLockedValue { $0.position(now: DisplayClock.monotonic()) } }
        )
        guard let shown else {
            throw OperatorError("watch with --quiet shows nothing; leave --quiet out", status: .usage)
        }
        let logger = shown.logger
        let watch = WatchStatus(initial: status, url: url, wallClock: WallClock.now)
        let state = NIOLoopBoundBox.makeBoxSendingValue(watch, eventLoop: loop)
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
            case .message(.snapshot(let update, let age)):
                display.show(update, age: age)
                alerts.reader.show(update)
            case .message(.price(let update)):
                let summary = update.summary
                replay.withLockedValue { $0.traded(at: summary.exchangeTime, sequence: summary.sequence) }
                display.show(update)
                alerts.reader.show(update)
            case .message(.trades(let summary)): display.observe(summary)
            case .message(.gap(let gap)):
                replay.withLockedValue { $0.took(gap) }
                display.gapFound(gap)
                alerts.reader.gapFound(gap)
            case .message(.symbol(let status)):
                if !status.isRefused { charts.want([status.symbol]) }
                state.withValue { $0.symbolChanged(status) }
                display.symbolChanged(status)
            case .message(.released(let symbol, let since)): display.symbolUnwished(symbol, since: since)
            case .message(.hello(_, _, let names, let status, let position)):
                if symbols.isEmpty { display.expect(names) }
                charts.want(symbols.isEmpty ? names : symbols)
                display.statusChanged(state.withValue { $0.relaySays(status) })
                replay.withLockedValue { $0.told(position, now: DisplayClock.monotonic()) }
                display.replayMoved()
            case .message(.replay(let position)):
                replay.withLockedValue { $0.told(position, now: DisplayClock.monotonic()) }
                display.replayMoved()
            case .message(.status(let status)):
                display.statusChanged(state.withValue { $0.relaySays(status) })
            case .message(.error(let text)):
                if let refusal = SymbolRefusalText(text), refusal.symbol != nil {
                    if let status = state.withValue({ $0.relayRefuses(refusal, text) }) {
                        display.symbolChanged(status)
                    }
                } else {
                    display.statusChanged(state.withValue { $0.relayComplains(text) })
                }
            case .message(.trade), .message(.resumed), .message(.unknown), .message(.malformed): break
            case .link(let phase, let reason, let cause):
                replay.withLockedValue { $0.lost(now: DisplayClock.monotonic()) }
                display.statusChanged(state.withValue { $0.linkChanged(phase, reason: reason, cause: cause) })
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

/// What is true for whoever watches a relay: the relay's word while the link to it stands, the link's state while not.
struct WatchStatus: Sendable {
    private let url: UpstreamAddress
    private let wallClock: @Sendable () -> Int64
    private var status: FeedStatus
    /// The symbols whose refusal has been told; no more than are asked for.
    private var refused: Set<String> = []

    init(initial: FeedStatus, url: UpstreamAddress, wallClock: @escaping @Sendable () -> Int64) {
        self.status = initial
        self.url = url
        self.wallClock = wallClock
    }

    mutating func relaySays(_ status: FeedStatus) -> FeedStatus {
        self.status = status
        return status
    }

    mutating func relayComplains(_ text: String) -> FeedStatus {
        self.status.reason = "the relay says: \(text)"
        return self.status
    }

    mutating func symbolChanged(_ status: SymbolStatus) {
        if status.isRefused { self.refused.insert(status.symbol) } else { self.refused.remove(status.symbol) }
    }

    /// Takes the relay's refusal of a symbol, which says nothing about the feed; returns the symbol's state where the relay
    /// has not told it: what the relay itself refuses has none.
    mutating func relayRefuses(_ refusal: SymbolRefusalText, _ text: String) -> SymbolStatus? {
        guard let symbol = refusal.symbol, self.refused.insert(symbol).inserted else { return nil }
        let now = self.wallClock()
        return SymbolStatus(symbol: symbol, state: .refused(refusal.kind, retryAt: now), since: now, reason: text)
    }

    mutating func linkChanged(
        _ phase: FeedStatus.Phase,
        reason: String?,
        cause: FeedStatus.Cause?
    ) -> FeedStatus {
        if self.status.word != phase.word { self.status.since = self.wallClock() }
        self.status.phase = phase
        self.status.cause = cause
        self.status.reason = reason.map { "no link to the relay at \(self.url): \($0)" }
        return self.status
    }
}
