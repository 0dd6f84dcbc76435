package import Ingest
import Logging
package import Market
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
    private var ingest: (member: String, ahead: Int64)?
    /// The newest arrival on the tape, wall clock, ns since 1970.
    private var lastReceived: Int64
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
        self.lastReceived = now
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
        if let failure {
            self.perform(self.machine.disconnected())
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
        case .askSnapshot(let epoch):
            let request = ClusterSnapshot.request(epoch: epoch)
            self.ask(request, self.settings.subjects.snapshot, ClusterSnapshot.parse) { snapshot in
                self.ingestShown(snapshot.member, snapshot.sent, epoch: snapshot.position.epoch)
                let actions = self.machine.answered(snapshot: snapshot.position, now: self.now)
                // What the state says is older than every frame behind it. No action means that it came too late.
                if !actions.isEmpty { self.take(lines: snapshot.lines, received: nil) }
                return actions
            }
        case .askHistory(let position):
            let request = ClusterHistoryRequest(after: position).text()
            self.ask(request, self.settings.subjects.history, ClusterHistoryAnswer.parse) { answer in
                self.machine.answered(answer, after: position, now: self.now)
            }
        case .begin(let position): self.input.begin(after: position.tape)
        case .gap(let hole):
            if hole == .takenOver {
                // The status of an ingest that has been replaced says nothing about the prices now.
                self.reported = nil
                self.ownStatus(.connecting, "another ingest has taken over", nil)
            }
            let now = self.context.wallClock()
            let from = min(self.lastReceived, now)
            self.input.gapFound(
                Gap(from: from, to: now, reason: hole.words, nextSequence: 0, cause: hole.cause)
            )
        case .deliver(let frame):
            self.take(lines: frame.lines, received: frame.sent)
            // An ingest that counts otherwise must not shift the numbers of all later trades.
            if self.input.position != frame.position.tape {
                self.input.begin(after: frame.position.tape)
                self.perform(.gap(.framesLost))
            }
        case .present:
            self.own = nil
            self.publish()
        // Without NATS that is the reason.
        case .silent where !self.isLinked: break
        case .silent:
            let seconds = Double(self.settings.machine.silence.nanoseconds) / 1_000_000_000
            self.ownStatus(
                .stale,
                "no ingest of the cluster \(self.settings.subjects.name) has sent anything for \(seconds) s: "
                    + "start one (cluster.role: ingest), or look at its log",
                .silent
            )
        }
    }

    private func ask<Answer>(
        _ request: ByteBuffer,
        _ subject: String,
        _ parse: @escaping (ByteBuffer) -> Answer?,
        _ answered: @escaping (Answer) -> [EdgeMachine.Action]
    ) {
        self.link.request(request, to: subject, within: self.settings.machine.answer).assumeIsolated().whenComplete {
            guard !self.isStopped else { return }
            if case .success(let payload) = $0, let answer = parse(payload) {
                self.perform(answered(answer))
            } else {
                self.perform(self.machine.failed(now: self.now))
            }
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
        // By this program's clock: the ages on an edge count from the ingest's arrival.
        let arrival = min(received - (self.ingest?.ahead ?? 0), self.context.wallClock())
        self.lastReceived = max(self.lastReceived, arrival)
        let now = Int64(self.now.uptimeNanoseconds)
        let malformed = self.input.take(trades, received: arrival, now: now)
        if malformed > 0 {
            self.context.logger.warning(
                "The ingest has sent messages that cannot be read",
                metadata: ["count": "\(malformed)"]
            )
        }
        trades = []
    }

    private func take(_ message: StreamMessage) {
        switch message {
        case .status(let status):
            self.reported = status
            self.own = nil
            self.publish()
        case .gap(let gap): self.input.gapFound(gap)
        case .settled(let outcome): self.input.gapSettled(outcome)
        case .venueDay(let day): self.input.dayChanged(day)
        case .symbol(let status): self.input.symbolChanged(status)
        case .released(let symbol, _): self.input.symbolUnsubscribed(symbol)
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
        guard epoch >= self.machine.epoch else { return }
        if self.ingest?.member != member { self.ingest = nil }
        let ahead = sent - self.context.wallClock()
        // A message takes time, so the largest difference is the nearest to that of the clocks.
        self.ingest = (member, max(self.ingest?.ahead ?? .min, ahead))
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
