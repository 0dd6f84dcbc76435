package import Ingest
package import Logging
package import Market
package import NIOCore
import TLS
import Wire

/// Finnhub's trades: one connection, opened again and again; the symbols, the gaps, and what is true at this moment.
///
/// Belongs to the tape's event loop. What it decides about symbols stands in ``SymbolWatch``; what is missing is
/// known to its ``FeedInput``.
package final class FinnhubSupervisor: Feed {
    let settings: FinnhubSettings
    let input: FeedInput
    private let loop: any EventLoop
    private let wallClock: @Sendable () -> Int64
    let logger: Logger
    var watch: SymbolWatch
    var condition = SymbolWatch.Condition.waiting
    /// When the feed as a whole was silent for the last time; wall clock, ns since 1970.
    var lastSilent: Int64 = .min
    private var errorAllowance = LogAllowance()
    let keeper: ConnectionKeeper
    private let relays: ConnectionKeeper.RelayConnector?
    /// Another program that holds the key: what it says of its feed is truer than what arrives here.
    private var owner: OwnerStatus?
    weak var handler: FinnhubHandler?
    /// Since when a replay is paused, in which silence says nothing; monotonic ns.
    var pausedSince: Int64?
    /// The newest that was reported here, whatever another program said of it.
    var told: (phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause?) = (.connecting, nil, nil)

    /// Makes a feed that has not begun.
    ///
    /// - Parameters:
    ///   - tape: where the trades go; the feed belongs to its loop.
    ///   - wallClock: ns since 1970.
    ///   - chance: drawn evenly from 0 to 1, for the jitter.
    /// - Throws: ``TLSError`` when the trust roots cannot be used.
    package static func make(
        _ settings: FinnhubSettings,
        into tape: NIOLoopBound<TapeWriter>,
        loop: any EventLoop,
        logger: Logger,
        wallClock: @escaping @Sendable () -> Int64,
        chance: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
    ) async throws -> FeedService {
        let connector = try UpstreamConnector(settings.connector, wallClock: wallClock)
        return try await loop.submit {
            let feed = FinnhubSupervisor(
                settings: settings,
                tape: tape.value,
                connector: connector,
                relays: { relay, path in
                    try UpstreamConnector(settings.connector(to: relay, path: path), wallClock: wallClock)
                },
                loop: loop,
                wallClock: wallClock,
                chance: chance,
                logger: logger
            )
            return FeedService(feed, on: loop)
        }.get()
    }

    /// - Parameters:
    ///   - connector: the way to the service.
    ///   - relays: makes the way to the relay of another program that holds the key.
    package init(
        settings: FinnhubSettings,
        tape: TapeWriter,
        connector: any Connecting,
        relays: ConnectionKeeper.RelayConnector? = nil,
        loop: any EventLoop,
        wallClock: @escaping @Sendable () -> Int64,
        chance: @escaping @Sendable () -> Double,
        logger: Logger
    ) {
        self.settings = settings
        self.loop = loop
        self.wallClock = wallClock
        self.logger = logger
        let now = Moment(monotonic: Int64(loop.now.uptimeNanoseconds), wall: wallClock())
        var watchSettings = settings.watch
        // Whatever a recording is silent about, asking for it again brings no more of it.
        if settings.source != .live { watchSettings.takesSteps = false }
        self.watch = SymbolWatch(symbols: settings.symbols, settings: watchSettings, now: now)
        self.input = FeedInput(
            tape,
            FeedInput.Settings(
                name: "Finnhub",
                repeats: settings.repeats,
                isLive: settings.source == .live,
                marks: settings.marks
            ),
            status: FeedStatus(
                source: settings.source,
                phase: .connecting,
                since: now.wall,
                certificateChecked: settings.certificateIsChecked
            ),
            logger: logger
        )
        var keeping = ConnectionKeeper.Settings(connector: connector, ladder: settings.ladder)
        keeping.secret = settings.key
        keeping.holding = settings.holding
        keeping.relays = relays
        self.relays = relays
        self.keeper = ConnectionKeeper(
            keeping,
            loop: loop,
            wallClock: wallClock,
            chance: chance,
            logger: logger
        )
        self.keeper.delegate = self
        self.input.symbols = self.watch.symbols
        self.input.delegate = self
    }

    package var status: FeedStatus { self.input.status }

    package var finished: EventLoopFuture<Void> { self.keeper.finished.futureResult }

    package func start() {
        if let marks = self.settings.marks { self.follow(marks) }
        self.publishChanges()
        self.keeper.start()
    }

    package func stop() { self.keeper.stop() }

    /// Looks for the marks of a replay also when no frame comes.
    private func follow(_ marks: FrameMarks) {
        let loopBound = NIOLoopBound(self, eventLoop: self.loop)
        marks.follow { [loop] in
            loop.execute { loopBound.value.input.obeyMarks(now: loopBound.value.now) }
        }
        self.finished.assumeIsolated().whenComplete { _ in marks.follow(nil) }
    }

    package func setReading(_ isReading: Bool) { self.keeper.setReading(isReading) }

    /// Makes a new connection now, as far as that may be.
    package func renew() -> ConnectionRenewal { self.keeper.renew() }

    /// Asks for symbols, now and on every later connection, and gives others up.
    package func subscriptionsChanged(_ changes: [SubscriptionChange]) {
        let now = self.now
        for change in changes {
            switch change {
            case .subscribe(let symbol): self.watch.wished(for: symbol, now: now)
            case .unsubscribe(let symbol): self.watch.unwished(symbol, now: now)
            }
        }
        self.input.symbols = self.watch.symbols
        self.publishChanges()
        guard let handler else { return }
        self.look(handler, now)
        handler.requestsWait()
    }

    var now: Moment {
        Moment(monotonic: Int64(self.loop.now.uptimeNanoseconds), wall: self.wallClock())
    }

    // MARK: Connections

    package func publishChanges() {
        for change in self.watch.takeChanges() {
            switch change {
            case .state(let status): self.input.symbolChanged(status)
            case .unwished(let symbol): self.input.symbolUnwished(symbol)
            }
        }
    }

    /// Logs what the service says, as often as is of use.
    func logError(_ text: String, now: Moment) {
        guard let leftOut = self.errorAllowance.wanted(now: now.monotonic) else { return }
        var facts: Logger.Metadata = ["text": "\(text)"]
        if leftOut > 0 { facts["leftOut"] = "\(leftOut)" }
        self.logger.warning("The service reports an error", metadata: facts)
    }

    // MARK: What is true

    /// Looks whether the condition has changed, and reports it.
    func look(_ handler: FinnhubHandler, _ now: Moment) {
        let condition = self.watch.condition(now: now.monotonic)
        guard condition != self.condition else { return }
        if self.pausedSince != nil, condition == .late || condition == .stale { return }
        if self.condition != .live { self.lastSilent = now.wall }
        self.condition = condition
        self.report(condition, lastError: handler.session.error(isLive: condition == .live, now: now.monotonic))
    }

    /// What the service said may be why, and may not.
    private static func silence(_ words: String, _ says: String?) -> String { says.map { "\(words); \($0)" } ?? words }

    func report(_ condition: SymbolWatch.Condition, lastError: String?) {
        let says = lastError.map { "the service says: \($0)" }
        switch condition {
        case .waiting: self.report(.waiting, reason: says)
        case .live: self.report(.live, reason: says)
        case .late: self.report(.late, reason: Self.silence("connected, but no trades arrive", says))
        case .stale:
            let words = "connected, but every symbol is silent for longer than usual"
            self.report(.stale, reason: Self.silence(words, says))
        case .noSuchSymbol:
            self.report(
                .noSuchSymbol,
                reason: "the service knows none of the symbols: check their spelling, such as BINANCE:BTCUSDT "
                    + "(`tickertape config` lists them)"
            )
        case .notPermitted:
            self.report(
                .notPermitted,
                reason: "the key's plan covers none of the symbols: ask for others (`tickertape config` lists them)"
            )
        }
    }

    /// What is reported here, or what the program says through whose relay the trades come.
    private var overruled: (phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause?) {
        guard let owner = self.owner?.status, owner.phase.overrules else { return self.told }
        return (owner.phase, owner.reason, owner.cause)
    }

    func report(_ phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause? = nil) {
        self.told = (phase, reason, cause)
        let (phase, reason, cause) = self.overruled
        if self.input.status.word != phase.word { self.input.status.since = self.wallClock() }
        self.input.status.phase = phase
        self.input.status.reason = reason
        self.input.status.cause = cause
        self.input.statusChanged()
    }
}

