import Feeds
import Market
import Measurements
import NIOCore
import Relay
import Terminal
import UnixSignals

/// A complete ticker: one feed, and the relay, the display, the alerts and the recorder that read its tape.
struct TickerProgram {
    /// The largest number of clients for a relay on the feed's loop. Writing to so many takes about 4 ms, which may
    /// delay a read of the feed.
    private static let maximumClientsBesideFeed = 1_000

    let settings: Settings
    let feed: FeedPlan
    /// The file of the symbols that are added and removed at the screen.
    let watchlist: WatchlistFile?
    /// The material of a replay; `nil` for the market.
    let played: PlayedMaterial?
    /// The way from a demo to the live market; `nil` outside a demo with a screen.
    let liveStart: LiveStart?
    /// The settings as they were loaded; `nil` for a program that does not load them again.
    let reloadable: ReloadableSettings?

    init(
        settings: Settings,
        reloadable: ReloadableSettings? = nil,
        feed: FeedPlan,
        watchlist: WatchlistFile? = nil,
        replay played: PlayedMaterial? = nil,
        liveStart: LiveStart? = nil
    ) {
        var settings = settings.withoutNeedlessRelay
        settings.record.file = settings.record.file.map { RecordingName.inFolder($0, at: WallClock.now()) }
        self.settings = settings
        self.reloadable = reloadable
        self.feed = feed
        self.watchlist = watchlist
        self.played = played
        self.liveStart = liveStart
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
        try await self.run(on: TickerBase(self))
    }

    /// Runs with parts that exist already.
    ///
    /// - Parameters:
    ///   - held: the tape of feeds that have begun; `nil` if they have not.
    ///   - signals: those that came before this program's services handle signals; `nil` for none.
    func run(on base: TickerBase, held: HeldTape? = nil, endedBy signals: UnixSignalsSequence? = nil) async throws {
        let readers = try await TickerReaders(self, base)
        for warning in base.certificate?.warnings ?? [] { base.warnings.warn(warning) }
        readers.followRecording(base.instruments)
        try await self.connect(readers, to: base, held: held)
        self.played?.mockServer.watchStart(base.warnings.warn)
        readers.relay?.announce()
        defer {
            let isOver = self.liveStart?.taken == nil
            if isOver, !self.settings.display.isQuiet, !self.settings.display.isOnce {
                base.instruments.latency.printError()
                if let line = base.instruments.completeness.summary.line { Console.printError(line) }
            }
        }
        let symbols = self.screenSymbols(base, readers)
        let reload = ProgramReload(self, base, readers, screen: symbols)
        let watch = ReloadWatch(reload, self.reloadable)
        do {
            try await NamedService.run(
                (signals.map { [SignalServices.stop(at: $0)] } ?? []) + self.services(base, readers, symbols)
                    + (watch.map { [$0.part] } ?? []),
                hasScreen: readers.display?.isScreen == true,
                reload: reload
            )
        } catch let failure as UpstreamFailure where failure.disposition == .keyRejected {
            throw OperatorError(failure.description, status: .keyRejected)
        }
        // Before the loops end, since the mock server reports its position to them while it plays.
        if await self.played?.mockServer.stop() == false {
            Console.printError("warning: the disk of the recording does not answer; the replay was cut short")
        }
        await self.watchlist?.settle()
        await base.loops.end()
    }

    /// Adds the readers to the tape, and the feed to the subscriptions. The screen begins with earlier bars.
    private func connect(_ readers: TickerReaders, to base: TickerBase, held: HeldTape?) async throws {
        if let history = readers.history, let display = readers.display, display.isScreen {
            display.display.begin(with: await history.charts(of: self.feed.symbols, now: WallClock.now()))
        }
        let (tape, inOrder) = (base.tape, readers.inOrder(base))
        if let held {
            try await base.loop.submit { held.open(to: inOrder, of: tape.value) }.get()
            base.feed.resume()
        } else {
            try await base.loop.submit { tape.value.add(inOrder) }.get()
            base.feed.connect(to: base.subscriptions)
        }
        if let display = readers.display?.display, let replay = self.played?.remote {
            replay.watch { _ in display.replayMoved() }
            // The replay may start paused.
            display.replayMoved()
        }
    }

