import Logging
import Market
import NIOCore
import TLS
import Wire

/// What a ``FinnhubFeed`` is between connections: the symbols, the gaps, the tape, and what is true at this moment.
///
/// Belongs to the feed's event loop.
final class FinnhubSupervisor {
    private let settings: FinnhubSettings
    private let writer: TapeWriter
    private let wallClock: @Sendable () -> Int64
    private let logger: Logger
    private let serviceError: @Sendable (String) -> Void
    private var symbols: [String]
    private var status: FeedStatus
    /// Where a gap begins and why, while the feed is broken.
    private var broken: (from: Int64, reason: String)?
    private var keeper: ConnectionKeeper?
    /// Another program that holds the key: what it says of its feed is truer than what arrives here.
    private var attachment: Attachment?
    private weak var handler: FinnhubHandler?
    /// The newest that was reported here, whatever another program said of it.
    private var told: (phase: FeedStatus.Phase, reason: String?) = (.connecting, nil)

    init(
        settings: FinnhubSettings,
        writer: TapeWriter,
        wallClock: @escaping @Sendable () -> Int64,
        logger: Logger,
        serviceError: @escaping @Sendable (String) -> Void
    ) {
        self.serviceError = serviceError
        self.settings = settings
        self.writer = writer
        self.wallClock = wallClock
        self.logger = logger
        self.symbols = settings.symbols
        self.status = FeedStatus(
            source: settings.source,
            phase: .connecting,
            since: wallClock(),
            certificateChecked: settings.certificateIsChecked
        )
    }

    /// Makes the keeper whose connections this supervises; answers with the future of its end.
    func supervise(
        with connector: any Connecting,
        on loop: any EventLoop,
        chance: @escaping @Sendable () -> Double
    ) -> EventLoopFuture<Void> {
        let keeper = ConnectionKeeper(
            connector: connector,
            ladder: self.settings.ladder,
            loop: loop,
            wallClock: self.wallClock,
            chance: chance,
            logger: self.logger
        )
        // The feed owns this, and this owns the keeper; the way back must not own anything.
        keeper.opened = { [weak self] channel in try self?.opened(channel) }
        let key = self.settings.key
        keeper.redact = { key.redacted($0) }
        keeper.report = { [weak self] phase, reason in self?.report(phase, reason: reason) }
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

    func start() { self.keeper?.start() }

    func stop() { self.keeper?.stop() }

    func setReading(_ isReading: Bool) { self.keeper?.setReading(isReading) }

    /// Takes a wish for a symbol; asks for it now and on every later connection.
    func wish(for symbol: String) {
        guard !self.symbols.contains(symbol), self.symbols.count < self.settings.session.symbolLimit else { return }
        self.symbols.append(symbol)
        self.handler?.wish(for: symbol)
    }

    /// Takes the end of a wish; the feed's own symbols stay.
    func unwish(_ symbol: String) {
        guard !self.settings.symbols.contains(symbol) else { return }
        self.symbols.removeAll { $0 == symbol }
        self.handler?.unwish(symbol)
    }

    private func opened(_ channel: any Channel) throws -> any KeptConnection {
        let now = Int64(NIODeadline.now().uptimeNanoseconds)
        let handler = FinnhubHandler(
            session: FinnhubSession(symbols: self.symbols, settings: self.settings.session, now: now),
            writer: self.writer,
            wallClock: self.wallClock,
            freshnessChanged: { [weak self] freshness, text in self?.freshnessChanged(freshness, lastError: text) },
            errorArrived: { [weak self] text, isNews in self?.errorArrived(text, isNews: isNews) },
            ended: { [weak self] ending, handler in self?.ended(ending, handler: handler) }
        )
        if let broken = self.broken {
            self.broken = nil
            self.publishGap(from: broken.from, reason: broken.reason)
        }
        self.report(.waiting, reason: nil)
        try channel.pipeline.syncOperations.addHandler(handler)
        self.handler = handler
        return handler
    }

    private func publishGap(from: Int64, reason: String) {
        let gap = Gap(from: from, to: self.wallClock(), reason: reason, nextSequence: self.writer.nextSequence)
        self.logger.warning(
            "The feed has a gap",
            metadata: ["reason": "\(gap.reason)", "ms": "\((gap.to - gap.from) / 1_000_000)"]
        )
        self.writer.publish(gap)
    }

    private func freshnessChanged(_ freshness: FinnhubSession.Freshness, lastError: String?) {
        let reason = lastError.map { "the service says: \($0)" }
        switch freshness {
        case .waiting: self.report(.waiting, reason: reason)
        case .live: self.report(.live, reason: reason)
        case .late: self.report(.late, reason: reason ?? "connected, but no trades arrive")
        }
    }

    private func errorArrived(_ text: String, isNews: Bool) {
        // A service that says the same a thousand times is told of once.
        if isNews {
            self.logger.warning("The service reports an error", metadata: ["text": "\(text)"])
            self.report(self.status.phase, reason: "the service says: \(text)")
        }
        self.serviceError(text)
    }

    private func ended(_ ending: FinnhubHandler.Ending, handler: FinnhubHandler) {
        if self.writer.malformedElements + self.writer.malformedFrames > 0 {
            self.logger.warning(
                "Some of what the service sent could not be read",
                metadata: [
                    "elements": "\(self.writer.malformedElements)", "frames": "\(self.writer.malformedFrames)",
                ]
            )
        }
        var failure = UpstreamFailure(ending)
        failure.description = self.settings.key.redacted(failure.description)
        if self.settings.source != .live, case .closed(let closure) = ending, closure.isEndOfRecording {
            failure = UpstreamFailure(StandIn.endOfRecording, disposition: .ended)
        } else if self.broken == nil {
            self.broken = (from: handler.lastReceived, reason: failure.description)
        }
        self.keeper?.connectionEnded(failure, tradedFor: handler.session.tradedFor)
    }

    private func attachmentChanged(_ attachment: Attachment?) {
        let before = self.status
        self.attachment = attachment
        self.status.via = attachment?.via
        self.status.certificateChecked =
            attachment?.status?.certificateChecked ?? self.settings.certificateIsChecked
        // Without one the keeper is about to say what it does next.
        guard attachment?.status != nil else { return }
        (self.status.phase, self.status.reason) = self.overruled
        guard self.status != before else { return }
        if self.status.word != before.word { self.status.since = self.wallClock() }
        self.writer.publish(self.status)
    }

    private func ownerGapFound(_ gap: Gap) {
        let own = Gap(from: gap.from, to: gap.to, reason: gap.reason, nextSequence: self.writer.nextSequence)
        self.writer.publish(own)
    }

    /// What is reported here, or what the program says through whose relay the trades come.
    private var overruled: (phase: FeedStatus.Phase, reason: String?) {
        guard let owner = self.attachment?.status, owner.phase.overrules else { return self.told }
        return (owner.phase, owner.reason)
    }

    private func report(_ phase: FeedStatus.Phase, reason: String?) {
        self.told = (phase, reason)
        let (phase, reason) = self.overruled
        if self.status.word != phase.word { self.status.since = self.wallClock() }
        self.status.phase = phase
        self.status.reason = reason
        self.writer.publish(self.status)
    }
}

extension FinnhubSettings {
    /// Whether the upstream's certificate is checked; a connection without TLS has none to check and is loopback only.
    package var certificateIsChecked: Bool {
        guard self.upstream.isEncrypted, case .disabled = self.tls.verification else { return true }
        return false
    }
}