extension FinnhubSupervisor: ConnectionKeeperDelegate {
    package func connectionOpened(_ channel: any Channel, isRelay: Bool) throws -> any KeptConnection {
        let now = self.now
        let handler = FinnhubHandler(
            session: FinnhubSession(settings: self.settings.session, now: now.monotonic),
            input: self.input,
            key: self.settings.key,
            wallClock: self.wallClock,
            owner: self
        )
        let address = self.owner?.attachment.via ?? self.settings.key.redacted("\(self.settings.upstream)")
        self.input.connectionChanged(.connected(address: address), monotonic: now.monotonic)
        self.watch.connectionOpened(now)
        self.input.connectionOpened(
            isRelayed: isRelay || self.owner != nil,
            port: channel.localAddress?.port,
            now: now
        )
        self.condition = self.watch.condition(now: now.monotonic)
        self.report(self.condition, lastError: nil)
        self.handler = handler
        do {
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            self.handler = nil
            self.watch.connectionEnded(now)
            throw error
        }
        return handler
    }

    package func connectionReported(_ phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause?) {
        if case .connecting = phase { self.input.connectionAttempted() }
        self.report(phase, reason: reason, cause: cause)
    }

    package func attachmentChanged(_ attachment: Attachment?) {
        self.owner?.stop()
        self.owner = attachment.flatMap { attachment in
            self.relays.flatMap { relays in
                OwnerStatus(
                    attachment,
                    relays: relays,
                    loop: self.loop,
                    wallClock: self.wallClock,
                    logger: self.logger
                )
            }
        }
        // Who holds the key sees to silent symbols; two programs that both did would do it twice.
        self.watch.takesSteps = attachment == nil && self.settings.source == .live
        self.input.status.via = attachment?.via
        self.input.status.certificateChecked = self.settings.certificateIsChecked
        self.owner?.delegate = self
        self.owner?.start()
    }
}

extension FinnhubSupervisor: OwnerStatusDelegate {
    func ownerStatusChanged(_ status: FeedStatus?) {
        let before = self.input.status
        self.input.status.certificateChecked = status?.certificateChecked ?? self.settings.certificateIsChecked
        // Without one the keeper is about to say what it does next.
        guard status != nil else { return }
        (self.input.status.phase, self.input.status.reason, self.input.status.cause) = self.overruled
        guard self.input.status != before else { return }
        if self.input.status.word != before.word { self.input.status.since = self.wallClock() }
        self.input.statusChanged()
    }

    func ownerGapFound(_ gap: Gap) {
        guard self.handler != nil else { return }
        let own = Gap(
            from: gap.from,
            to: gap.to,
            reason: gap.reason,
            nextSequence: 0,
            cause: gap.cause,
            symbol: gap.symbol
        )
        self.input.gapFound(own, isLogged: false)
    }
}

extension FinnhubSettings {
    /// Whether the upstream's certificate is checked; a connection without TLS has none to check and is loopback only.
    package var certificateIsChecked: Bool {
        guard self.upstream.isEncrypted, case .disabled = self.dial.tls.verification else { return true }
        return false
    }
}
