import Market
package import NIOCore
package import Wire

/// An edge of a cluster as a state machine: which frames of which ingest go onto the tape, in which order, and what is
/// missing. Time is an argument.
///
/// An edge joins by a snapshot, and keeps the frames that come before it. A hole in the frames' numbers is asked for,
/// also again while no answer comes and the ingest may still have the frames; what it does not have is a gap. Behind a
/// gap the tape goes on at once, and the edge asks for the state, of which the missing frames may have said something.
/// An ingest with a higher epoch takes over, unless its epoch follows the one on the tape; frames of a lower epoch are
/// left out for good, whenever they come.
package struct EdgeMachine: Sendable {
    package struct Settings: Sendable {
        /// The time without a heartbeat or frame after which there is no ingest.
        package var silence: TimeAmount = .milliseconds(1_500)
        /// The limit of an answer.
        package var answer: TimeAmount = .seconds(1)
        /// The mean time between two requests without an answer.
        package var retry: TimeAmount = .milliseconds(500)
        /// The part of that time by which it differs, 0 to 1, so that many edges do not ask in step. An edge with a new
        /// connection waits for as much at most.
        package var jitter = 0.5
        /// How long an ingest is asked for the frames behind the newest one on the tape.
        package var span = ClusterHistoryRequest.span
        /// The time after which an ingest that is heard, and whose state has not come, is said not to answer.
        package var patience: TimeAmount = .seconds(2)
        /// The most bytes of frames that wait for an answer, and of the parts of a snapshot.
        package var maximumWaitingBytes = 8 << 20

        package init() {}
    }

    /// Why trades may be missing before the next frame.
    package enum Hole: Sendable, Equatable {
        /// The ingest no longer has the frames, or has not answered.
        case framesLost
        /// Too many frames came before the answer.
        case tooManyWaiting
        /// Another ingest has taken over.
        case takenOver
        /// The edge was without frames for longer than the ingest keeps them.
        case behind
    }

    package enum Action: Sendable, Equatable {
        /// Ask for the state of an ingest. The answer or its failure names the request.
        case askSnapshot(ClusterSnapshotRequest, request: UInt64)
        /// Ask for the frames after this one. The answer or its failure names the request.
        case askHistory(ClusterPosition, request: UInt64)
        /// The tape goes on behind this position; trades before it are not on this tape.
        case begin(ClusterPosition)
        /// This state holds here, and replaces the one before.
        case state(ClusterSnapshot)
        /// Trades may be missing here, since the last frame.
        case gap(Hole)
        case deliver(ClusterFrame)
        /// The edge follows an ingest, and has its state.
        case present
        /// No ingest has sent anything for ``Settings/silence``.
        case silent
        /// An ingest is heard, but has not answered for ``Settings/patience``.
        case unanswered
    }

    private enum State: Sendable {
        /// Without a connection to NATS.
        case detached
        /// Waits for the time of the next request.
        case resting(until: NIODeadline)
        /// Waits for a part of the snapshot.
        case joining(request: UInt64, until: NIODeadline)
        case following
        /// Waits for the frames after the position.
        case filling(request: UInt64, until: NIODeadline)
    }

    /// The way to the state after a gap, while the edge follows: the part behind a symbol is next.
    private enum Refresh: Sendable {
        case resting(until: NIODeadline, after: String?)
        case asked(request: UInt64, until: NIODeadline, after: String?)
    }

    package let settings: Settings
    private var state = State.detached
    /// Where the state is to come from; `nil` if the edge has it.
    private var refresh: Refresh?
    /// The parts of the snapshot that have come.
    private var parts: [ClusterSnapshot] = []
    private var generator: SeededGenerator
    /// The number of the newest request.
    private var requests: UInt64 = 0
    /// The newest frame on the tape; `nil` before the first one.
    package private(set) var position: ClusterPosition?
    /// The highest epoch that has come.
    package private(set) var epoch: UInt64 = 0
    /// The epoch of the same ingest before ``epoch``; `nil` if it has named none.
    private var epochBefore: UInt64?
    /// When nothing was missing behind the position for the last time.
    private var completeAt = NIODeadline.distantPast
    /// The frames that wait for an answer, by number, all of ``epoch``.
    private var waiting: [ClusterFrame] = []
    private var waitingBytes = 0
    /// When the silence of all ingests began: with the connection, or with the newest frame or heartbeat of ``epoch``;
    /// `nil` after ``Action/silent``.
    private var quietSince: NIODeadline?
    /// Whether the edge follows an ingest that is heard, and has its state.
    package private(set) var isPresent = false
    /// Since when an ingest is heard that the edge does not follow; `nil` without one, and after ``Action/unanswered``.
    private var unsureSince: NIODeadline?
    private var isUnanswered = false
    /// The frames of a lower epoch that were left out.
    package private(set) var refused: UInt64 = 0

    /// - Parameter seed: of the times between requests.
    package init(settings: Settings = Settings(), seed: UInt64 = 0) {
        self.settings = settings
        self.generator = SeededGenerator(seed: seed)
    }

    /// When ``timeReached(now:)`` is due.
    package var deadline: NIODeadline? {
        let silent = self.quietSince.map { $0 + self.settings.silence }
        if case .detached = self.state { return silent }
        let unanswered = self.unsureSince.map { $0 + self.settings.patience }
        let own: NIODeadline? =
            switch self.state {
            case .detached, .following: nil
            case .resting(let until), .joining(_, let until), .filling(_, let until): until
            }
        let state: NIODeadline? =
            switch self.refresh {
            case nil: nil
            case .resting(let until, _), .asked(_, let until, _): until
            }
        return [silent, unanswered, own, state].compactMap(\.self).min()
    }

    // MARK: Connection

    /// NATS is connected, and the subscriptions are made.
    package mutating func connected(now: NIODeadline) -> [Action] {
        guard case .detached = self.state else { return [] }
        // The way to another server is a part of the silence. Two heartbeats have time to come.
        let earliest = now + ClusterBeat.interval + ClusterBeat.interval - self.settings.silence
        self.quietSince = max(self.quietSince ?? now, earliest)
        if self.refresh != nil { self.refresh = .resting(until: now + self.settings.retry, after: nil) }
        // All edges of a server that was started again have a new connection.
        let wait = self.position == nil ? .zero : self.part(self.settings.jitter)
        guard wait > .zero else { return self.ask(now: now) }
        self.state = .resting(until: now + wait)
        return []
    }

    /// Returns a random part of the time between two requests, up to a limit.
    private mutating func part(_ limit: Double) -> TimeAmount {
        let chance = Double(self.generator.next() >> 11) * 0x1p-53
        return .nanoseconds(Int64(Double(self.settings.retry.nanoseconds) * limit * chance))
    }

    /// Returns the time of the next request after one without an answer.
    private mutating func next(after now: NIODeadline) -> NIODeadline {
        let least = Int64(Double(self.settings.retry.nanoseconds) * (1 - self.settings.jitter))
        return now + .nanoseconds(least) + self.part(2 * self.settings.jitter)
    }

    /// NATS is not connected, or no longer.
    ///
    /// - Parameter now: when the silence begins, unless it has begun; `nil` if it is known.
    package mutating func disconnected(now: NIODeadline? = nil) {
        self.quietSince = now.map { self.quietSince ?? $0 }
        if case .detached = self.state { return }
        self.state = .detached
        self.forgetWaiting()
        self.notPresent()
    }

    /// Goes on behind a position of this program's own frames: it was the ingest itself. NATS is not connected.
    package mutating func ledUntil(_ position: ClusterPosition) {
        self.disconnected()
        self.position = position
        self.epoch = max(self.epoch, position.epoch)
        self.refresh = nil
    }

    /// Asks for what follows the position, or for a snapshot.
    private mutating func ask(now: NIODeadline) -> [Action] {
        if let position, self.continues(position) { return [self.askHistory(position, now: now)] }
        return [self.join(now: now)]
    }

    /// Whether the newest ingest can have the frames behind a position.
    private func continues(_ position: ClusterPosition) -> Bool {
        position.epoch == self.epoch || position.epoch == self.epochBefore
    }

    private mutating func askHistory(_ position: ClusterPosition, now: NIODeadline) -> Action {
        self.requests += 1
        self.state = .filling(request: self.requests, until: now + self.settings.answer)
        return .askHistory(position, request: self.requests)
    }

    private mutating func join(now: NIODeadline) -> Action {
        self.parts = []
        return self.joinNext(now: now)
    }

    /// Asks for the next part of the snapshot.
    private mutating func joinNext(now: NIODeadline) -> Action {
        self.requests += 1
        self.state = .joining(request: self.requests, until: now + self.settings.answer)
        let request = ClusterSnapshotRequest(epoch: self.epoch, after: self.parts.last?.upTo)
        return .askSnapshot(request, request: self.requests)
    }

    /// Asks for the state behind a symbol, while the tape goes on.
    private mutating func askState(after symbol: String? = nil, now: NIODeadline) -> Action {
        self.requests += 1
        self.refresh = .asked(request: self.requests, until: now + self.settings.answer, after: symbol)
        return .askSnapshot(ClusterSnapshotRequest(epoch: self.epoch, after: symbol), request: self.requests)
    }

    /// A person wants the state anew.
    package mutating func renewed(now: NIODeadline) -> [Action] {
        guard case .following = self.state, self.refresh == nil else { return [] }
        return [self.askState(now: now)]
    }

    // MARK: Ingest

    /// A heartbeat has come.
    package mutating func received(_ beat: ClusterBeat, now: NIODeadline) -> [Action] {
        if case .detached = self.state { return [] }  // late: the connection has ended
        guard self.heard(beat.position.epoch, after: beat.predecessor, now: now) else { return [] }
        guard case .following = self.state, let position else { return [] }
        guard self.continues(position) else { return self.presenting(self.takeOver(now: now)) }
        // NATS keeps the order of one sender, so the frames before a heartbeat do not come any more.
        if position.epoch < beat.position.epoch || position.frame < beat.position.frame {
            return [self.askHistory(position, now: now)]
        }
        self.completeAt = now
        return self.presenting([])
    }

    /// A frame has come.
    package mutating func received(_ frame: ClusterFrame, now: NIODeadline) -> [Action] {
        if case .detached = self.state { return [] }  // late: the connection has ended
        guard self.heard(frame.position.epoch, after: frame.predecessor, now: now) else {
            self.refused += 1
            return []
        }
        switch self.state {
        case .detached: return []
        case .joining: return self.keep(frame, now: now)
        case .resting, .filling:
            // Another ingest does not have the missing frames.
            guard let position, !self.continues(position), frame.position.frame == 1 else {
                return self.presenting(self.keep(frame, now: now))
            }
            _ = self.keep(frame, now: now)
            return self.presenting(self.takeOver(now: now))
        case .following:
            guard let position else { return [] }
            if Self.follows(frame, position) {
                self.completeAt = now
                return self.presenting(self.take(frame))
            }
            guard self.continues(position) else {
                _ = self.keep(frame, now: now)
                return self.presenting(self.takeOver(now: now))
            }
            if position.epoch == frame.position.epoch, frame.position.frame <= position.frame {
                return self.presenting([])  // late: it is on the tape
            }
            _ = self.keep(frame, now: now)
            return [self.askHistory(position, now: now)]
        }
    }

    /// Whether a frame is the next one behind a position.
    private static func follows(_ frame: ClusterFrame, _ position: ClusterPosition) -> Bool {
        if frame.position.epoch == position.epoch { return frame.position.frame == position.frame + 1 }
        return frame.position.frame == 1 && frame.predecessor == position
    }

    /// Notes a sign of life; returns whether it is of the newest ingest.
    private mutating func heard(_ epoch: UInt64, after predecessor: ClusterPosition? = nil, now: NIODeadline) -> Bool {
        guard epoch >= self.epoch else { return false }
        if epoch > self.epoch {
            self.epoch = epoch
            self.epochBefore = nil
            // What an earlier ingest sent after the newest frame cannot be distinguished from what it never sent.
            self.forgetWaiting()
        }
        if let predecessor { self.epochBefore = predecessor.epoch }
        self.quietSince = now
        if !self.isPresent, !self.isUnanswered, self.unsureSince == nil { self.unsureSince = now }
        return true
    }

    /// Follows an ingest with a higher epoch, from its first frame on if it still has that.
    private mutating func takeOver(now: NIODeadline) -> [Action] {
        let start = ClusterPosition(epoch: self.epoch, frame: 0, sequence: 0)
        self.position = start
        self.refresh = nil
        self.notPresent()
        self.unsureSince = now
        let actions: [Action] = [.begin(start), .gap(.takenOver)]
        if self.waiting.first?.position.frame == 1 { return actions + self.deliverWaiting(now: now) }
        return actions + [self.askHistory(start, now: now)]
    }

    /// Puts the next frame onto the tape.
    private mutating func take(_ frame: ClusterFrame) -> [Action] {
        let isRenewed = self.position?.epoch != frame.position.epoch
        self.position = frame.position
        guard isRenewed else { return [.deliver(frame)] }
        let start = ClusterPosition(epoch: frame.position.epoch, frame: 0, sequence: frame.sequenceBefore)
        return [.begin(start), .deliver(frame)]
    }

    // MARK: Presence

    /// Returns the actions, and that the ingest is present if the edge has begun to follow it with them.
    private mutating func presenting(_ actions: [Action]) -> [Action] {
        guard !self.isPresent, self.quietSince != nil, self.refresh == nil, case .following = self.state,
            self.position?.epoch == self.epoch
        else { return actions }
        self.isPresent = true
        self.isUnanswered = false
        self.unsureSince = nil
        return actions + [.present]
    }

    /// Notes that the ingest may have said something that has not come.
    private mutating func doubt(now: NIODeadline) {
        self.isPresent = false
        if !self.isUnanswered, self.unsureSince == nil { self.unsureSince = now }
    }

    private mutating func notPresent() {
        self.isPresent = false
        self.isUnanswered = false
        self.unsureSince = nil
    }

    // MARK: Answers

    /// The ingest has answered with its newest position; the answer's state belongs there.
    package mutating func answered(
        _ snapshot: ClusterSnapshot,
        request: UInt64,
        now: NIODeadline
    ) -> [Action] {
        if case .asked(request, _, let symbol) = self.refresh {
            // The state is that of the newest frame on the tape, or else is asked for again.
            guard case .following = self.state, self.position == snapshot.position, snapshot.after == symbol else {
                self.refresh = .resting(until: self.next(after: now), after: symbol)
                return []
            }
            self.refresh = nil
            guard let last = snapshot.upTo else { return self.presenting([.state(snapshot)]) }
            return [.state(snapshot), self.askState(after: last, now: now)]
        }
        guard case .joining(request, _) = self.state, self.heard(snapshot.position.epoch, now: now) else { return [] }
        if let position, position.epoch < snapshot.position.epoch { return self.presenting(self.takeOver(now: now)) }
        guard self.take(snapshot), let first = self.parts.first else {
            self.state = .resting(until: self.next(after: now))
            return []
        }
        if snapshot.upTo != nil { return [self.joinNext(now: now)] }
        let isFirst = self.position == nil
        self.position = first.position
        self.refresh = nil
        self.waiting.removeAll { $0.position.frame <= first.position.frame }
        let actions: [Action] = [.begin(first.position)] + (isFirst ? [] : [.gap(.behind)])
        let states = self.parts.map { Action.state($0) }
        self.parts = []
        return self.presenting(actions + states + self.deliverWaiting(now: now, mayAsk: true))
    }

    /// Keeps the next part of a snapshot; returns whether it is that.
    private mutating func take(_ snapshot: ClusterSnapshot) -> Bool {
        guard snapshot.after == self.parts.last?.upTo,
            self.parts.allSatisfy({ $0.position.epoch == snapshot.position.epoch }),
            self.parts.reduce(0, { $0 + $1.lines.readableBytes }) < self.settings.maximumWaitingBytes
        else { return false }
        self.parts.append(snapshot)
        return true
    }

    /// The ingest has answered with the frames after the position.
    package mutating func answered(
        _ history: ClusterHistoryAnswer,
        request: UInt64,
        now: NIODeadline
    ) -> [Action] {
        guard case .filling(request, _) = self.state, self.position != nil else { return [] }  // late
        guard history.isComplete else { return self.presenting(self.giveUp(.framesLost, now: now)) }
        var actions: [Action] = []
        for frame in history.frames {
            guard let position, Self.follows(frame, position) else { continue }
            if frame.position.epoch > self.epoch {
                _ = self.heard(frame.position.epoch, after: frame.predecessor, now: now)
            }
            actions += self.take(frame)
        }
        if let position, position.epoch == self.epoch { _ = self.heard(position.epoch, now: now) }
        // One answer has not all, and what it has is old.
        if let position, let newest = history.newest, position != newest, !actions.isEmpty, self.waiting.isEmpty {
            return actions + [self.askHistory(position, now: now)]
        }
        return self.presenting(actions + self.deliverWaiting(now: now, mayAsk: !actions.isEmpty))
    }

    /// A request was refused, or had no answer.
    ///
    /// - Parameter isFinal: whether a further request would be refused, too.
    package mutating func failed(request: UInt64, isFinal: Bool = false, now: NIODeadline) -> [Action] {
        if case .asked(request, _, let symbol) = self.refresh {
            self.refresh = .resting(until: self.next(after: now), after: symbol)
        }
        switch self.state {
        case .joining(request, _):
            self.state = .resting(until: self.next(after: now))
            return []
        case .filling(request, _):
            guard let position, self.continues(position), !isFinal, now < self.completeAt + self.settings.span else {
                return self.presenting(self.giveUp(.framesLost, now: now))
            }
            self.doubt(now: now)
            self.state = .resting(until: self.next(after: now))
            return []
        case .detached, .resting, .following, .joining, .filling: return []  // late
        }
    }

    /// Puts the frames that wait onto the tape up to the first hole, which is asked for.
    ///
    /// - Parameter mayAsk: whether a hole before the first of them may be asked for. A second request without any
    ///   progress would go on for ever.
    private mutating func deliverWaiting(now: NIODeadline, mayAsk: Bool = false) -> [Action] {
        var actions: [Action] = []
        let waiting = self.waiting
        self.forgetWaiting()
        self.state = .following
        for (index, frame) in waiting.enumerated() {
            guard let position else { continue }
            if Self.follows(frame, position) {
                actions += self.take(frame)
                continue
            }
            if frame.position.epoch == position.epoch, frame.position.frame <= position.frame { continue }
            for left in waiting[index...] { _ = self.keep(left, now: now) }
            if !mayAsk, actions.isEmpty { return self.giveUp(.framesLost, now: now) }
            return actions + [self.askHistory(position, now: now)]
        }
        self.completeAt = now
        return actions
    }

    /// Goes on without the missing frames.
    private mutating func giveUp(_ hole: Hole, now: NIODeadline) -> [Action] {
        if let position, !self.continues(position) { return self.takeOver(now: now) }
        // The missing frames may have said something of the state.
        self.doubt(now: now)
        guard let first = self.waiting.first else {
            // Nothing shows where the tape goes on.
            return [self.join(now: now)]
        }
        let start = ClusterPosition(
            epoch: first.position.epoch,
            frame: first.position.frame - 1,
            sequence: first.sequenceBefore
        )
        self.position = start
        let actions: [Action] = [.begin(start), .gap(hole)] + self.deliverWaiting(now: now)
        return actions + [self.askState(now: now)]
    }

    // MARK: Frames that wait

    private mutating func keep(_ frame: ClusterFrame, now: NIODeadline) -> [Action] {
        if let last = self.waiting.last, last.position.frame >= frame.position.frame { return [] }
        self.waiting.append(frame)
        self.waitingBytes += frame.lines.readableBytes
        guard self.waitingBytes > self.settings.maximumWaitingBytes else { return [] }
        switch self.state {
        case .resting, .filling:
            if let position, self.continues(position) { return self.giveUp(.tooManyWaiting, now: now) }
            fallthrough
        case .detached, .joining, .following:
            // The snapshot is late; the newest frames suffice.
            self.forgetWaiting()
            return []
        }
    }

    private mutating func forgetWaiting() {
        self.waiting = []
        self.waitingBytes = 0
    }

    // MARK: Time

    package mutating func timeReached(now: NIODeadline) -> [Action] {
        var actions: [Action] = []
        if let quietSince, quietSince + self.settings.silence <= now {
            self.quietSince = nil
            self.notPresent()
            actions.append(.silent)
        }
        if case .detached = self.state { return actions }
        if let unsureSince, unsureSince + self.settings.patience <= now {
            self.unsureSince = nil
            self.isUnanswered = true
            actions.append(.unanswered)
        }
        switch self.state {
        case .detached, .following: break
        case .resting(let until) where until <= now: actions += self.ask(now: now)
        case .joining(let request, let until) where until <= now, .filling(let request, let until) where until <= now:
            actions += self.failed(request: request, now: now)
        case .resting, .joining, .filling: break
        }
        switch self.refresh {
        case .resting(let until, let symbol) where until <= now:
            actions.append(self.askState(after: symbol, now: now))
        case .asked(let request, let until, _) where until <= now: actions += self.failed(request: request, now: now)
        case nil, .resting, .asked: break
        }
        return actions
    }
}
