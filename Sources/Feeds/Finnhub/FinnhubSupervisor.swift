import Logging
import Market
import NIOCore
import TLS
import Wire

/// What a ``FinnhubFeed`` is between connections: the symbols, the gaps, the tape, and what is true at this moment.
///
/// Belongs to the feed's event loop. What it decides stands in machines: ``SymbolWatch``, ``GapWatch``, ``SleepWatch`` and
/// ``LossReport``.
final class FinnhubSupervisor {
    private let settings: FinnhubSettings
    private let writer: TapeWriter
    private let loop: any EventLoop
    private let wallClock: @Sendable () -> Int64
    private let logger: Logger
    private var status: FeedStatus
    private var watch: SymbolWatch
    private var condition = SymbolWatch.Condition.waiting
    private var gaps = GapWatch()
    private var sleep = SleepWatch()
    private var losses = LossReport()
    private var keeper: ConnectionKeeper?
    private weak var handler: FinnhubHandler?

    init(
        settings: FinnhubSettings,
        writer: TapeWriter,
        loop: any EventLoop,
        wallClock: @escaping @Sendable () -> Int64,
        logger: Logger
    ) {
        self.settings = settings
        self.writer = writer
        self.loop = loop
        self.wallClock = wallClock
        self.logger = logger
        let now = FeedMoment(monotonic: Int64(loop.now.uptimeNanoseconds), wall: wallClock())
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

    /// Makes the keeper whose connections this supervises; answers with the future of its end.
    func supervise(
        with connector: UpstreamConnector,
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
        keeper.report = { [weak self] phase, reason in self?.keeperReports(phase, reason: reason) }
        self.keeper = keeper
        return keeper.finished.futureResult
    }

    func start() {
        self.publishChanges()
        self.keeper?.start()
    }

    func stop() { self.keeper?.stop() }

    func setReading(_ isReading: Bool) { self.keeper?.setReading(isReading) }

    /// Takes a wish for a symbol; asks for it now and on every later connection.
    func wish(for symbol: String) {
        self.watch.wished(for: symbol, now: self.now)
        self.wishesChanged()
    }

    /// Takes the end of a wish; the feed's own symbols stay.
    func unwish(_ symbol: String) {
        guard !self.settings.symbols.contains(symbol) else { return }
        self.watch.unwished(symbol, now: self.now)
        self.wishesChanged()
    }

    private func wishesChanged() {
        self.publishChanges()
        guard let handler else { return }
        self.look(handler, self.now)
        handler.requestsWait()
    }

    private var now: FeedMoment {
        FeedMoment(monotonic: Int64(self.loop.now.uptimeNanoseconds), wall: self.wallClock())
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
        self.watch.connectionOpened(now)
        self.writer.connectionOpened()
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

    private func interrupted(from: Int64, reason: String) {
        self.gaps.interrupted(from: from, reason: reason)
        self.writer.interrupted()
    }

    private func publish(_ gap: Gap) {
        self.logger.warning(
            "The feed has a gap",
            metadata: [
                "reason": "\(gap.reason)", "ms": "\((gap.to - gap.from) / 1_000_000)",
                "repeats": "\(gap.overlap.map { "\($0)" } ?? "unknown")",
            ]
        )
        self.writer.publish(gap)
    }

    private func publishChanges() {
        for change in self.watch.takeChanges() {
            if case .state(let status) = change, case .refused = status.state {
                self.logger.warning(
                    "A symbol is refused",
                    metadata: ["symbol": "\(status.symbol)", "reason": "\(status.reason ?? "")"]
                )
            }
            self.writer.publish(change)
        }
    }

    private func report(_ news: LossReport.Counts?) {
        guard let news else { return }
        if news.malformedElements + news.malformedFrames > 0 {
            self.logger.warning(
                "Some of what the service sent could not be read",
                metadata: ["elements": "\(news.malformedElements)", "frames": "\(news.malformedFrames)"]
            )
        }
        if news.repeatedFrames > 0 {
            self.logger.notice(
                "The service sent frames twice; the tape has them once",
                metadata: ["frames": "\(news.repeatedFrames)"]
            )
        }
    }

    // MARK: What is true

    /// Looks whether the condition has changed, and reports it.
    private func look(_ handler: FinnhubHandler, _ now: FeedMoment) {
        let condition = self.watch.condition(now: now.monotonic)
        guard condition != self.condition else { return }
        self.condition = condition
        self.report(condition, lastError: handler.session.lastError)
    }

    private func report(_ condition: SymbolWatch.Condition, lastError: String?) {
        let says = lastError.map { "the service says: \($0)" }
        switch condition {
        case .waiting: self.report(.waiting, reason: says)
        case .live: self.report(.live, reason: says)
        case .late: self.report(.late, reason: says ?? "connected, but no trades arrive")
        case .stale: self.report(.stale, reason: says ?? "connected, but every symbol is silent for longer than usual")
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

    private func keeperReports(_ phase: FeedStatus.Phase, reason: String?) {
        if case .connecting = phase { self.gaps.attempted() }
        self.report(phase, reason: reason)
    }

    private func report(_ phase: FeedStatus.Phase, reason: String?) {
        if self.status.word != phase.word { self.status.since = self.wallClock() }
        self.status.phase = phase
        self.status.reason = reason
        self.writer.publish(self.status)
    }
}

extension FinnhubSupervisor: FinnhubHandlerOwner {
    var isLive: Bool { self.condition == .live }

    func takeRequests(_ now: FeedMoment) -> [FinnhubRequest] { self.watch.takeRequests(now) }

    func errorArrived(_ text: String, isNews: Bool, handler: FinnhubHandler, now: FeedMoment) {
        self.watch.errorArrived(text, now: now)
        // A service that says the same a thousand times is told of once.
        if isNews { self.logger.warning("The service reports an error", metadata: ["text": "\(text)"]) }
        self.publishChanges()
        let before = self.condition
        self.look(handler, now)
        if isNews, self.condition == before { self.report(self.status.phase, reason: "the service says: \(text)") }
    }

    func errorForgotten(_ handler: FinnhubHandler, now: FeedMoment) {
        self.report(self.condition, lastError: nil)
    }

    func readEnded(_ handler: FinnhubHandler, previousFrame: Int64, now: FeedMoment) -> Bool {
        self.lookForSleep(since: previousFrame, now)
        self.writer.leaveOutOverlap(now: now.monotonic)
        if self.writer.losses != self.losses.told {
            self.report(self.losses.take(self.writer.losses, now: now.monotonic))
        }
        guard self.writer.pendingTrades > 0 else { return self.writer.losses != self.losses.told }
        let hasChanges = self.watch.traded(self.writer.pending, symbols: self.writer.names, now: now)
        guard hasChanges || self.condition != .live || self.gaps.isOpen else { return false }
        self.look(handler, now)
        let gap = self.gaps.traded(
            received: now.wall,
            nextSequence: self.writer.nextSequence,
            epoch: self.writer.epoch,
            overlap: self.writer.overlapCount
        )
        if let gap { self.publish(gap) }
        self.publishChanges()
        return true
    }

    /// A machine that slept has heard nothing meanwhile, though its connection may stand.
    private func lookForSleep(since previousFrame: Int64, _ now: FeedMoment) {
        guard let slept = self.sleep.looked(now), self.settings.source == .live else { return }
        self.interrupted(
            from: previousFrame,
            reason: "this machine slept, or its clock was set, \(slept / 1_000_000_000) s ahead"
        )
        self.gaps.asked(now)
    }

    func deadline(now: Int64) -> Int64? {
        let patience = self.settings.watch.lateAfter
        return [
            self.watch.deadline(now: now), self.gaps.deadline(patience: patience),
            self.losses.deadline(self.writer.losses),
        ].compactMap(\.self).min()
    }

    func deadlineReached(_ handler: FinnhubHandler, now: FeedMoment) -> SymbolSilence? {
        self.lookForSleep(since: handler.lastReceived, now)
        self.report(self.losses.take(self.writer.losses, now: now.monotonic))
        let action = self.watch.deadlineReached(now)
        let gap = self.gaps.deadlineReached(
            now: now.monotonic,
            patience: self.settings.watch.lateAfter,
            nextSequence: self.writer.nextSequence,
            epoch: self.writer.epoch
        )
        if let gap { self.publish(gap) }
        self.publishChanges()
        self.look(handler, now)
        switch action {
        case .none: return nil
        case .reconnect(let silence): return silence
        }
    }

    func ended(_ ending: FinnhubHandler.Ending, handler: FinnhubHandler) {
        self.report(self.losses.takeAll(self.writer.losses, now: self.now.monotonic))
        var failure = UpstreamFailure(ending)
        failure.description = self.settings.key.redacted(failure.description)
        if self.settings.source != .live, case .closed(let closure) = ending, closure.isEndOfRecording {
            failure = UpstreamFailure(StandIn.endOfRecording, disposition: .ended)
        } else if case .stale(let silence) = ending {
            // Others may have traded until now; what is missing began with the silence, and a gap tells of the worst.
            self.interrupted(from: min(silence.from, handler.lastReceived), reason: failure.description)
        } else {
            self.interrupted(from: handler.lastReceived, reason: failure.description)
        }
        self.watch.connectionEnded(self.now)
        self.publishChanges()
        self.handler = nil
        self.keeper?.connectionEnded(failure, tradedFor: handler.session.tradedFor)
    }
}

extension FinnhubSettings {
    /// Whether the upstream's certificate is checked; a connection without TLS has none to check and is loopback only.
    package var certificateIsChecked: Bool {
        guard self.upstream.isEncrypted, case .disabled = self.tls.verification else { return true }
        return false
    }
}
