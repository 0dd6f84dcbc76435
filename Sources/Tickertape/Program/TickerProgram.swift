import Feeds
import Ingest
import Logging
import Market
import Measurements
import MockUpstream
import NIOCore
import NIOPosix
import ServiceLifecycle
import Wire

/// A whole running ticker: one feed, and the relay, the display and the recorder that read its tape.
struct TickerProgram {
    let settings: Settings
    let feed: FinnhubSettings
    /// Where the symbols that are added and removed at the screen are kept.
    let watchlist: KeptWatchlist?
    /// What is played, where it is not the market.
    let played: PlayedMaterial?

    init(
        settings: Settings,
        feed: FinnhubSettings,
        watchlist: KeptWatchlist? = nil,
        replay played: PlayedMaterial? = nil
    ) {
        var settings = settings.withoutNeedlessRelay
        settings.record.file = settings.record.file.map { RecordingName.inFolder($0, at: WallClock.now()) }
        self.settings = settings
        self.feed = feed
        self.watchlist = watchlist
        self.played = played
    }

    /// Runs until it is told to stop, a person quits, a replay is over, or only a person can mend what is wrong.
    func run() async throws {
        try self.feed.checkTrust()
        if let warning = try self.settings.checkRelay() { Console.complain("warning: \(warning)") }
        // A replay needs no key and leaves no trace.
        let keeping = self.played != nil ? nil : KeyKeeping(self.settings.state, feed: self.feed)
        var feedSettings = self.feed
        if let keeping { feedSettings.holding = keeping.holding }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: self.relaySharesLoop ? 1 : 2)
        let feedLoop = group.next()
        let relayLoop = group.next()
        let status = FeedStatus(
            source: self.feed.source,
            phase: .connecting,
            since: WallClock.now(),
            certificateChecked: self.feed.certificateIsChecked
        )
        let instruments = Instruments(source: self.feed.source)
        let manager = ServiceManager()
        let inherited = try InheritedSocket.take()
        let epoch = UInt64(WallClock.now() / 1_000_000)
        feedSettings.handshakeEnded = { handshake in
            switch handshake {
            case .completed(let session, let nanoseconds):
                instruments.handshakes.completed(session, nanoseconds: nanoseconds)
            case .failed: instruments.handshakes.failed()
            }
        }
        let relayLog = ProgramLog.make(level: self.settings.isVerbose ? self.settings.logLevel : .error)
        let certificate = try self.settings.relayTLS(instruments: instruments, logger: relayLog)
        let valve = FeedValve()
        let subscriptions = Subscriptions(
            limit: self.settings.finnhub.watch.symbolLimit,
            retained: self.feed.symbols,
            linger: self.settings.relay.unsubscribeGrace,
            loop: feedLoop
        )
        let prices = SettledPrices(settings: self.settings.relay.pipeline, loop: feedLoop)
        let history = HistoryPart(settings: self.settings, source: self.feed.source)
        let door = self.makeRelay(
            on: relayLoop,
            inherited: inherited,
            subscriptions: subscriptions,
            valve: valve,
            status: status,
            epoch: epoch,
            instruments: instruments,
            certificate: certificate,
            logger: relayLog,
            keeping: keeping,
            past: history?.past,
            prices: self.relaySharesLoop ? prices : nil
        )
        // Before it listens: who comes back asks for what was before.
        if let door { await self.remember(door.relay) }
        if let door, let history { await history.seed(door.relay) }
        try await door?.open()
        if door == nil { keeping?.announceNoRelay() }
        let relay = door?.relay
        let made: TapeParts
        do {
            made = try await self.makeTapeParts(
                TapeParts.Ground(
                    loop: feedLoop,
                    status: status,
                    epoch: epoch,
                    instruments: instruments,
                    subscriptions: subscriptions,
                    prices: prices,
                    door: door,
                    history: history,
                    keeping: keeping,
                    certificate: certificate,
                    manager: manager
                ),
                feedSettings: feedSettings
            )
        } catch {
            await relay?.stop()
            await history?.finish()
            throw error
        }
        let (shown, alerts, recorder, feed) = (made.shown, made.alerts, made.recorder, made.feed)
        valve.connect(feed)
        subscriptions.connect(feed)
        self.connectKeys(of: shown, to: feed, subscriptions: subscriptions, alerts: alerts)
        if shown?.isScreen != true { door?.announce { Console.complain($0) } }
        // Stopped from the last to the first: no more trades, then those who show and pass them on, then the file.
        var parts = [
            Impatience.part { relay?.cut() }, manager.watch([feedLoop, relayLoop]),
        ]
        if let history { parts.append(history.part) }
        if let recorder { parts.append(self.recorderPart(recorder)) }
        if let door { parts.append(Self.relayPart(door)) }
        if let shown { parts.append(shown.part) }
        parts.append(alerts.part)
        parts.append(self.feedPart(feed, door: door, shown: shown, tally: made.tally, alerts: alerts))
        // The first to hear of the end.
        parts.append(Self.doorPart(relay, manager: manager))
        defer { if !self.settings.display.isQuiet, !self.settings.display.isOnce { Self.report(instruments.latency) } }
        do {
            try await Self.live(parts, hasScreen: shown?.isScreen == true, certificate: certificate)
        } catch let failure as UpstreamFailure where failure.disposition == .keyRejected {
            throw OperatorError(failure.description, status: .keyRejected)
        }
        // As long as it plays it tells these loops where it stands.
        await self.played?.standIn.stop()
        await self.watchlist?.settle()
        await group.end()
    }

    /// Says a warning where the person sees it: in the picture, which a line on standard error would tear, or there.
    static func warning(on shown: DisplayPart?) -> @Sendable (String) -> Void {
        guard let shown, shown.isScreen else { return { Console.complain("warning: \($0)") } }
        let display = shown.display
        return { display.notice("warning: \($0)") }
    }

    /// The last line: how long everything took.
    static func report(_ latency: LatencyBook) {
        if let line = latency.report.line { Console.complain(line) }
    }
}
