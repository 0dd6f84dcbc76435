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
    private let symbols: EdgeSymbols
    private let tape: EdgeTape
    private let end: EventLoopPromise<Void>
    private var timer = DeadlineTimer(wheel: nil)
    private var isStarted = false
    private var isLinked = false
    /// Why there is no connection to NATS, and the attempts since the last one.
    private var failure = "no answer yet"
    private var attempts = 0
    private var isStopped = false
    /// Whether this program is the ingest itself for now.
    private var isSuspended = false
    /// The ingest whose epoch is lower than one before, or far in the future, since the newest connection; `nil`
    /// without one.
    private var refusedIngest: (member: String, epoch: UInt64)?
    /// Whether there is no ingest.
    private var isSilent = false
    private var figures: EdgeFigures

    package var status: FeedStatus { self.tape.status }

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
        let input = NumberedInput(tape)
        self.input = input
        self.symbols = EdgeSymbols(settings, link: link, input, context)
        self.machine = EdgeMachine(settings: settings.machine, seed: self.symbols.instance)
        self.tape = EdgeTape(input, self.symbols, context)
        self.end = context.loop.makePromise()
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
            let epoch = frame.position.epoch
            if epoch >= self.machine.epoch { self.tape.clockShown(by: frame.sent, epoch: epoch) }
            self.perform(self.machine.received(frame, now: self.now))
        }
        self.link.subscribe(to: self.settings.subjects.beat) { [weak self] payload, _, _ in
            guard let self, !self.isSuspended, let beat = ClusterBeat.parse(payload) else { return }
            self.lookForSilence()
            guard self.ingestShown(beat.member, beat.sent, epoch: beat.position.epoch) else { return }
            self.perform(self.machine.received(beat, now: self.now))
            if self.machine.position == beat.position { self.tape.reached(beat) }
            self.writeFigures()
        }
        self.input.statusChanged(self.status)
        self.symbols.start()
        if self.link.maximumPayload != nil { return self.linkChanged(nil) }
        self.machine.disconnected(now: self.now)
        self.arm()
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
        self.refusedIngest = nil
        if let failure {
            self.machine.disconnected(now: self.isSilent ? nil : self.now)
            self.arm()
            self.writeFigures()
            self.failure = failure
            self.attempts += 1
            if self.isSilent { return self.saySilence() }
            let retryAt = self.context.wallClock() + (wait?.nanoseconds ?? 0)
            self.tape.say(.reconnecting(attempt: self.attempts, retryAt: retryAt), "NATS: \(failure)", .lost)
        } else {
            self.isSilent = false
            self.attempts = 0
            self.tape.say(.connecting, "joining the cluster \(self.settings.subjects.name)")
            self.symbols.ask()
            self.perform(self.machine.connected(now: self.now))
        }
    }

    package func stop() {
        guard !self.isStopped else { return }
        self.leave()
        self.tape.say(.stopped)
        self.end.succeed()
    }

    package func abandon() {
        self.symbols.stop(isAbandoned: true)
        self.leave()
        self.end.succeed()
    }

    /// Leaves the tape to this program's own feeds.
    ///
    /// - Returns: up to when nothing is missing on it; `nil` if it has never had anything.
    package func suspend() -> TapeCompleteness? {
        self.symbols.stop()
        self.isSuspended = true
        self.machine.disconnected()
        self.arm()
        self.figures.write(self.machine, ingest: nil, complete: nil)
        let reason = "this program is now the ingest of the cluster \(self.settings.subjects.name)"
        let complete = self.tape.suspend(reason)
        return self.machine.position == nil ? nil : complete
    }

    /// Follows another ingest, after this program was the ingest itself.
    ///
    /// - Parameters:
    ///   - position: the last one of its own frames.
    ///   - complete: up to when nothing is missing on its tape.
    ///   - symbols: those with a state.
    package func resume(after position: ClusterPosition, complete: TapeCompleteness, symbols: Set<String>) {
        guard !self.isStopped else { return }
        self.isSuspended = false
        self.isSilent = false
        self.machine.ledUntil(position)
        self.tape.resume(complete: complete)
        self.symbols.start(known: symbols)
        self.linkChanged(self.isLinked ? nil : "not connected")
    }

    private func leave() {
        self.isStopped = true
        self.symbols.stop()
        self.timer.cancel()
    }

    package func subscriptionsChanged(_ changes: [SubscriptionChange]) { self.symbols.change(changes) }

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

    // MARK: Machine

    private func perform(_ actions: [EdgeMachine.Action]) {
        guard !self.isStopped, !self.isSuspended else { return }
        self.tape.isPresent = self.machine.isPresent
        for (index, action) in actions.enumerated() {
            self.figures.count(action)
            if case .gap(let hole) = action, hole != .takenOver {
                // It ends where the tape goes on, which can be a while ago.
                let next = actions[index...].lazy.compactMap(\.frame).first
                self.tape.holeFound(hole, to: next.map { self.tape.arrival($0.sent) } ?? self.context.wallClock())
            } else {
                self.perform(action)
            }
        }
        self.arm()
        self.writeFigures()
    }

    private func writeFigures() {
        let ingest = self.tape.ingest.map { ($0.member, self.tape.ahead) }
        self.figures.write(self.machine, ingest: ingest, complete: self.tape.complete)
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
        case .begin(let position): self.tape.begin(after: position.tape)
        case .state(let snapshot): self.tape.take(snapshot)
        case .gap: self.tape.takenOver(by: self.machine.epoch)
        case .deliver(let frame): self.tape.deliver(frame)
        case .present:
            self.isSilent = false
            self.tape.follow()
        case .silent: self.saySilence()
        case .unanswered:
            let reason = "the ingest \(self.tape.ingest?.member ?? "") does not answer this edge's requests"
            self.context.logger.warning("An edge cannot follow its cluster", metadata: ["reason": "\(reason)"])
            self.tape.say(.stale, reason, .silent)
        }
    }

    private func saySilence() {
        self.isSilent = true
        self.tape.say(.stale, self.silence, self.isLinked ? .silent : .lost)
    }

    /// Why there is no ingest.
    private var silence: String {
        guard self.isLinked else { return "NATS, attempt \(max(1, self.attempts)): \(self.failure)" }
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

    // MARK: Ingest

    /// Takes the name of an ingest; returns whether this edge may follow it.
    private func ingestShown(_ member: String, _ sent: Int64, epoch: UInt64) -> Bool {
        // Another one has replaced it, or its clock is wrong.
        guard epoch >= self.machine.epoch, !self.isFarAhead(epoch) else {
            self.refusedIngest = (member, epoch)
            if self.isSilent { self.saySilence() }
            return false
        }
        self.refusedIngest = nil
        self.tape.named(member, epoch: epoch, sent: sent)
        return true
    }

    /// Whether an epoch is so far in the future that it would keep all honest ingests out. Epochs are times, in ms.
    private func isFarAhead(_ epoch: UInt64) -> Bool {
        epoch > UInt64(max(0, (self.context.wallClock() + ClockOffset.furthest) / 1_000_000))
    }
}

extension EdgeMachine.Action {
    fileprivate var frame: ClusterFrame? { if case .deliver(let frame) = self { frame } else { nil } }
}
