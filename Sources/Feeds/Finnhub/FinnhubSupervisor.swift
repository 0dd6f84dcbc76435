package import Logging
import Market
package import NIOCore
import TLS
import Wire

/// What a ``FinnhubFeed`` is between connections: the symbols, the gaps, the tape, and what is true at this moment.
///
/// Belongs to the feed's event loop. What it decides stands in machines: ``SymbolWatch``, ``GapWatch``, ``SleepWatch`` and
/// ``LossReport``.
package final class FinnhubSupervisor {
    let settings: FinnhubSettings
    let writer: TapeWriter
    private let loop: any EventLoop
    private let wallClock: @Sendable () -> Int64
    let logger: Logger
    var status: FeedStatus
    var watch: SymbolWatch
    /// What is asked for whether anybody wishes for it or not.
    private var ownSymbols: Set<String>
    var condition = SymbolWatch.Condition.waiting
    /// When the feed as a whole was silent for the last time; wall clock, ns since 1970.
    var lastSilent: Int64 = .min
    var gaps = GapWatch()
    var sleep = SleepWatch()
    var losses = LossReport()
    private var errorAllowance = LogAllowance()
    var keeper: ConnectionKeeper?
    /// Another program that holds the key: what it says of its feed is truer than what arrives here.
    private var attachment: Attachment?
    weak var handler: FinnhubHandler?
    /// Since when a replay is paused, in which silence says nothing; monotonic ns.
    var pausedSince: Int64?
    /// The newest that was reported here, whatever another program said of it.
    var told: (phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause?) = (.connecting, nil, nil)

    package init(
        settings: FinnhubSettings,
        writer: TapeWriter,
        loop: any EventLoop,
        wallClock: @escaping @Sendable () -> Int64,
        logger: Logger
    ) {
        self.settings = settings
        self.ownSymbols = Set(settings.symbols)
        self.writer = writer
        self.loop = loop
        self.wallClock = wallClock
        self.logger = logger
        let now = Moment(monotonic: Int64(loop.now.uptimeNanoseconds), wall: wallClock())
        var watchSettings = settings.watch
        // Whatever a recording is silent about, asking for it again brings no more of it.
        if settings.source != .live { watchSettings.takesSteps = false }
        self.watch = SymbolWatch(symbols: settings.symbols, settings: watchSettings, now: now)
        self.status = FeedStatus(
            source: settings.source,
            phase: .connecting,
            since: now.wall,
            certificateChecked: settings.certificateIsChecked
        )
    }

    /// Makes the keeper whose connections this supervises; returns the future of its end.
    package func supervise(
        with connector: any Connecting,
        chance: @escaping @Sendable () -> Double
    ) -> EventLoopFuture<Void> {
        let keeper = ConnectionKeeper(
            connector: connector,
            ladder: self.settings.ladder,
            loop: self.loop,
            wallClock: self.wallClock,
            chance: chance,
            logger: self.logger
        )
        // The feed owns this, and this owns the keeper; the way back must not own anything.
        keeper.opened = { [weak self] channel in try self?.opened(channel) }
        let key = self.settings.key
        keeper.redact = { key.redacted($0) }
        keeper.report = { [weak self] phase, reason, cause in
            self?.keeperReports(phase, reason: reason, cause: cause)
        }
        keeper.holding = self.settings.holding
        let settings = self.settings
        keeper.relayConnector = { [wallClock] relay, path in
            try UpstreamConnector(settings.connector(to: relay, path: path), wallClock: wallClock)
        }
        keeper.attachmentChanged = { [weak self] in self?.attachmentChanged($0) }
        keeper.gapFound = { [weak self] in self?.ownerGapFound($0) }
        self.keeper = keeper
        return keeper.finished.futureResult
    }

    package func start() {
        self.publishChanges()
        self.keeper?.start()
    }

    package func stop() { self.keeper?.stop() }

    func setReading(_ isReading: Bool) { self.keeper?.setReading(isReading) }

    /// Takes a wish for a symbol; asks for it now and on every later connection.
    func wish(for symbol: String) {
        self.watch.wished(for: symbol, now: self.now)
        self.wishesChanged()
    }

    /// Takes the end of a wish; the feed's own symbols stay.
    func unwish(_ symbol: String) {
        guard !self.ownSymbols.contains(symbol) else { return }
        self.watch.unwished(symbol, now: self.now)
        self.wishesChanged()
    }

    /// Notes that a symbol is the feed's own no more: it stays for as long as it is wished for.
    func disown(_ symbol: String) { self.ownSymbols.remove(symbol) }

    /// Makes a new connection now, as far as that may be.
    func renew() -> ConnectionRenewal { self.keeper?.renew() ?? .over }

    private func wishesChanged() {
        self.publishChanges()
        guard let handler else { return }
        self.look(handler, self.now)
        handler.requestsWait()
    }

    var now: Moment {
        Moment(monotonic: Int64(self.loop.now.uptimeNanoseconds), wall: self.wallClock())
    }

    // MARK: Connections

    private func opened(_ channel: any Channel) throws -> any KeptConnection {
        let now = self.now
        let handler = FinnhubHandler(
            session: FinnhubSession(settings: self.settings.session, now: now.monotonic),
            writer: self.writer,
            wallClock: self.wallClock,
            owner: self
        )
        let address = self.attachment?.via ?? self.settings.key.redacted("\(self.settings.upstream)")
        self.writer.publish(.connected(address: address), monotonic: now.monotonic)
        self.watch.connectionOpened(now)
        self.writer.connectionOpened(isRelayed: self.attachment != nil)
        self.gaps.asked(now)
        self.sleep = SleepWatch()
        _ = self.sleep.looked(now)
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

    func interrupted(from: Int64, reason: String, cause: FeedStatus.Cause) {
        self.gaps.interrupted(from: from, reason: reason, cause: cause)
        self.writer.interrupted()
    }

    /// Publishes a gap behind which trades were compared with those before it.
    func publishWithOverlap(_ gap: Gap) {
        var gap = gap
        if let overlap = self.writer.takeOverlap() { (gap.overlap, gap.overlapBounds) = overlap }
        self.publish(gap)
    }

    func publish(_ gap: Gap) {
        self.logger.warning(
            "The feed has a gap",
            metadata: [
                "reason": "\(gap.reason)", "ms": "\(gap.length / 1_000_000)",
                "possible repeats": "\(gap.overlapBounds.map { "\($0.most)" } ?? "unknown")",
            ]
        )
        self.writer.publish(gap)
    }

    func publishChanges() {
        for change in self.watch.takeChanges() {
            self.writer.publish(change)
        }
    }

    /// Logs what the service says, as often as is of use.
    func logError(_ text: String, now: Moment) {
        guard let leftOut = self.errorAllowance.wanted(now: now.monotonic) else { return }
        var facts: Logger.Metadata = ["text": "\(text)"]
        if leftOut > 0 { facts["leftOut"] = "\(leftOut)" }
        self.logger.warning("The service reports an error", metadata: facts)
    }

    func report(_ news: LossReport.Counts?) {
        guard let news else { return }
        if news.malformedElements + news.malformedFrames > 0 {
            self.logger.warning(
                "Some of what the service sent could not be read",
                metadata: ["elements": "\(news.malformedElements)", "frames": "\(news.malformedFrames)"]
            )
        }
        if news.unnumberedTrades > 0 {
            self.logger.warning(
                "Trades of too many symbols were left out",
                metadata: ["trades": "\(news.unnumberedTrades)", "symbols": "\(SymbolTable.capacity)"]
            )
        }
        if news.leftOutFrames > 0 {
            self.logger.notice(
                "The service sent frames again; upstream.drop-repeats leaves them out",
                metadata: ["frames": "\(news.leftOutFrames)"]
            )
        }
    }

    /// Says that equal frames are no chance any more.
    func reportRepetition() {
        guard self.settings.repeats == .marked else { return }
        self.logger.warning(
            "The service sends its frames several times, and volumes count them each time: upstream.drop-repeats leaves them out"
        )
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

    private func keeperReports(_ phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause?) {
        if case .connecting = phase { self.gaps.attempted() }
        self.report(phase, reason: reason, cause: cause)
    }

    private func attachmentChanged(_ attachment: Attachment?) {
        let before = self.status
        self.attachment = attachment
        // Who holds the key sees to silent symbols; two programs that both did would do it twice.
        self.watch.takesSteps = attachment == nil && self.settings.source == .live
        self.status.via = attachment?.via
        self.status.certificateChecked =
            attachment?.status?.certificateChecked ?? self.settings.certificateIsChecked
        // Without one the keeper is about to say what it does next.
        guard attachment?.status != nil else { return }
        (self.status.phase, self.status.reason, self.status.cause) = self.overruled
        guard self.status != before else { return }
        if self.status.word != before.word { self.status.since = self.wallClock() }
        self.writer.publish(self.status)
    }

    private func ownerGapFound(_ gap: Gap) {
        let own = Gap(
            from: gap.from,
            to: gap.to,
            reason: gap.reason,
            nextSequence: self.writer.nextSequence,
            epoch: self.writer.epoch,
            cause: gap.cause,
            symbol: gap.symbol
        )
        self.writer.publish(own)
    }

    /// What is reported here, or what the program says through whose relay the trades come.
    private var overruled: (phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause?) {
        guard let owner = self.attachment?.status, owner.phase.overrules else { return self.told }
        return (owner.phase, owner.reason, owner.cause)
    }

    func report(_ phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause? = nil) {
        self.told = (phase, reason, cause)
        let (phase, reason, cause) = self.overruled
        if self.status.word != phase.word { self.status.since = self.wallClock() }
        self.status.phase = phase
        self.status.reason = reason
        self.status.cause = cause
        self.writer.publish(self.status)
    }
}

extension FinnhubSettings {
    /// Whether the upstream's certificate is checked; a connection without TLS has none to check and is loopback only.
    package var certificateIsChecked: Bool {
        guard self.upstream.isEncrypted, case .disabled = self.dial.tls.verification else { return true }
        return false
    }
}
