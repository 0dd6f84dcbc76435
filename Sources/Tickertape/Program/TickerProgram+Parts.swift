import Feeds
import Ingest
import Market
import Measurements
import NIOCore
import Recordings
import Relay
import Terminal
import Wire

/// The feed, and what reads its tape.
struct TapeParts {
    /// What they stand on.
    struct Ground {
        /// The feed's loop.
        let loop: any EventLoop
        /// What is true of the feed until it says otherwise.
        let status: FeedStatus
        let epoch: UInt64
        let instruments: Instruments
        let subscriptions: Subscriptions
        /// The debounced prices of the feed's loop.
        let prices: SettledPrices
        let door: RelayDoor?
        let history: HistoryPart?
        let keeping: KeyKeeping?
        let certificate: RelayTLS?
        let manager: ServiceManager
    }

    let shown: DisplayPart?
    let alerts: AlertsPart
    let recorder: Recorder?
    let tally: TradeTally
    let feed: FeedService
}

extension TickerProgram {
    /// Makes them: first all that a wrong setting can spoil, so that none leaves an empty recording behind, then the recorder,
    /// and the feed at last.
    func makeTapeParts(_ ground: TapeParts.Ground, feedSettings: FinnhubSettings) async throws -> TapeParts {
        let instruments = ground.instruments
        let relay = ground.door?.relay
        let shown = try DisplayPart(
            settings: self.settings,
            loop: ground.loop,
            symbols: self.feed.symbols,
            prices: ground.prices,
            status: ground.status,
            relay: ground.door.map { door in { @Sendable () -> DisplayRelay? in door.shown } },
            clients: relay.map { relay in { @Sendable () -> Int in relay.clientCount } },
            latency: instruments.latency,
            replay: self.played?.remote.map { replay in { @Sendable () -> ReplayPosition? in replay.position() } }
        )
        let warn = Self.warning(on: shown)
        let alerts = try AlertsPart(
            self.settings,
            loop: ground.loop,
            source: self.feed.source,
            symbols: self.feed.symbols,
            registry: instruments.registry,
            shown: shown,
            // One look ends before anybody sets an alert; what was set by key is watched by the program that stays.
            keeps: !self.settings.display.isOnce,
            warn: warn
        )
        let recorder = try self.makeRecorder(epoch: ground.epoch, warn: warn)
        if let history = ground.history {
            history.connect(recorder, warn: warn)
            instruments.historyLost { history.keeper.report.lost }
        }
        if let history = ground.history, let shown, shown.isScreen {
            shown.display.begin(with: await history.charts(of: self.feed.symbols, now: WallClock.now()))
        }
        if let shown, let door = ground.door { door.watch { shown.display.relayChanged() } }
        if let shown, shown.isScreen { ground.keeping?.warnings.go(to: shown.logger) }
        for warning in ground.certificate?.warnings ?? [] { warn(warning) }
        let logger = shown?.logger ?? ProgramLog.make(level: self.settings.logLevel)
        let tally = TradeTally()
        let meter = TapeMeter(instruments, loop: ground.loop, logger: logger, warn: warn)
        if let recorder {
            instruments.recorderDropped { recorder.dropped }
            instruments.recorderDoubted { recorder.doubted }
        }
        var readers: [any TapeReader] = [ground.subscriptions, tally, meter, alerts.reader]
        if let shown { readers.append(shown.display) }
        if let recorder { readers.append(recorder) }
        if let history = ground.history { readers.append(history.keeper) }
        if ground.manager.isThere { readers.append(ground.manager) }
        // Last, for on the same loop it has written to all clients when it returns.
        if let relay { readers.append(relay) }
        do {
            let tape = try await ground.loop.submit { [readers] in
                NIOLoopBound(TapeWriter(epoch: ground.epoch, readers: readers), eventLoop: ground.loop)
            }.get()
            let feed = try await Self.makeFeed(feedSettings, into: tape, loop: ground.loop, logger: logger)
            return TapeParts(shown: shown, alerts: alerts, recorder: recorder, tally: tally, feed: feed)
        } catch {
            _ = await recorder?.finish()
            throw error
        }
    }
}
