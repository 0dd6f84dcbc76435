import Feeds
import Logging
import Market
import NIOCore
import NIOPosix
import ServiceLifecycle
import UnixSignals
import Sinks
import Synchronization
import Wire

/// A whole running ticker: one feed, and the relay, the display and the recorder that read its tape.
struct TickerProgram {
    let settings: Settings
    let feed: FinnhubSettings
    /// The feed's counterpart, when it is a replay.
    var standIn: StandIn?
    /// Commands the replay, when it is one.
    var replay: ReplayRemote?
    /// Whether the replay begins with the relay's first subscribed client.
    var waitsForClient = false
    /// Where the symbols that are added and removed at the screen are kept.
    var watchlist: KeptWatchlist?
    /// The symbols of the recording, when it is a replay, and the same where it is certain that there are no others.
    var recordedSymbols: [String]?
    var allRecordedSymbols: Set<String>?
    /// What that is called.
    var material = "the recording"

    init(settings: Settings, feed: FinnhubSettings) {
        var settings = settings.withoutNeedlessRelay
        settings.record.file = settings.record.file.map { RecordingName.inFolder($0, at: WallClock.now()) }
        self.settings = settings
        self.feed = feed
    }

    private var isReplay: Bool { self.standIn != nil }

    /// The most clients of a relay that lives on the feed's loop: writing to so many takes about 4 ms, for which a read of
    /// the feed may then have to wait.
    private static let mostClientsBesideFeed = 1_000

    /// Whether the relay lives on the feed's loop, which saves every read two wake-ups and a change of threads.
    ///
    /// Not where a feed can wait for its readers, for then both sides have work all the time; nor with TLS, for there each
    /// new client costs a signature.
    private var relaySharesLoop: Bool {
        self.replay == nil && self.settings.relay.maxClients <= Self.mostClientsBesideFeed
            && self.settings.relay.certificateFile == nil
    }

    /// Runs until it is told to stop, a person quits, a replay is over, or only a person can mend what is wrong.
    func run() async throws {
        try self.feed.checkTrust()
        if let warning = try self.settings.checkRelay() { Console.complain("warning: \(warning)") }
        // A replay needs no key and leaves no trace.
        let keeping = self.isReplay ? nil : KeyKeeping(self.settings.state, feed: self.feed)
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
        let history = HistoryPart(settings: self.settings, source: self.feed.source)
        let door = self.makeRelay(
            on: relayLoop,
            inherited: inherited,
            valve: valve,
            status: status,
            epoch: epoch,
            instruments: instruments,
            certificate: certificate,
            logger: relayLog,
            lock: keeping?.lock,
            past: history?.past
        )
        // Before it listens: who comes back asks for what was before.
        if let door { await self.remember(door.relay) }
        if let door, let history { await history.seed(door.relay) }
        try await door?.open()
        if door == nil { keeping?.lock?.announce(.off) }
        let relay = door?.relay
        let shown: DisplayPart?
        let recorder: Recorder?
        do {
            shown = try DisplayPart(
                settings: self.settings,
                loop: feedLoop,
                symbols: self.feed.symbols,
                status: status,
                relay: door?.url,
                clients: relay?.counter,
                latency: instruments.latency,
                replay: self.replay.map { replay in { @Sendable () -> ReplayPosition? in replay.position() } }
            )
            recorder = try self.makeRecorder(epoch: epoch, warn: Self.warning(on: shown))
        } catch {
            await relay?.stop()
            await history?.finish()
            throw error
        }
        if let history {
            history.connect(recorder, warn: Self.warning(on: shown))
            instruments.historyLost { history.keeper.report.lost }
        }
        if let history, let shown, shown.isScreen {
            shown.display.begin(with: await history.charts(of: self.feed.symbols, now: WallClock.now()))
        }
        if let shown, shown.isScreen { keeping?.warnings.go(to: shown.logger) }
        let logger = shown?.logger ?? ProgramLog.make(level: self.settings.logLevel)
        for warning in certificate?.warnings ?? [] { Self.warning(on: shown)(warning) }
        let tally = TradeTally()
        let meter = TapeMeter(
            instruments,
            loop: feedLoop,
            logger: logger,
            warn: Self.warning(on: shown)
        )
        let alerts = try AlertsPart(
            self.settings,
            loop: feedLoop,
            source: self.feed.source,
            symbols: self.feed.symbols,
            registry: instruments.registry,
            shown: shown,
            // One look ends before anybody sets an alert; what was set by key is watched by the program that stays.
            keeps: !self.settings.display.isOnce,
            warn: Self.warning(on: shown)
        )
        if let recorder {
            instruments.recorderDropped { recorder.dropped }
            instruments.recorderDoubted { recorder.doubted }
        }
        var readers: [any TapeReader] = [tally, meter, alerts.reader]
        if let shown { readers.append(shown.display) }
        if let recorder { readers.append(recorder) }
        if let history { readers.append(history.keeper) }
        if manager.isThere { readers.append(manager) }
        // Last, for on the same loop it has written to all clients when it returns.
        if let relay { readers.append(relay) }
        let feed = try await FinnhubFeed.make(
            settings: feedSettings,
            loop: feedLoop,
            epoch: epoch,
            readers: readers,
            logger: logger,
            wallClock: WallClock.now
        )
        valve.connect(feed)
        self.connectKeys(of: shown, to: feed, relay: relay, alerts: alerts)
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
        parts.append(self.feedPart(feed, relay: relay, shown: shown, tally: tally, alerts: alerts))
        // The first to hear of the end.
        parts.append(Self.doorPart(relay, manager: manager))
        defer { if !self.settings.display.isQuiet, !self.settings.display.isOnce { Self.report(instruments.latency) } }
        do {
            try await Self.live(parts, hasScreen: shown?.isScreen == true, certificate: certificate)
        } catch let failure as UpstreamFailure where failure.disposition == .keyRejected {
            throw OperatorError(failure.description, status: .keyRejected)
        }
        await group.end()
    }