    /// Returns the services. They stop from the last to the first: the feed, then its readers, then the file.
    private func services(
        _ base: TickerBase,
        _ readers: TickerReaders,
        _ symbols: ScreenSymbols?
    ) -> [NamedService] {
        let server = readers.server
        let job = FeedJob(
            feed: base.feed,
            played: self.played,
            relay: readers.relay,
            display: readers.display,
            alerts: readers.alerts,
            tally: readers.tally
        )
        let rooms = self.rooms(base, readers)
        let services: [NamedService?] = [
            SignalServices.secondStop { server?.cut() }, base.manager.watch([base.loop, base.relayLoop]),
            base.cluster?.part, readers.history?.part, readers.recording?.part, readers.relay?.part,
            readers.display.map { display in
                display.part(self.controls(of: display, base, symbols, alerts: readers.alerts, rooms: rooms))
            },
            rooms?.part, self.liveStart?.part, readers.alerts.part, self.references(base, readers)?.part,
            self.played?.diskWatch(warn: base.warnings.warn)?.part, job.part,
            // The first to stop.
            base.manager.life { await server?.stopAccepting() },
        ]
        return services.compactMap { $0 }
    }

    /// Returns the prices from which the screen counts changes; `nil` without a screen or a live market.
    private func references(_ base: TickerBase, _ readers: TickerReaders) -> ChangeReferences? {
        guard let display = readers.display, display.isScreen, self.feed.source == .live else { return nil }
        return ChangeReferences(
            display: display.display,
            history: readers.history,
            lookup: base.lookup,
            hasKey: self.settings.token != nil,
            isFinnhub: { [feed] in feed.routes.feed(of: $0) == .finnhub }
        )
    }

    /// Returns the screen's client of the rooms at this program's relay; `nil` without a screen or a relay.
    private func rooms(_ base: TickerBase, _ readers: TickerReaders) -> ScreenRoomService? {
        guard readers.display?.isScreen == true, let relay = readers.relay else { return nil }
        var settings = RoomConnection.Settings { relay.address }
        settings.dial = self.settings.dial.toOwnRelay
        settings.token = self.settings.relayToken
        return ScreenRoomService(settings, loop: base.loop, logger: base.log.logger(.feed))
    }

    /// Returns the watchlist of the screen; `nil` without one.
    private func screenSymbols(_ base: TickerBase, _ readers: TickerReaders) -> ScreenSymbols? {
        guard let display = readers.display, display.isScreen else { return nil }
        return ScreenSymbols(
            symbols: self.settings.finnhub.symbols,
            source: base.subscriptions,
            choose: { [feed, subscriptions = base.subscriptions] symbol in
                let present = feed.routes.feed(of: symbol.name)
                guard symbol.feed ?? present == present || !subscriptions.holds(symbol.name) else {
                    return "\(symbol.name) is followed already, from the other feed"
                }
                return feed.refusal(of: symbol)
            },
            display: display.display,
            watchlist: self.watchlist,
            recorded: self.played?.allSymbols,
            material: self.played?.name ?? "the recording"
        )
    }

    /// Returns the actions that the screen's keys can start.
    private func controls(
        of display: DisplayService,
        _ base: TickerBase,
        _ symbols: ScreenSymbols?,
        alerts: AlertService,
        rooms: ScreenRoomService?
    ) -> DisplayRemote {
        var remote = DisplayRemote(without: "this version cannot do that")
        guard display.isScreen, let symbols else { return remote }
        remote.connect(to: symbols)
        remote.connect(to: base.feed, of: self.feed.source, clock: self.settings.screenClock)
        if let liveStart {
            if self.settings.cluster.role != .alone {
                remote.live = .cannot("this program belongs to a cluster: start it without --demo")
            } else if base.place?.settings.inheritedSocket == nil {
                remote.connect(to: liveStart, display: display.display)
            } else {
                remote.live = .cannot("the relay's socket was passed to this program: start it with --from venue")
            }
        }
        remote.connect(to: base.lookup.get())
        remote.connect(to: alerts)
        remote.rooms =
            rooms.map { .can($0) } ?? .cannot("rooms are the relay's, which is off: set relay.listen and relay.rooms")
        if let replay = self.played?.remote {
            remote.connect(to: replay)
        } else {
            remote.replay = .cannot("this is not a replay")
        }
        return remote
    }
}

extension LatencyBook {
    /// Prints the last lines of a program: its latencies, and what an audit of Finnhub's trades has found.
    func printError() {
        let report = self.report
        if let line = report.line { Console.printError(line) }
        guard let audit = report.audit else { return }
        for symbol in audit.symbols where symbol.trades > 0 {
            for (place, line) in symbol.lines.enumerated() {
                Console.printError("audit: \(place == 0 ? "" : "\(SymbolName.word(symbol.symbol)): ")\(line)")
            }
        }
        if audit.symbols.allSatisfy({ $0.trades == 0 }) {
            Console.printError("audit: nothing was compared\(audit.trouble.map { ": \($0)" } ?? "")")
        }
    }
}
