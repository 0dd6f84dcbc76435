import Ingest
import Logging
package import Market
import NIOCore
import Platform
package import Wire

/// A client of a service's protocol across all its connections: its subscriptions, its trades and its status.
///
/// Belongs to the tape's event loop. ``SymbolMonitor`` makes the decisions about symbols; ``FeedInput`` keeps track of
/// missing trades. A subclass knows the service's protocol and its words.
package class FeedClient {
    let settings: ClientSettings
    let context: FeedContext
    let input: FeedInput
    var watch: SymbolMonitor
    var condition = SymbolMonitor.Condition.waiting
    /// When the feed as a whole was last silent; wall clock, ns since 1970.
    var lastSilent: Int64 = .min
    private var errorAllowance = LogAllowance()
    /// How long the end of a replay's connection waits for other connections on which nothing comes.
    private static let longestWait = TimeAmount.seconds(30)
    weak var handler: FeedHandler?
    /// The connection to which the handler belongs.
    weak var link: ReconnectingConnection?
    /// The open connection beside the first one, and the owner of the decisions about it.
    var second: SecondConnection?
    weak var rotation: (any SecondConnectionOwner)?
    /// The handler whose frames are brought to the tape apart from the first connection's reads.
    weak var bringing: FeedHandler?
    /// A handler whose connection of a replay has ended, until what has arrived on it is on the tape.
    var kept: FeedHandler?
    /// When the replay was paused; monotonic ns. Silence proves nothing during a pause.
    var pausedSince: Int64?
    /// The newest status of this client's own connection, whatever the owner of the key reports.
    var reported: (phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause?) = (.connecting, nil, nil)
    /// A remark for people that belongs to every status of an open connection.
    var note: String?
    /// The status of another program that overrules this client's own.
    var overruling: FeedStatus? { nil }

    /// Creates the client and its input on a tape.
    ///
    /// - Parameters:
    ///   - name: the name of the service for people.
    ///   - repeats: the handling of possible repeats.
    init(
        _ settings: ClientSettings,
        name: String,
        repeats: RepeatHandling,
        _ tape: TapeWriter,
        _ context: FeedContext
    ) {
        self.settings = settings
        self.context = context
        self.note = settings.note
        let now = Moment(monotonic: Int64(context.loop.now.uptimeNanoseconds), wall: context.wallClock())
        self.watch = SymbolMonitor(
            symbols: settings.symbols,
            limit: settings.subscriptions.limit,
            limitOwner: settings.subscriptions.limitOwner,
            settings: settings.watch,
            now: now
        )
        self.watch.takesSteps = settings.takesSteps
        self.input = FeedInput(
            tape,
            FeedInput.Settings(
                name: name,
                repeats: repeats,
                isLive: settings.isLive,
                marks: settings.marks
            ),
            status: FeedStatus(
                source: settings.source,
                phase: .connecting,
                since: now.wall,
                certificateChecked: settings.certificateIsChecked
            ),
            logger: context.logger
        )
        self.input.symbols = self.watch.symbols
        self.input.delegate = self
    }

    package var status: FeedStatus { self.input.status }

    // MARK: Decisions of a subclass

    /// Makes the service's protocol for a connection that has just opened.
    func makeDialect() -> any ConnectionDialect { preconditionFailure("a client without a protocol") }

    /// Takes what a frame says besides trades.
    func take(_ event: FeedEvent, on handler: FeedHandler, now: Moment) {
        switch event {
        case .error(let text, let refusal):
            self.errorArrived(text, refusal, on: handler, now: now)
            handler.deadlineMoved()
        case .heartbeats(let areExpected):
            // The deadlines are looked for only after a change, since some services send a heartbeat for each symbol.
            if handler.monitor.heartbeatsChanged(areExpected: areExpected) { handler.deadlineMoved() }
        case .newest, .closing, .service, .trades: break
        }
    }

    /// Returns the requests that may be sent now.
    func takeRequests(_ now: Moment) -> [SubscriptionChange] { self.watch.takeRequests(now) }

    /// Returns the requests that may be sent now on a connection. The second one repeats those of the first.
    func takeRequests(for handler: FeedHandler, _ now: Moment) -> [SubscriptionChange] {
        guard let second else { return self.takeRequests(now) }
        if second.handler === handler { return second.takeRequests(now.monotonic) }
        let requests = self.takeRequests(now)
        if !requests.isEmpty {
            second.request(requests)
            second.handler?.requestsWait()
        }
        return requests
    }

    /// Describes the end of a connection.
    func failure(of ending: ConnectionEnding, _ now: Moment) -> UpstreamFailure { UpstreamFailure(ending) }

    /// Whether the service makes no trades at present, as it says, so that silence is no fault.
    var isHalted: Bool { false }

    /// Returns a text without what no reader may see.
    func redacted(_ text: String) -> String { text }

    /// The words about symbols of which the service knows none, and about symbols that it does not send.
    var wordsForNoSymbol: String { "the service knows none of the symbols" }
    var wordsForNotPermitted: String { "the service sends none of the symbols" }

    /// Notes that trades with ids are missing.
    package func holesFound(now: Moment) {}

    /// Obeys the marks of a replay even when no frame comes, until `end` completes.
    func followMarks(until end: EventLoopFuture<Void>) {
        guard let marks = self.settings.marks else { return }
        let loop = self.context.loop
        let loopBound = NIOLoopBound(self, eventLoop: loop)
        let task = CoalescedTask(on: loop)
        marks.follow { task.request { loopBound.value.marksCame() } }
        end.assumeIsolated().whenComplete { _ in marks.follow(nil) }
    }

    private func marksCame() {
        let now = self.now
        self.input.obeyMarks(now: now)
        (self.kept ?? self.handler)?.turnCame(now)
    }

    /// Keeps the handler of a connection that has ended while its frames wait for other connections of a replay. If
    /// nothing comes of these for long, the handler waits no longer.
    func keep(_ handler: FeedHandler) {
        guard self.kept !== handler else { return }
        self.kept = handler
        self.limitWait(of: handler, at: self.settings.marks?.turns?.turn)
    }

    private func limitWait(of handler: FeedHandler, at turn: Int?) {
        guard let turns = self.settings.marks?.turns else { return }
        let loopBound = NIOLoopBound((client: self, handler: handler), eventLoop: self.context.loop)
        self.context.loop.scheduleTask(in: Self.longestWait) {
            let (client, handler) = loopBound.value
            guard client.kept === handler else { return }
            if turns.turn == turn { turns.giveUp() } else { client.limitWait(of: handler, at: turns.turn) }
        }
    }

    /// Changes the subscriptions, now and on every later connection.
    package func subscriptionsChanged(_ changes: [SubscriptionChange]) {
        let now = self.now
        for change in changes {
            switch change {
            case .subscribe(let symbol): self.watch.subscribed(for: symbol, now: now)
            case .unsubscribe(let symbol): self.watch.unsubscribed(symbol, now: now)
            }
        }
        self.input.symbols = self.watch.symbols
        self.publishChanges()
        guard let handler else { return }
        self.look(handler, now)
        handler.requestsWait()
    }

    var now: Moment {
        Moment(monotonic: Int64(self.context.loop.now.uptimeNanoseconds), wall: self.context.wallClock())
    }

    package func publishChanges() {
        for change in self.watch.takeChanges() {
            switch change {
            case .state(let status): self.input.symbolChanged(status)
            case .unsubscribed(let symbol): self.input.symbolUnsubscribed(symbol)
            }
        }
    }

    /// Logs an error message of the service, within the limits of ``LogAllowance``.
    func logError(_ text: String, now: Moment) {
        guard let leftOut = self.errorAllowance.wanted(now: now.monotonic) else { return }
        var facts: Logger.Metadata = ["text": "\(text)"]
        if leftOut > 0 { facts["leftOut"] = "\(leftOut)" }
        self.context.logger.warning("The service reports an error", metadata: facts)
    }

    // MARK: Status

    /// Returns a reason together with the remark that belongs to every status.
    func noted(_ reason: String?) -> String? {
        guard let note else { return reason }
        return reason.map { "\($0); \(note)" } ?? note
    }

    /// Determines the condition, and reports it if it has changed.
    func look(_ handler: FeedHandler, _ now: Moment) {
        let condition = self.watch.condition(now: now.monotonic)
        guard condition != self.condition else { return }
        if self.pausedSince != nil, condition == .late || condition == .stale { return }
        if self.condition != .live { self.lastSilent = now.wall }
        self.condition = condition
        self.rotation?.conditionChanged(condition)
        self.report(condition, lastError: handler.monitor.error(isLive: condition == .live, now: now.monotonic))
    }

    /// The service's last error may or may not be the reason of a silence, so both are shown.
    private static func silence(_ words: String, _ says: String?) -> String { says.map { "\(words); \($0)" } ?? words }

    func report(_ condition: SymbolMonitor.Condition, lastError: String?) {
        let says = lastError.map { "the service says: \($0)" }
        switch condition {
        case .waiting: self.report(.waiting, reason: self.noted(says))
        case .live: self.report(.live, reason: self.noted(says))
        case .late:
            self.report(.late, reason: self.noted(Self.silence("connected, but no trades arrive", says)))
        case .stale:
            let words = "connected, but every symbol is silent for longer than usual"
            self.report(.stale, reason: self.noted(Self.silence(words, says)))
        case .noSuchSymbol: self.report(.noSuchSymbol, reason: self.noted(self.wordsForNoSymbol))
        case .notPermitted: self.report(.notPermitted, reason: self.noted(self.wordsForNotPermitted))
        }
    }

    package func report(_ phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause? = nil) {
        self.reported = (phase, reason, cause)
        self.applyStatus()
        self.input.statusChanged()
    }

    /// Makes this client's own status the input's, or the other program's status if that overrules it.
    func applyStatus() {
        let (phase, reason, cause) = self.overruling.map { ($0.phase, $0.reason, $0.cause) } ?? self.reported
        if self.input.status.word != phase.word { self.input.status.since = self.context.wallClock() }
        self.input.status.phase = phase
        self.input.status.reason = reason
        self.input.status.cause = cause
    }

    // MARK: Connections

    /// Takes a connection that has just opened.
    ///
    /// - Parameters:
    ///   - address: the address of the peer, for people.
    ///   - isRelayed: whether the connection leads to the relay of a program like this one.
    ///   - resumption: the position in that relay's frames, if the feed can resume there.
    ///   - link: takes the end of the connection.
    /// - Returns: the connection's last handler, which is installed.
    func connectionOpened(
        _ channel: any Channel,
        address: String,
        isRelayed: Bool,
        resumption: RelayResumption? = nil,
        link: ReconnectingConnection
    ) throws -> any KeptConnection {
        let now = self.now
        if resumption?.connectionOpened(wanted: self.watch.symbols) != true { self.input.resumed(isComplete: false) }
        let handler = FeedHandler(
            monitor: ConnectionMonitor(settings: self.settings.connection, now: now.monotonic),
            input: self.input,
            dialect: self.makeDialect(),
            resumption: resumption,
            wallClock: self.context.wallClock,
            owner: self
        )
        self.input.connectionChanged(.connected(address: address), monotonic: now.monotonic)
        self.watch.connectionOpened(now)
        self.input.connectionOpened(isRelayed: isRelayed, port: channel.localAddress?.port, now: now)
        self.condition = self.watch.condition(now: now.monotonic)
        self.report(self.condition, lastError: nil)
        self.handler = handler
        self.link = link
        do {
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            self.handler = nil
            self.watch.connectionEnded(now)
            throw error
        }
        self.rotation?.connectionOpened()
        return handler
    }

    /// Takes the status between connections.
    func connectionReported(_ phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause?) {
        if case .connecting = phase { self.input.connectionAttempted() }
        self.report(phase, reason: reason, cause: cause)
    }
}