    /// The life of the parts: a part that ends ends the program, and so do the signals.
    static func configuration(
        for parts: [ProgramPart],
        signals: [UnixSignal] = [.sigterm, .sigint, .sighup],
        logger: Logger
    ) -> ServiceGroupConfiguration {
        var configuration = ServiceGroupConfiguration(
            services: parts.map { part in
                ServiceGroupConfiguration.ServiceConfiguration(
                    service: part,
                    successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .gracefullyShutdownGroup,
                    serviceName: part.name
                )
            },
            gracefulShutdownSignals: signals,
            logger: logger
        )
        // Each part keeps limits of its own, of which those for a disk that hangs are the longest (`DiskThread.patience`, for the
        // recorder and for the history); this is for the part that does not.
        configuration.maximumGracefulShutdownDuration = .seconds(25)
        return configuration
    }

    private func makeRelay(
        on loop: any EventLoop,
        inherited: InheritedSocket?,
        valve: FeedValve,
        status: FeedStatus,
        epoch: UInt64,
        instruments: Instruments,
        certificate: RelayTLS?,
        logger: Logger,
        lock: KeyLock?,
        past: RelayPast?
    ) -> RelayDoor? {
        let place = self.settings.relay
        var (listen, socket) = (place.listen, place.unixSocket)
        var inherited = inherited
        if let wanted = listen, let passed = inherited {
            let isChosen = self.settings.origin(of: .relayListen) != .builtIn
            listen = passed.endpoint(listen: wanted, isChosen: isChosen) { Console.complain($0) }
            // Of the address in the settings it has been told.
            if wanted.isLoopback, let listen, let warning = Settings.warning(of: listen) {
                Console.complain("warning: \(warning)")
            }
            if case .file(let path) = passed.place {
                listen = nil
                socket = socket ?? path
            }
        } else if inherited != nil {
            Console.complain("relay.listen is off, so the socket that was passed is not used")
            inherited = nil
        }
        guard listen != nil || socket != nil else { return nil }
        var relaySettings = RelaySettings(self.settings, listen: listen)
        relaySettings.inheritedSocket = inherited?.descriptor
        let relay = Relay(
            settings: relaySettings,
            eventLoop: loop,
            logger: logger,
            ownSymbols: self.feed.symbols,
            demand: { symbol in valve.wish(for: symbol) },
            release: { symbol in valve.unwish(symbol) },
            flow: self.replay == nil ? nil : valve,
            status: status,
            epoch: epoch,
            wallClock: WallClock.now,
            instruments: instruments,
            tls: certificate,
            replay: self.replay,
            past: past
        )
        return RelayDoor(
            relay: relay,
            listen: listen,
            isEncrypted: certificate != nil,
            socket: socket,
            lock: lock
        )
    }

    private static func relayPart(_ door: RelayDoor) -> ProgramPart {
        ProgramPart("relay") {
            let opening = Task { await door.openLater() }
            try? await gracefulShutdown()
            opening.cancel()
            await door.relay.stop()
        }
    }

