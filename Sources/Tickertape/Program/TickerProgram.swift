import Feeds
import Ingest
import Logging
import Market
import Measurements
import NIOCore
import NIOPosix
import Recordings
import Relay
import ServiceLifecycle
import Terminal
import Wire

/// A complete ticker: one feed, and the relay, the display, the alerts and the recorder that read its tape.
struct TickerProgram {
    /// The largest number of clients for a relay on the feed's loop. Writing to so many takes about 4 ms, which may
    /// delay a read of the feed.
    private static let maximumClientsBesideFeed = 1_000

    let settings: Settings
    let feed: FinnhubSettings
    /// The file of the symbols that are added and removed at the screen.
    let watchlist: WatchlistFile?
    /// The material of a replay; `nil` for the market.
    let played: PlayedMaterial?

    init(
        settings: Settings,
        feed: FinnhubSettings,
        watchlist: WatchlistFile? = nil,
        replay played: PlayedMaterial? = nil
    ) {
        var settings = settings.withoutNeedlessRelay
        settings.record.file = settings.record.file.map { RecordingName.inFolder($0, at: WallClock.now()) }
        self.settings = settings
        self.feed = feed
        self.watchlist = watchlist
        self.played = played
    }

    /// Whether the relay runs on the feed's loop, which saves two wake-ups and a thread switch for every batch.
    ///
    /// It does not in a replay that a person controls, where the feed waits for its readers and both sides are always
    /// busy. It does not with TLS, where each new client costs a signature.
    var relaySharesLoop: Bool {
        self.played?.remote == nil && self.settings.relay.maximumClients <= Self.maximumClientsBesideFeed
            && self.settings.relayFiles.certificate == nil
    }

    /// Runs until a stop, the user's quit, the end of a replay, or an error that only the user can correct.
    func run() async throws {
        Console.queueErrors()
        // The checks of settings come before the program opens anything.
        try self.feed.checkTrust()
        if let warning = try self.settings.checkRelay() { Console.complain("warning: \(warning)") }
        let warnings = Warnings()
        // A replay needs no key and stores no state.
        let key = self.played == nil ? KeyStorage(self.settings.state, feed: self.feed, warnings: warnings) : nil
        let manager = ServiceManager()
        let inherited = try InheritedSocket.take()
        let instruments = Instruments(source: self.feed.source)
        let relayLog = ProgramLog.make(level: self.settings.isVerbose ? self.settings.logLevel : .error)
        let certificate = try self.settings.relayTLS(instruments: instruments, logger: relayLog)
        let place = RelayPlace(self.settings, inherited: inherited, isEncrypted: certificate != nil)
        if place == nil { key?.announceNoRelay() }

        // The feed, with a tape that has no readers yet.
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: self.relaySharesLoop ? 1 : 2)
        let loop = loops.next()
        let relayLoop = loops.next()
        let epoch = UInt64(WallClock.now() / 1_000_000)
        let status = FeedStatus(
            source: self.feed.source,
            phase: .connecting,
            since: WallClock.now(),
            certificateChecked: self.feed.certificateIsChecked
        )
        let tape = try await loop.submit { NIOLoopBound(TapeWriter(epoch: epoch), eventLoop: loop) }.get()
        let logger = ProgramLog.make(self.settings, format: DisplayService.format(self.settings))
        let feed = try await self.makeFeed(into: tape, on: loop, key: key, instruments: instruments, logger: logger)
        let subscriptions = Subscriptions(
            limit: self.settings.finnhub.watch.symbolLimit,
            retained: self.feed.symbols,
            linger: self.settings.relay.unsubscribeGrace,
            loop: loop
        )

        // The readers of the tape.
        let prices = SettledPrices(settings: self.settings.relay.pipeline, loop: loop)
        let history = HistoryService(self.settings, source: self.feed.source, warnings: warnings)
        let server = place.map { place in
            RelayServer(
                settings: place.settings,
                subscriptions: subscriptions,
                freshness: self.settings.finnhub.watch.freshness,
                eventLoop: relayLoop,
                logger: relayLog,
                flow: self.played?.remote == nil ? nil : feed,
                status: status,
                epoch: epoch,
                wallClock: WallClock.now,
                instruments: instruments,
                tls: certificate,
                replay: self.played?.remote,
                past: history?.past,
                prices: self.relaySharesLoop ? prices : nil
            )
        }
        let relayState = place.map(RelayState.init)
        let display: DisplayService?
        let alerts: AlertService
        let relay: RelayService?
        let recording: RecordingService?
        do {
            display = try DisplayService(
                settings: self.settings,
                loop: loop,
                symbols: self.feed.symbols,
                prices: prices,
                status: status,
                relay: relayState.map { state in { @Sendable () -> DisplayRelay? in state.shown } },
                clients: server.map { server in { @Sendable () -> Int in server.clientCount } },
                latency: instruments.latency,
                replay: self.played?.remote.map { replay in { @Sendable () -> ReplayPosition? in replay.position() } }
            )
            if let server, let place, let relayState {
                relay = RelayService(server, at: place, state: relayState, key: key, display: display)
                // Before the relay listens, since clients that reconnect ask for earlier trades.
                await self.recall(server)
                await history?.seed(server)
            } else {
                relay = nil
            }
            try await relay?.open()
            if let display { warnings.show(on: display) }
            alerts = try AlertService(
                self.settings,
                loop: loop,
                source: self.feed.source,
                symbols: self.feed.symbols,
                registry: instruments.registry,
                display: display,
                // `--once` ends before a key can set an alert, and stored alerts belong to the programs that keep
                // running.
                keeps: !self.settings.display.isOnce,
                warnings: warnings
            )
            // Last, so that a program that cannot run leaves no empty recording behind.
            recording = try RecordingService(self.settings, feed: self.feed, epoch: epoch, warnings: warnings)
        } catch {
            feed.stop()
            await server?.stop()
            await history?.finish()
            throw error
        }
        for warning in certificate?.warnings ?? [] { warnings.warn(warning) }
        if let recording {
            history?.follow(recording.recorder)
            instruments.recorderDropped { recording.recorder.dropped }
            instruments.recorderDoubted { recording.recorder.doubted }
        }
        if let history { instruments.historyLost { history.historyRecorder.report.lost } }
        if let history, let display, display.isScreen {
            display.display.begin(with: await history.charts(of: self.feed.symbols, now: WallClock.now()))
        }
        let tally = TradeTally()
        let meter = TapeMeter(instruments, loop: loop, logger: logger, warn: warnings.warn)
        let readers: [(any TapeReader)?] = [
            subscriptions, tally, meter, alerts.reader, display?.display, recording?.recorder, history?.historyRecorder,
            manager.isThere ? manager : nil,
            // Last: on the same loop, the server has written to all clients when it returns.
            server,
        ]
        try await loop.submit { tape.value.add(readers.compactMap { $0 }) }.get()
        subscriptions.connect(feed)
        if let display, let replay = self.played?.remote {
            replay.watch { _ in display.display.replayMoved() }
            // The replay may start paused.
            display.display.replayMoved()
        }
        relay?.announce()

