package import Ingest
import Logging
package import Market
import NATS
package import NIOCore
import WebSocket
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
    /// Tells this program from another one with its name.
    private let instance: UInt64
    private let end: EventLoopPromise<Void>
    private var timer = DeadlineTimer(wheel: nil)
    private var allowance = LogAllowance()
    private var wishes: Scheduled<Void>?
    private var isStarted = false
    private var isLinked = false
    /// The attempts to connect to NATS since the last connection.
    private var attempts = 0
    private var isStopped = false
    /// Whether this program is the ingest itself for now.
    private var isSuspended = false
    /// The ingest's status; `nil` before its first one.
    private var reported: FeedStatus?
    /// The edge's own status while it knows no ingest.
    private var own: FeedStatus?
    private var ingest: (member: String, epoch: UInt64)?
    /// The ingest's wall clock, and the epoch whose messages have shown it.
    private var clock = (epoch: UInt64(0), offset: ClockOffset())
    /// The ingest whose epoch is lower than one before, or far in the future, since the newest connection; `nil`
    /// without one.
    private var refusedIngest: (member: String, epoch: UInt64)?
    /// Whether there is no ingest.
    private var isSilent = false
    /// Up to when nothing is missing on the tape: the arrival at the ingest, wall clock, ns since 1970.
    private var complete: Int64
    /// The newest arrival on the tape, monotonic, ns.
    private var lastArrival: Int64 = 0
    /// The beginning of the gap of a takeover, which ends with the new ingest's first trade, or with its first `live` if
    /// no trade follows at once.
    private var takeover: Int64?
    /// When the new ingest's first `live` came.
    private var liveSince: Int64?
    /// The beginning of the gaps of a takeover that the new ingest names itself, one for each of its feeds: by its clock, and
    /// on this tape.
    private var named: (theirs: Int64, from: Int64)?
    /// The symbols with a state of the ingest.
    private var known: Set<String> = []
    private var figures: EdgeFigures
    /// The symbols that this edge wants, and of which it has said that the ingest does not subscribe to them.
    private var refused: Set<String> = []
    package private(set) var status: FeedStatus

    package var finished: EventLoopFuture<Void> { self.end.futureResult }

    /// - Parameter state: the place for what people and programs see of this edge.
    package init(
        _ settings: Settings,
        link: any ClusterLink,
        _ tape: TapeWriter,
        _ context: FeedContext,
        state: ClusterStateBox = ClusterStateBox()
    ) {
        self.settings = settings
        self.figures = EdgeFigures(state)
        self.link = link
        self.context = context
        self.input = NumberedInput(tape)
        let chance = UInt64(context.chance() * Double(ClusterWish.maximumInstance))
        self.machine = EdgeMachine(settings: settings.machine, seed: chance)
        self.wanted = settings.symbols
        self.instance = chance
        self.end = context.loop.makePromise()
        let now = context.wallClock()
        self.complete = now
        self.status = FeedStatus(source: .live, phase: .connecting, since: now)
    }

    // MARK: Feed

    package func start() {
        guard !self.isStarted else { return }
        self.isStarted = true
        self.link.subscribe(to: self.settings.subjects.tape) { [weak self] payload, _, _ in
            guard let self, !self.isSuspended, let frame = ClusterFrame.parse(payload),
                !self.isFarAhead(frame.position.epoch)
            else { return }
            self.lookForSilence()
            self.clockShown(by: frame.sent, epoch: frame.position.epoch)
            self.perform(self.machine.received(frame, now: self.now))
        }
        self.link.subscribe(to: self.settings.subjects.beat) { [weak self] payload, _, _ in
            guard let self, !self.isSuspended, let beat = ClusterBeat.parse(payload) else { return }
            self.lookForSilence()
            guard self.ingestShown(beat.member, beat.sent, epoch: beat.position.epoch) else { return }
            self.perform(self.machine.received(beat, now: self.now))
            if self.machine.position == beat.position {
                if let liveSince { self.endTakeover(at: liveSince) }
                self.completed(beat.sent)
            }
            self.writeFigures()
        }
        self.input.statusChanged(self.status)
        self.repeatWish()
        if self.link.maximumPayload != nil { self.linkChanged(nil) }
    }

    /// Takes a change of the connection to NATS.
    ///
    /// - Parameters:
    ///   - failure: why there is no connection; `nil` if there is one.
    ///   - wait: the time until the next attempt; `nil` if it is not known.
    package func linkChanged(_ failure: String?, retryIn wait: TimeAmount? = nil) {
        guard self.isStarted, !self.isStopped else { return }
        self.isLinked = failure == nil
        guard !self.isSuspended else { return }
        self.isSilent = false
        self.refusedIngest = nil
        if let failure {
            self.machine.disconnected()
            self.arm()
            self.writeFigures()
            self.attempts += 1
            let retryAt = self.context.wallClock() + (wait?.nanoseconds ?? 0)
            self.ownStatus(.reconnecting(attempt: self.attempts, retryAt: retryAt), "NATS: \(failure)", .lost)
        } else {
            self.attempts = 0
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

    /// Leaves the tape to this program's own feeds.
    ///
    /// - Returns: up to when nothing is missing on it, wall clock, ns since 1970; `nil` if it has never had anything.
    package func suspend() -> Int64? {
        let wanted = self.wanted
        self.wanted = []
        self.wish()
        self.wanted = wanted
        self.isSuspended = true
        self.machine.disconnected()
        self.arm()
        self.figures.leave()
        self.reported = nil
        let complete = self.takeover ?? self.complete
        self.takeover = nil
        self.liveSince = nil
        self.ingest = nil
        self.status.via = nil
        self.ownStatus(.connecting, "this program is now the ingest of the cluster \(self.settings.subjects.name)", nil)
        for symbol in self.known.subtracting(self.wanted).sorted() { self.drop(symbol, nil) }
        return self.machine.position == nil ? nil : complete
    }

    /// Follows another ingest, after this program was the ingest itself.
    ///
    /// - Parameters:
    ///   - position: the last one of its own frames.
    ///   - complete: up to when nothing is missing on its tape, wall clock, ns since 1970.
    ///   - symbols: those with a state.
    package func resume(after position: ClusterPosition, complete: Int64, symbols: Set<String>) {
        self.isSuspended = false
        self.machine.ledUntil(position)
        self.complete = complete
        self.known = symbols
        self.ingest = nil
        self.status.via = nil
        // The own feeds' status is the newest one of the tape.
        self.status.phase = .stopped
        self.linkChanged(self.isLinked ? nil : "not connected")
    }

    private func leave() {
        self.isStopped = true
        self.wishes?.cancel()
        self.timer.cancel()
    }

    package func subscriptionsChanged(_ changes: [SubscriptionChange]) {
        for change in changes {
            switch change {
            case .subscribe(let symbol): if !self.wanted.contains(symbol) { self.wanted.append(symbol) }
            case .unsubscribe(let symbol):
                self.wanted.removeAll { $0 == symbol }
                self.refused.remove(symbol)
                // Of all others the ingest says when it ends.
                if !self.isSuspended, !self.known.contains(symbol) { self.input.symbolUnsubscribed(symbol) }
            }
        }
        self.wish()
    }

    /// Does nothing: what an edge does not read, NATS drops.
    package func setReading(_ isReading: Bool) {}

    /// Asks for the ingest's state.
    package func renew() -> ConnectionRenewal {
        guard !self.isStopped else { return .over }
        let actions = self.machine.renewed(now: self.now)
        self.perform(actions)
        return actions.isEmpty ? .underWay : .begun
    }

    /// Says that there was no ingest, if it is due: a program that stood still reads what has come meanwhile before its
    /// timers fire.
    private func lookForSilence() {
        guard let deadline = self.machine.deadline, deadline <= self.now else { return }
        self.perform(self.machine.timeReached(now: self.now))
    }

    private var now: NIODeadline { self.context.loop.now }

    private func wish() {
        guard self.isStarted, !self.isStopped, !self.isSuspended else { return }
        let asked = self.wanted.prefix(ClusterWish.maximumSymbols)
        for symbol in self.wanted.dropFirst(asked.count) {
            self.refuse(symbol, .overLimit, "an edge can have \(ClusterWish.maximumSymbols) symbols of its ingest")
        }
        let wish = ClusterWish(instance: self.instance, symbols: Array(asked))
        let subject = self.settings.subjects.wanted(by: self.settings.member)
        self.link.request(wish.text(), to: subject, within: self.settings.machine.answer).assumeIsolated()
            .whenSuccess { payload in
                guard !self.isStopped, !self.isSuspended, let answer = ClusterWishAnswer.parse(payload) else { return }
                for symbol in answer.full {
                    self.refuse(symbol, .overLimit, "the ingest has no place for it: raise its upstream.max-symbols")
                }
                for symbol in answer.invalid {
                    self.refuse(symbol, .noSuchSymbol, "no upstream of the ingest has this symbol")
                }
            }
    }

    /// Says that the ingest does not subscribe to a symbol which this edge wants.
    private func refuse(_ symbol: String, _ refusal: SymbolStatus.Refusal, _ reason: String) {
        // For another edge it may be there.
        guard self.wanted.contains(symbol), !self.known.contains(symbol), self.refused.insert(symbol).inserted else {
            return
        }
        let now = self.context.wallClock()
        let state = SymbolStatus.State.refused(refusal, retryAt: now + ClusterWish.interval.nanoseconds)
        self.input.symbolChanged(SymbolStatus(symbol: symbol, state: state, since: now, reason: reason))
    }

    /// Repeats the wish at about its interval, so that the ingest does not forget it, and not in step with other edges.
    private func repeatWish() {
        guard !self.isStopped else { return }
        let interval = Double(ClusterWish.interval.nanoseconds) * (0.9 + 0.2 * self.context.chance())
        let deadline = self.now + .nanoseconds(Int64(interval))
        self.wishes = self.context.loop.assumeIsolated().scheduleTask(deadline: deadline) { [weak self] in
            self?.wish()
            self?.repeatWish()
        }
    }

    // MARK: Machine

    private func perform(_ actions: [EdgeMachine.Action]) {
        guard !self.isStopped, !self.isSuspended else { return }
        for (index, action) in actions.enumerated() {
            self.figures.count(action)
            if case .gap(let hole) = action, hole != .takenOver {
                // It ends where the tape goes on, which can be a while ago.
                let next = actions[index...].lazy.compactMap(\.frame).first
                self.gapFound(hole, from: self.complete, to: next.map { self.arrival($0.sent) })
            } else {
                self.perform(action)
            }
        }
        self.arm()
        self.writeFigures()
    }

    private func writeFigures() {
        let complete = Int64(self.now.uptimeNanoseconds) - (self.context.wallClock() - self.complete)
        let ingest = self.ingest.map { ($0.member, self.clock.offset.ahead) }
        self.figures.write(self.machine, ingest: ingest, complete: complete)
    }

    private func perform(_ action: EdgeMachine.Action) {
        switch action {
        case .askSnapshot(let request, let number):
            self.ask(request.text(), self.settings.subjects.snapshot, number, ClusterSnapshot.parse) { snapshot in
                guard self.ingestShown(snapshot.member, snapshot.sent, epoch: snapshot.position.epoch) else {
                    return nil
                }
                return self.machine.answered(snapshot, request: number, now: self.now)
            }
        case .askHistory(let position, let number):
            let request = ClusterHistoryRequest(after: position).text()
            self.ask(request, self.settings.subjects.history, number, ClusterHistoryAnswer.parse) { answer in
                guard !answer.frames.contains(where: { self.isFarAhead($0.position.epoch) }) else { return nil }
                return self.machine.answered(answer, request: number, now: self.now)
            }
        case .begin(let position): self.input.begin(after: position.tape)
        case .state(let snapshot): self.take(snapshot)
        case .gap: self.takenOver()
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
        if let (member, epoch) = self.refusedIngest {
            if self.isFarAhead(epoch) {
                return "\(member) sends epoch \(epoch), which is more than a day ahead of this program's clock: "
                    + "compare its clock with this one"
            }
            return "\(member) sends epoch \(epoch), and this edge has seen \(self.machine.epoch): "
                + "compare the clocks of the ingests, then start the edge again"
        }
        let seconds = Double(self.settings.machine.silence.nanoseconds) / 1_000_000_000
        return "no ingest of the cluster \(self.settings.subjects.name) has sent anything for \(seconds) s: "
            + "start one (cluster.role: ingest), or look at its log"
    }

    private func gapFound(_ hole: EdgeMachine.Hole, from start: Int64, to end: Int64? = nil) {
        let end = end ?? self.context.wallClock()
        let from = min(start, end)
        self.input.gapFound(Gap(from: from, to: end, reason: hole.words, nextSequence: 0, cause: hole.cause))
        self.complete = max(self.complete, end)
    }

    /// Another ingest has taken over: what the one before has said of its feed and its symbols is over.
    private func takenOver() {
        self.takeover = self.takeover ?? self.complete
        self.liveSince = nil
        self.reported = nil
        if let ingest = self.ingest, ingest.epoch < self.machine.epoch {
            self.ingest = nil
            self.status.via = nil
        }
        self.ownStatus(.connecting, EdgeMachine.Hole.takenOver.words, nil)
        for symbol in self.known.union(self.refused).sorted() { self.drop(symbol, nil) }
        // The new ingest does not know this edge yet.
        self.wish()
    }

    /// Names the trades as missing that were made until the new ingest's first one.
    private func endTakeover(at end: Int64) {
        self.liveSince = nil
        guard let start = self.takeover else { return }
        self.takeover = nil
        self.gapFound(.takenOver, from: start, to: end)
    }

    /// Takes the state of a snapshot in place of the one before.
    private func take(_ snapshot: ClusterSnapshot) {
        let before = self.known.filter(snapshot.covers)
        self.known.subtract(before)
        self.take(lines: snapshot.lines, received: nil)
        let dropped = before.subtracting(self.known)
        for symbol in dropped.sorted() { self.drop(symbol, Self.dropped) }
        if dropped.contains(where: self.wanted.contains) { self.wish() }
    }

    private static let dropped = "the ingest has dropped it"

    /// Takes that the ingest does not subscribe to a symbol any more. One that this edge wants is asked for with the
    /// next wish.
    private func drop(_ symbol: String, _ reason: String?) {
        self.refused.remove(symbol)
        self.known.remove(symbol)
        guard self.wanted.contains(symbol) else { return self.input.symbolUnsubscribed(symbol) }
        let now = self.context.wallClock()
        self.input.symbolChanged(SymbolStatus(symbol: symbol, state: .asked, since: now, reason: reason))
    }

    private func deliver(_ frame: ClusterFrame) {
        self.skip(to: TapePosition(epoch: frame.position.epoch, sequence: frame.sequenceBefore), at: frame.sent)
        self.take(lines: frame.lines, received: frame.sent)
        // A trade that cannot be read must not shift the numbers of all later trades.
        self.skip(to: frame.position.tape, at: frame.sent)
        self.completed(frame.sent)
    }

    /// Goes on behind a position, and names a gap, unless the tape has reached the position.
    private func skip(to position: TapePosition, at sent: Int64) {
        let own = self.input.position
        guard position.epoch != own.epoch || position.sequence > own.sequence else { return }
        self.input.begin(after: position)
        self.gapFound(.framesLost, from: self.complete, to: self.arrival(sent))
    }

    private func ask<Answer>(
        _ request: ByteBuffer,
        _ subject: String,
        _ number: UInt64,
        _ parse: @escaping (ByteBuffer) -> Answer?,
        _ answered: @escaping (Answer) -> [EdgeMachine.Action]?
    ) {
        self.link.request(request, to: subject, within: self.settings.machine.answer).assumeIsolated().whenComplete {
            guard !self.isStopped, !self.isSuspended else { return }
            var isFinal = true
            switch $0 {
            case .success(let payload):
                if let actions = parse(payload).flatMap(answered) { return self.perform(actions) }
            // The end of the connection follows: the ingest has not failed.
            case .failure(RequestFailure.connectionLost), .failure(RequestFailure.notSent(.notConnected)),
                .failure(RequestFailure.notSent(.draining)):
                return
            // This user may not ask.
            case .failure(RequestFailure.refused), .failure(RequestFailure.noInbox): break
            case .failure: isFinal = false
            }
            self.perform(self.machine.failed(request: number, isFinal: isFinal, now: self.now))
        }
    }

    private func arm() {
        guard let deadline = self.machine.deadline else { return self.timer.cancel() }
        self.timer.arm(for: [deadline], on: self.context.loop) {
            self.timer.fired()
            self.perform(self.machine.timeReached(now: self.now))
        }
    }

    // MARK: Messages

    /// Takes the messages of a frame or of a state, in their order.
    ///
    /// - Parameter received: when the ingest made the frame, by its clock; `nil` for a state.
    private func take(lines: ByteBuffer, received: Int64?) {
        var lines = lines
        var trades: [ByteBuffer] = []
        while let line = lines.readClusterLine() {
            if line.begins(with: "{\"type\":\"trade\",") {
                trades.append(line)
                continue
            }
            self.take(&trades, received: received)
            self.take(StreamMessage.parse(line), at: received.map(self.arrival) ?? self.context.wallClock())
        }
        self.take(&trades, received: received)
    }

    private func take(_ trades: inout [ByteBuffer], received: Int64?) {
        guard !trades.isEmpty, let received else { return }
        let arrival = self.arrival(received)
        // Another one of its feeds may not have begun yet.
        if self.reported?.phase.isComplete == true { self.endTakeover(at: arrival) }
        // The ages on an edge count from the ingest's arrival, and arrivals are in the tape's order.
        let monotonic = Int64(self.now.uptimeNanoseconds) - (self.context.wallClock() - arrival)
        self.lastArrival = max(self.lastArrival, monotonic)
        let leftOut = self.input.take(trades, received: arrival, now: self.lastArrival)
        if leftOut > 0, let others = self.allowance.wanted(now: Int64(self.now.uptimeNanoseconds)) {
            self.context.logger.warning(
                "The ingest has sent trades that cannot be read, or whose numbers do not follow",
                metadata: ["count": "\(leftOut)", "others": "\(others)"]
            )
        }
        trades = []
    }

    /// Returns the time by this program's clock at which the ingest made a message.
    private func arrival(_ sent: Int64) -> Int64 { self.clock.offset.arrival(sent, now: self.context.wallClock()) }

    /// Notes that nothing is missing on the tape up to a message of the ingest.
    private func completed(_ sent: Int64) {
        guard self.takeover == nil, self.reported?.phase.isComplete == true else { return }
        self.complete = max(self.complete, self.arrival(sent))
    }

    /// Takes a message of the ingest, whose times are by its clock.
    ///
    /// - Parameter arrival: when the ingest made it, by this program's clock.
    private func take(_ message: StreamMessage, at arrival: Int64) {
        let offset = self.clock.offset
        switch message {
        case .status(var status):
            status.phase = offset.shift(status.phase)
            self.reported = status
            if status.phase == .live, self.takeover != nil { self.liveSince = arrival }
            if self.machine.isPresent { self.own = nil }
            self.publish()
        case .gap(var gap):
            let theirs = gap.from
            (gap.from, gap.to) = (offset.shift(gap.from), offset.shift(gap.to))
            // The new ingest was a standby, and names the gaps of its feeds. This edge may have had less of the tape.
            if gap.cause == EdgeMachine.Hole.takenOver.cause {
                if let start = self.takeover {
                    self.named = (theirs, start)
                    self.takeover = nil
                    self.liveSince = nil
                }
                if let named, named.theirs == theirs { gap.from = min(gap.from, named.from) }
                self.complete = max(self.complete, gap.to)
            }
            self.input.gapFound(gap)
        case .settled(var outcome):
            (outcome.from, outcome.to) = (offset.shift(outcome.from), offset.shift(outcome.to))
            self.input.gapSettled(outcome)
        case .venueDay(var day):
            guard self.admits(day.symbol) else { return }
            day.received = self.arrival(day.received)
            self.input.dayChanged(day)
        case .symbol(var status):
            guard self.admits(status.symbol) else { return }
            self.refused.remove(status.symbol)
            status.since = self.arrival(status.since)
            if case .refused(let refusal, let retryAt) = status.state {
                status.state = .refused(refusal, retryAt: offset.shift(retryAt))
            }
            self.input.symbolChanged(status)
        case .released(let symbol, _):
            self.drop(symbol, Self.dropped)
            // Another program with this one's name, or a wish that was lost, can have ended it.
            if self.wanted.contains(symbol) { self.wish() }
        case .hello, .snapshot, .price, .trades, .trade, .resumed, .replay, .error, .unknown, .malformed: break
        }
    }

    /// Whether a symbol may have a state here; there are no more of them than numbers.
    private func admits(_ symbol: String) -> Bool {
        if self.known.contains(symbol) { return true }
        guard self.known.count < SymbolTable.capacity, SymbolName.isValid(symbol) else { return false }
        return self.known.insert(symbol).inserted
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

    /// Takes the name of an ingest; returns whether this edge may follow it.
    private func ingestShown(_ member: String, _ sent: Int64, epoch: UInt64) -> Bool {
        // Another one has replaced it, or its clock is wrong.
        guard epoch >= self.machine.epoch, !self.isFarAhead(epoch) else {
            self.refusedIngest = (member, epoch)
            if self.isSilent { self.ownStatus(.stale, self.silence, .silent) }
            return false
        }
        self.refusedIngest = nil
        self.clockShown(by: sent, epoch: epoch)
        let isNew = self.ingest?.member != member
        self.ingest = (member, epoch)
        // Its first frames may have come before its name.
        if isNew { self.publish() }
        return true
    }

    /// Whether an epoch is so far in the future that it would keep all honest ingests out. Epochs are times, in ms.
    private func isFarAhead(_ epoch: UInt64) -> Bool {
        epoch > UInt64(max(0, (self.context.wallClock() + ClockOffset.furthest) / 1_000_000))
    }

    private func clockShown(by sent: Int64, epoch: UInt64) {
        guard epoch >= self.machine.epoch else { return }
        // Another ingest has another clock.
        if epoch != self.clock.epoch { self.clock = (epoch, ClockOffset()) }
        self.clock.offset.take(sent: sent, arrived: self.context.wallClock(), now: self.now)
    }
}

extension ClockOffset {
    /// Returns a phase with its time by this program's clock.
    fileprivate func shift(_ phase: FeedStatus.Phase) -> FeedStatus.Phase {
        switch phase {
        case .reconnecting(let attempt, let retryAt): .reconnecting(attempt: attempt, retryAt: self.shift(retryAt))
        case .rateLimited(let until): .rateLimited(until: self.shift(until))
        case .keyRejected(let retryAt): .keyRejected(retryAt: retryAt.map { self.shift($0) })
        case .keyInUse(let retryAt): .keyInUse(retryAt: retryAt.map { self.shift($0) })
        case .connecting, .waiting, .live, .late, .stale, .noSuchSymbol, .notPermitted, .ended, .stopped: phase
        }
    }
}

extension EdgeMachine.Action {
    fileprivate var frame: ClusterFrame? { if case .deliver(let frame) = self { frame } else { nil } }
}

extension EdgeMachine.Hole {
    var words: String {
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
