package import Ingest
import Logging
package import Market
import NATS
package import NIOCore
package import Wire

/// The feed of an edge: the tape of a cluster's ingest, with the ingest's numbers, states and gaps (docs/cluster.md).
///
/// The edge itself decides only whether there is an ingest, and what is missing between two frames. Belongs to the
/// tape's event loop.
package final class EdgeFeed: Feed {
    package struct Settings: Sendable {
        package var subjects: ClusterSubjects
        /// The edge's name.
        package var member: String
        /// The symbols of the settings.
        package var symbols: [String]
        package var subscriptions = Subscriptions.Settings()
        package var machine = EdgeMachine.Settings()

        package init(_ subjects: ClusterSubjects, member: String, symbols: [String]) {
            self.subjects = subjects
            self.member = member
            self.symbols = symbols
        }
    }

    private let settings: Settings
    private let link: any ClusterLink
    private let context: FeedContext
    private let input: NumberedInput
    private var machine: EdgeMachine
    private var wanted: [String]
    private let end: EventLoopPromise<Void>
    private var timer: (at: NIODeadline, task: Scheduled<Void>)?
    private var wishes: Scheduled<Void>?
    private var isStarted = false
    private var isLinked = false
    private var isStopped = false
    /// The ingest's status; `nil` before its first one.
    private var reported: FeedStatus?
    /// The edge's own status while it knows no ingest.
    private var own: FeedStatus?
    /// The ingest's name, and how far its wall clock is ahead of this program's at most, ns.
    private var ingest: (member: String, epoch: UInt64, ahead: Int64)?
    /// The ingest whose epoch is lower than one before, since the newest connection; `nil` without one.
    private var outdated: (member: String, epoch: UInt64)?
    /// Whether there is no ingest.
    private var isSilent = false
    /// Up to when nothing is missing on the tape: the arrival at the ingest, wall clock, ns since 1970.
    private var complete: Int64
    /// The newest arrival on the tape, monotonic, ns.
    private var lastArrival: Int64 = 0
    /// The beginning of the gap of a takeover, which ends with the new ingest's first trade or its first `live`.
    private var takeover: Int64?
    /// The lines of the snapshot that has come.
    private var state = ByteBuffer()
    /// The symbols with a state.
    private var known: Set<String> = []
    package private(set) var status: FeedStatus

    package var finished: EventLoopFuture<Void> { self.end.futureResult }

    package init(_ settings: Settings, link: any ClusterLink, _ tape: TapeWriter, _ context: FeedContext) {
        self.settings = settings
        self.link = link
        self.context = context
        self.input = NumberedInput(tape)
        self.machine = EdgeMachine(settings: settings.machine)
        self.wanted = settings.symbols
        self.end = context.loop.makePromise()
        let now = context.wallClock()
        self.complete = now
        self.status = FeedStatus(source: .live, phase: .connecting, since: now)
    }

    // MARK: Feed

    package func start() {
        guard !self.isStarted else { return }
        self.isStarted = true
        self.link.subscribe(to: self.settings.subjects.tape) { [weak self] payload, _ in
            guard let self, let frame = ClusterFrame.parse(payload) else { return }
            if frame.position.epoch >= self.machine.epoch { self.clockShown(by: frame.sent) }
            self.perform(self.machine.received(frame, now: self.now))
        }
        self.link.subscribe(to: self.settings.subjects.beat) { [weak self] payload, _ in
            guard let self, let beat = ClusterBeat.parse(payload) else { return }
            self.ingestShown(beat.member, beat.sent, epoch: beat.position.epoch)
            self.perform(self.machine.received(beat, now: self.now))
            if self.machine.position == beat.position { self.completed(beat.sent) }
        }
        self.input.statusChanged(self.status)
        self.repeatWish()
        if self.link.maximumPayload != nil { self.linkChanged(nil) }
    }

    /// Takes a change of the connection to NATS.
    ///
    /// - Parameter failure: why there is none; `nil` if there is one.
    package func linkChanged(_ failure: String?) {
        guard self.isStarted, !self.isStopped else { return }
        self.isLinked = failure == nil
        self.isSilent = false
        self.outdated = nil
        if let failure {
            self.machine.disconnected()
            self.arm()
            self.ownStatus(.reconnecting(attempt: 1, retryAt: self.context.wallClock()), "NATS: \(failure)", .lost)
        } else {
            self.ownStatus(.connecting, "joining the cluster \(self.settings.subjects.name)", nil)
            self.wish()
            self.perform(self.machine.connected(now: self.now))
        }
    }

    package func stop() {
        guard !self.isStopped else { return }
        self.wanted = []
        self.wish()
        self.leave()
        self.ownStatus(.stopped, nil, nil)
        self.end.succeed()
    }

    package func abandon() {
        self.leave()
        self.end.succeed()
    }

    private func leave() {
        self.isStopped = true
        self.wishes?.cancel()
        self.timer?.task.cancel()
        self.timer = nil
    }

    package func subscriptionsChanged(_ changes: [SubscriptionChange]) {
        for change in changes {
            switch change {
            case .subscribe(let symbol): if !self.wanted.contains(symbol) { self.wanted.append(symbol) }
            case .unsubscribe(let symbol): self.wanted.removeAll { $0 == symbol }
            }
        }
        self.wish()
    }

    /// Does nothing: what an edge does not read, NATS drops.
    package func setReading(_ isReading: Bool) {}

    package func renew() -> ConnectionRenewal { self.isStopped ? .over : .underWay }

    private var now: NIODeadline { self.context.loop.now }

    private func wish() {
        guard self.isStarted, !self.isStopped else { return }
        let wish = ClusterWish(member: self.settings.member, symbols: self.wanted)
        _ = self.link.publish(wish.text(), to: self.settings.subjects.wanted(by: self.settings.member))
    }

    /// Repeats the wish at its interval, so that the ingest does not forget it.
    private func repeatWish() {
        guard !self.isStopped else { return }
        let interval = TimeAmount.milliseconds(Int64(ClusterWish.interval))
        self.wishes = self.context.loop.assumeIsolated().scheduleTask(in: interval) { [weak self] in
            self?.wish()
            self?.repeatWish()
        }
    }

    // MARK: Machine

    private func perform(_ actions: [EdgeMachine.Action]) {
        guard !self.isStopped else { return }
        for action in actions { self.perform(action) }
        self.arm()
    }

    private func perform(_ action: EdgeMachine.Action) {
        switch action {
        case .askSnapshot(let epoch, let number):
            let request = ClusterSnapshot.request(epoch: epoch)
            self.ask(request, self.settings.subjects.snapshot, number, ClusterSnapshot.parse) { snapshot in
                self.ingestShown(snapshot.member, snapshot.sent, epoch: snapshot.position.epoch)
                self.state = snapshot.lines
                return self.machine.answered(snapshot: snapshot.position, request: number, now: self.now)
            }
        case .askHistory(let position, let number):
            let request = ClusterHistoryRequest(after: position).text()
            self.ask(request, self.settings.subjects.history, number, ClusterHistoryAnswer.parse) { answer in
                self.machine.answered(answer, request: number, now: self.now)
            }
        case .begin(let position): self.input.begin(after: position.tape)
        case .state: self.takeState()
        case .gap(.takenOver): self.takenOver()
        case .gap(let hole): self.gapFound(hole, from: self.complete)
        case .deliver(let frame): self.deliver(frame)
        case .present:
            self.isSilent = false
            self.own = nil
            self.publish()
        // Without NATS that is the reason.
        case .silent where !self.isLinked: break
        case .silent:
            self.isSilent = true
            self.ownStatus(.stale, self.silence, .silent)
        case .unanswered:
            let reason = "the ingest \(self.ingest?.member ?? "") does not answer this edge's requests"
            self.context.logger.warning("An edge cannot follow its cluster", metadata: ["reason": "\(reason)"])
            self.ownStatus(.stale, reason, .silent)
        }
    }

    /// Why there is no ingest.
    private var silence: String {
        if let outdated {
            return "\(outdated.member) sends epoch \(outdated.epoch), and this edge has seen \(self.machine.epoch): "
                + "compare the clocks of the ingests, then start the edge again"
        }
        let seconds = Double(self.settings.machine.silence.nanoseconds) / 1_000_000_000
        return "no ingest of the cluster \(self.settings.subjects.name) has sent anything for \(seconds) s: "
            + "start one (cluster.role: ingest), or look at its log"
    }

    private func gapFound(_ hole: EdgeMachine.Hole, from start: Int64) {
        let now = self.context.wallClock()
        let from = min(start, now)
        self.input.gapFound(Gap(from: from, to: now, reason: hole.words, nextSequence: 0, cause: hole.cause))
        self.complete = now
    }

    /// Another ingest has taken over: what the one before has said of its feed and its symbols is over.
    private func takenOver() {
        self.takeover = self.takeover ?? self.complete
        self.reported = nil
        if let ingest = self.ingest, ingest.epoch < self.machine.epoch {
            self.ingest = nil
            self.status.via = nil
        }
        self.ownStatus(.connecting, EdgeMachine.Hole.takenOver.words, nil)
        let now = self.context.wallClock()
        for symbol in self.known.sorted() {
            if self.wanted.contains(symbol) {
                self.input.symbolChanged(SymbolStatus(symbol: symbol, state: .asked, since: now))
            } else {
                self.end(symbol)
            }
        }
        // The new ingest does not know this edge yet.
        self.wish()
    }

    /// Names the trades as missing that were made until the new ingest's first one.
    private func endTakeover() {
        guard let start = self.takeover else { return }
        self.takeover = nil
        self.gapFound(.takenOver, from: start)
    }

    /// Takes the state of a snapshot in place of the one before.
    private func takeState() {
        let before = self.known
        self.known = []
        self.take(lines: self.state, received: nil)
        self.state = ByteBuffer()
        for symbol in before.subtracting(self.known).sorted() { self.end(symbol) }
    }

    private func end(_ symbol: String) {
        self.known.remove(symbol)
        self.input.symbolUnsubscribed(symbol)
    }

    private func deliver(_ frame: ClusterFrame) {
        self.skip(to: TapePosition(epoch: frame.position.epoch, sequence: frame.sequenceBefore))
        self.take(lines: frame.lines, received: frame.sent)
        // A trade that cannot be read must not shift the numbers of all later trades.
        self.skip(to: frame.position.tape)
        self.completed(frame.sent)
    }

    /// Goes on behind a position, and names a gap, unless the tape has reached the position.
    private func skip(to position: TapePosition) {
        let own = self.input.position
        guard position.epoch != own.epoch || position.sequence > own.sequence else { return }
        self.input.begin(after: position)
        self.gapFound(.framesLost, from: self.complete)
    }

    private func ask<Answer>(
        _ request: ByteBuffer,
        _ subject: String,
        _ number: UInt64,
        _ parse: @escaping (ByteBuffer) -> Answer?,
        _ answered: @escaping (Answer) -> [EdgeMachine.Action]
    ) {
        self.link.request(request, to: subject, within: self.settings.machine.answer).assumeIsolated().whenComplete {
            guard !self.isStopped else { return }
            switch $0 {
            case .success(let payload):
                if let answer = parse(payload) { return self.perform(answered(answer)) }
            // The end of the connection follows: the ingest has not failed.
            case .failure(RequestFailure.connectionLost), .failure(RequestFailure.notSent(.notConnected)),
                .failure(RequestFailure.notSent(.draining)):
                return
            case .failure: break
            }
            self.perform(self.machine.failed(request: number, now: self.now))
        }
    }

    private func arm() {
        guard let deadline = self.machine.deadline else {
            self.timer?.task.cancel()
            self.timer = nil
            return
        }
        if let timer = self.timer {
            if timer.at <= deadline { return }
            timer.task.cancel()
        }
        let task = self.context.loop.assumeIsolated().scheduleTask(deadline: deadline) {
            self.timer = nil
            self.perform(self.machine.timeReached(now: self.now))
        }
        self.timer = (deadline, task)
    }

    // MARK: Messages

    /// Takes the messages of a frame or of a state, in their order.
    ///
    /// - Parameter received: when the ingest made the frame, by its clock; `nil` for a state.
    private func take(lines: ByteBuffer, received: Int64?) {
        var lines = lines
        var trades: [ByteBuffer] = []
        while let line = lines.readClusterLine() {
            if line.startsTrade {
                trades.append(line)
                continue
            }
            self.take(&trades, received: received)
            self.take(StreamMessage.parse(line))
        }
        self.take(&trades, received: received)
    }

    private func take(_ trades: inout [ByteBuffer], received: Int64?) {
        guard !trades.isEmpty, let received else { return }
        self.endTakeover()
        let arrival = self.arrival(received)
        // The ages on an edge count from the ingest's arrival, and arrivals are in the tape's order.
        let monotonic = Int64(self.now.uptimeNanoseconds) - (self.context.wallClock() - arrival)
        self.lastArrival = max(self.lastArrival, monotonic)
        let leftOut = self.input.take(trades, received: arrival, now: self.lastArrival)
        if leftOut > 0 {
            self.context.logger.warning(
                "The ingest has sent trades that cannot be read, or whose numbers do not follow",
                metadata: ["count": "\(leftOut)"]
            )
        }
        trades = []
    }

    /// The time of a message by this program's clock.
    private func arrival(_ sent: Int64) -> Int64 {
        let now = self.context.wallClock()
        return max(0, min(sent - (self.ingest?.ahead ?? 0), now))
    }

    /// Notes that nothing is missing on the tape up to a message of the ingest.
    private func completed(_ sent: Int64) { self.complete = max(self.complete, self.arrival(sent)) }

    private func take(_ message: StreamMessage) {
        switch message {
        case .status(let status):
            self.reported = status
            if status.phase == .live { self.endTakeover() }
            if self.machine.isPresent { self.own = nil }
            self.publish()
        case .gap(let gap): self.input.gapFound(gap)
        case .settled(let outcome): self.input.gapSettled(outcome)
        case .venueDay(let day): self.input.dayChanged(day)
        case .symbol(let status):
            self.known.insert(status.symbol)
            self.input.symbolChanged(status)
        case .released(let symbol, _): self.end(symbol)
        case .hello, .snapshot, .price, .trades, .trade, .resumed, .replay, .error, .unknown, .malformed: break
        }
    }

    // MARK: Status

    private func ownStatus(_ phase: FeedStatus.Phase, _ reason: String?, _ cause: FeedStatus.Cause?) {
        var status = self.status
        status.phase = phase
        status.reason = reason
        status.cause = cause
        self.own = status
        self.publish()
    }

    /// Publishes the edge's own status, or else the ingest's.
    private func publish() {
        guard var status = self.own ?? self.reported else { return }
        status.via = self.ingest?.member ?? self.status.via
        status.since = status.word == self.status.word ? self.status.since : self.context.wallClock()
        guard status != self.status else { return }
        self.status = status
        self.input.statusChanged(status)
    }

    private func ingestShown(_ member: String, _ sent: Int64, epoch: UInt64) {
        // Another one has replaced it.
        guard epoch >= self.machine.epoch else {
            self.outdated = (member, epoch)
            if self.isSilent { self.ownStatus(.stale, self.silence, .silent) }
            return
        }
        self.outdated = nil
        let isNew = self.ingest?.member != member
        if isNew { self.ingest = nil }
        let ahead = sent - self.context.wallClock()
        // A message takes time, so the largest difference is the nearest to that of the clocks.
        self.ingest = (member, epoch, max(self.ingest?.ahead ?? .min, ahead))
        // Its first frames may have come before its name.
        if isNew { self.publish() }
    }

    private func clockShown(by sent: Int64) {
        guard let ingest else { return }
        self.ingest?.ahead = max(ingest.ahead, sent - self.context.wallClock())
    }
}

extension EdgeMachine.Hole {
    fileprivate var words: String {
        switch self {
        case .framesLost: "frames of the cluster were lost, and the ingest no longer has them"
        case .tooManyWaiting: "too many frames of the cluster came while others were missing"
        case .takenOver: "another ingest has taken over"
        case .behind: "this edge was without the cluster for longer than the ingest keeps frames"
        }
    }

    fileprivate var cause: FeedStatus.Cause {
        switch self {
        case .framesLost, .tooManyWaiting, .behind: .lost
        case .takenOver: .replaced
        }
    }
}

extension ByteBuffer {
    /// Whether a line is a trade. The first member of every message is its type.
    fileprivate var startsTrade: Bool {
        let start: StaticString = "{\"type\":\"trade\","
        return self.readableBytesView.starts(
            with: UnsafeBufferPointer(start: start.utf8Start, count: start.utf8CodeUnitCount)
        )
    }
}