    /// Says a warning where the person sees it: in the picture, which a line on standard error would tear, or there.
    private static func warning(on shown: DisplayPart?) -> @Sendable (String) -> Void {
        guard let shown, shown.isScreen else { return { Console.complain("warning: \($0)") } }
        let display = shown.display
        return { display.notice("warning: \($0)") }
    }

    /// The last line: how long everything took.
    static func report(_ latency: LatencyBook) {
        if let line = latency.report.line { Console.complain(line) }
    }

    /// Gives the relay the newest trades of the runs before this one, as far as they are recorded where this one records.
    private func remember(_ relay: Relay) async {
        guard self.feed.source == .live, let path = self.settings.record.file else { return }
        let end = path.lastIndex(of: "/")
        let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        await relay.remember(EarlierRecordings(folder: folder).trades(now: WallClock.now()))
    }

    /// Closes the relay's door as soon as the end is near, and tells the service manager of the beginning and the end.
    private static func doorPart(_ relay: Relay?, manager: ServiceManager) -> ProgramPart {
        ProgramPart("door") {
            manager.tell("READY=1")
            try? await gracefulShutdown()
            manager.tell("STOPPING=1")
            await relay?.closeDoor()
        }
    }

    /// Has the keys of the screen carried out by the rest of the program.
    private func connectKeys(of shown: DisplayPart?, to feed: FinnhubFeed, relay: Relay?, alerts: AlertsPart) {
        guard let shown else { return }
        if let replay = self.replay {
            let display = shown.display
            replay.watch { _ in display.replayMoved() }
            // It may begin with a pause.
            display.replayMoved()
        }
        guard shown.isScreen else { return }
        let desk = Result { () throws(OperatorError) in
            let desk = try ServiceDesk(self.settings)
            return self.recordedSymbols.map { desk.searching(Set($0), of: self.material) } ?? desk
        }
        let remote = ScreenControls.make(
            feed: feed,
            source: self.feed.source,
            relay: relay,
            display: shown.display,
            symbols: self.feed.symbols,
            limit: self.settings.upstream.maxSymbols,
            watchlist: self.watchlist,
            recorded: self.allRecordedSymbols,
            material: self.material,
            alerts: alerts,
            replay: self.replay,
            desk: desk
        )
        shown.connect(remote)
    }

    private func makeRecorder(epoch: UInt64, warn: @escaping @Sendable (String) -> Void) throws -> Recorder? {
        guard let path = self.settings.record.file else { return nil }
        do {
            return try Recorder(
                path: path,
                symbols: self.feed.symbols,
                started: WallClock.now(),
                program: tickertapeVersion,
                epoch: epoch,
                source: self.feed.source.recordedName,
                address: "\(self.feed.upstream)",
                settings: RecorderSettings(self.settings.record),
                clock: RecorderClock(wall: WallClock.now),
                complain: warn
            )
        } catch {
            throw OperatorError("\(error)", status: .failure)
        }
    }

    private func recorderPart(_ recorder: Recorder) -> ProgramPart {
        ProgramPart("recorder") {
            try? await gracefulShutdown()
            let report = await recorder.finish()
            guard report.isWhole else {
                Console.complain(
                    "warning: the disk of \(recorder.path) does not answer; what it has not taken is missing there "
                        + "(`tickertape recording verify` tells where the file ends)"
                )
                return
            }
            let more = report.segments > 1 ? " and \(report.segments - 1) more" : ""
            Console.complain("recorded \(report.frames) frames, \(report.bytes) bytes, to \(recorder.path)\(more)")
            if report.dropped > 0 {
                Console.complain("warning: \(report.dropped) frames are missing there; the disk was full or too slow")
            }
            if report.doubted > 0 {
                Console.complain(
                    "warning: \(report.doubted) frames may be lost in a power cut; the disk failed to sync them"
                )
            }
        }
    }

    private func feedPart(
        _ feed: FinnhubFeed,
        relay: Relay?,
        shown: DisplayPart?,
        tally: TradeTally,
        alerts: AlertsPart
    ) -> ProgramPart {
        let standIn = self.standIn
        let waitsForClient = self.waitsForClient
        let isQuiet = shown?.isScreen == true
        return ProgramPart("feed") {
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
                await relay?.finish()
            } onGracefulShutdown: {
                // Nobody wants to wait for slow clients any more.
                Task { await relay?.stop() }
            }
            if shown?.isScreen == true { try await gracefulShutdown() }
        }
    }
}