        // Services stop from the last to the first: the feed, then its readers, then the file.
        let job = FeedJob(
            feed: feed,
            played: self.played,
            relay: relay,
            display: display,
            alerts: alerts,
            tally: tally
        )
        let services: [NamedService?] = [
            SignalServices.secondStop { server?.cut() }, manager.watch([loop, relayLoop]), history?.part,
            recording?.part, relay?.part,
            display.map { $0.part(self.controls(of: $0, feed: feed, subscriptions: subscriptions, alerts: alerts)) },
            alerts.part, job.part,
            // The first to stop.
            manager.life { await server?.stopAccepting() },
        ]
        defer { if !self.settings.display.isQuiet, !self.settings.display.isOnce { instruments.latency.complain() } }
        do {
            try await NamedService.run(
                services.compactMap { $0 },
                hasScreen: display?.isScreen == true,
                certificate: certificate
            )
        } catch let failure as UpstreamFailure where failure.disposition == .keyRejected {
            throw OperatorError(failure.description, status: .keyRejected)
        }
        // Before the loops end, since the mock server reports its position to them while it plays.
        if await self.played?.mockServer.stop() == false {
            Console.complain("warning: the disk of the recording does not answer; the replay was cut short")
        }
        await self.watchlist?.settle()
        await loops.end()
    }

    /// Makes the feed, not started yet. Only this function names the services that trades come from.
    private func makeFeed(
        into tape: NIOLoopBound<TapeWriter>,
        on loop: any EventLoop,
        key: KeyStorage?,
        instruments: Instruments,
        logger: Logger
    ) async throws -> FeedService {
        var settings = self.feed
        if let key { settings.holding = key.holding }
        settings.handshakeEnded = { handshake in
            switch handshake {
            case .completed(let session, let nanoseconds):
                instruments.handshakes.completed(session, nanoseconds: nanoseconds)
            case .failed: instruments.handshakes.failed()
            }
        }
        return try await FinnhubFeed.make(
            settings,
            into: tape,
            loop: loop,
            logger: logger,
            wallClock: WallClock.now
        )
    }

    /// Gives the relay the newest trades of earlier runs, as far as this program's recording folder has them.
    private func recall(_ server: RelayServer) async {
        guard self.feed.source == .live, let path = self.settings.record.file else { return }
        let recordings = EarlierRecordings(folder: FilePath.folder(of: path))
        await server.remember(recordings.trades(now: WallClock.now()))
    }

    /// Returns the actions that the screen's keys can start.
    private func controls(
        of display: DisplayService,
        feed: FeedService,
        subscriptions: Subscriptions,
        alerts: AlertService
    ) -> DisplayRemote {
        var remote = DisplayRemote(without: "this version cannot do that")
        guard display.isScreen else { return remote }
        remote.connect(
            to: ScreenSymbols(
                symbols: self.feed.symbols,
                source: subscriptions,
                display: display.display,
                watchlist: self.watchlist,
                recorded: self.played?.allSymbols,
                material: self.played?.name ?? "the recording"
            )
        )
        remote.connect(to: feed, of: self.feed.source)
        remote.connect(
            to: Result { () throws(OperatorError) in
                let lookup = try ServiceLookup(self.settings)
                return self.played.map { lookup.searching(Set($0.symbols), of: $0.name) } ?? lookup
            }
        )
        remote.connect(to: alerts)
        if let replay = self.played?.remote {
            remote.connect(to: replay)
        } else {
            remote.replay = .cannot("this is not a replay")
        }
        return remote
    }
}

extension LatencyBook {
    /// Prints the last line of a program: its latencies.
    func complain() {
        if let line = self.report.line { Console.complain(line) }
    }
}
