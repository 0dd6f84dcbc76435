import Feeds
import Ingest
import Market
import Measurements
import NIOCore
import Recordings
import Relay
import Terminal
import Wire

/// The readers of a ticker's tape: the relay, the display, the alerts, the recorder and the history.
struct TickerReaders {
    let history: HistoryService?
    let server: RelayServer?
    let relay: RelayService?
    let display: DisplayService?
    let alerts: AlertService
    let recording: RecordingService?
    let tally = TradeTally()

    /// Makes the readers and opens the relay. After a failure the relay, the history and the feed are stopped.
    init(_ program: TickerProgram, _ base: TickerBase) async throws {
        let settings = program.settings
        let prices = SettledPrices(settings: settings.relay.pipeline, loop: base.loop)
        let history = HistoryService(settings, source: program.feed.source, warnings: base.warnings)
        let server = base.place.map { Self.makeServer(program, base, at: $0, history: history, prices: prices) }
        self.history = history
        self.server = server
        if let server { base.instruments.cluster.clients { server.clientCount } }
        do {
            let relayState = base.place.map(RelayState.init)
            let recordingState = RecordingState()
            self.display = try DisplayService(
                settings: settings,
                loop: base.loop,
                symbols: program.feed.symbols,
                prices: prices,
                status: base.status,
                relay: relayState.map { state in { @Sendable () -> DisplayRelay? in state.shown } },
                clients: server.map { server in { @Sendable () -> Int in server.clientCount } },
                recording: { recordingState.shown },
                cluster: { [cluster = base.instruments.cluster] in cluster.value },
                latency: base.instruments.latency,
                completeness: base.instruments.completeness,
                replay: program.played?.remote.map { replay in
                    { @Sendable () -> ReplayPosition? in replay.position() }
                }
            )
            if let server, let place = base.place, let relayState {
                self.relay = RelayService(
                    server,
                    at: place,
                    state: relayState,
                    key: base.key,
                    display: self.display,
                    prepare: { await history?.seedRooms(server, within: $0) }
                )
                // Before the relay listens, since clients that reconnect ask for earlier trades.
                await Self.recall(program, server)
                await history?.seed(server)
            } else {
                self.relay = nil
            }
            try await self.relay?.open()
            if let display = self.display { base.warnings.show(on: display) }
            self.alerts = try AlertService(
                settings,
                loop: base.loop,
                source: program.feed.source,
                symbols: program.feed.symbols,
                registry: base.instruments.registry,
                display: self.display,
                // `--once` ends before a key can set an alert, and stored alerts belong to the programs that keep
                // running.
                keeps: !settings.display.isOnce,
                warnings: base.warnings
            )
            // Last, so that a program that cannot run leaves no empty recording behind.
            self.recording = try RecordingService(
                settings,
                feed: program.feed,
                run: base.epoch,
                isMember: base.cluster != nil,
                history: history,
                warnings: base.warnings
            )
            if let recording = self.recording { recordingState.follow(recording.recorder) }
        } catch {
            base.feed.stop()
            await server?.stop()
            await history?.finish()
            throw error
        }
    }

    /// Makes the relay's server, not started yet.
    private static func makeServer(
        _ program: TickerProgram,
        _ base: TickerBase,
        at place: RelayPlace,
        history: HistoryService?,
        prices: SettledPrices
    ) -> RelayServer {
        RelayServer(
            settings: place.settings,
            subscriptions: base.subscriptions,
            freshness: program.settings.finnhub.watch.freshness,
            eventLoop: base.relayLoop,
            logger: base.log.logger(.relay),
            flow: program.played?.remote == nil ? nil : base.feed,
            status: base.status,
            // The numbers of a member of a cluster are those of the ingest.
            epoch: base.cluster == nil ? base.epoch : nil,
            wallClock: WallClock.now,
            instruments: base.instruments,
            tls: base.certificate,
            replay: program.played?.remote,
            past: history?.past,
            directory: RelayDirectory(base.lookup),
            holdings: program.settings.relayHoldings,
            shownSettings: program.reloadable?.running.showing,
            prices: program.relaySharesLoop ? prices : nil
        )
    }

    /// Gives the relay the newest trades of earlier runs, as far as this program's recording folder has them.
    private static func recall(_ program: TickerProgram, _ server: RelayServer) async {
        guard program.feed.source == .live, let path = program.settings.record.file else { return }
        let recordings = EarlierRecordings(folder: FilePath.folder(of: path))
        await server.remember(recordings.trades(now: WallClock.now()))
    }

    /// Lets the history and the measurements follow the recorder, which is made after them.
    func followRecording(_ instruments: Instruments) {
        if let recording = self.recording {
            self.history?.follow(recording.recorder)
            instruments.recorderDropped { recording.recorder.dropped }
            instruments.recorderDoubted { recording.recorder.doubted }
            instruments.recorderFails { recording.recorder.written?.isTaken == false }
        }
        if let history = self.history { instruments.historyLost { history.historyRecorder.report.lost } }
    }

    /// Returns the readers in the order in which they get each batch.
    func inOrder(_ base: TickerBase) -> [any TapeReader] {
        let meter = TapeMeter(
            base.instruments,
            loop: base.loop,
            logger: base.log.logger(.feed, isLimited: false),
            warn: base.warnings.warn(of: .feed)
        )
        let readers: [(any TapeReader)?] = [
            base.subscriptions, self.tally, meter, base.instruments.completeness, self.alerts.reader,
            self.display?.display, self.recording?.recorder, self.history?.historyRecorder,
            base.feed.audit?.tapeAudit.reader(.finnhub),
            base.manager.isThere ? base.manager : nil, base.ingest?.publisher, base.ingest?.prices,
            // Last: on the same loop, the server has written to all clients when it returns.
            self.server,
        ]
        return readers.compactMap { $0 }
    }
}
