package import NIOCore
package import Wire

/// An edge of a cluster as a state machine: which frames of which ingest go onto the tape, in which order, and what is
/// missing. Time is an argument.
///
/// An edge joins by a snapshot, and keeps the frames that come before it. A hole in the frames' numbers is asked for
/// once; what the ingest does not have is a gap. Behind a gap the tape goes on at once, and the edge asks for the
/// state, of which the missing frames may have said something. An ingest with a higher epoch takes over, unless its
/// first frame follows the newest one on the tape; frames of a lower epoch are left out for good, whenever they come.
package struct EdgeMachine: Sendable {
    package struct Settings: Sendable {
        /// The time without a heartbeat or frame after which there is no ingest.
        package var silence: TimeAmount = .milliseconds(1_500)
        /// The limit of an answer.
        package var answer: TimeAmount = .seconds(1)
        /// The time between two requests for a snapshot without an answer.
        package var retry: TimeAmount = .milliseconds(500)
        /// The time after which an ingest that is heard, and whose state has not come, is said not to answer.
        package var patience: TimeAmount = .seconds(2)
        /// The most bytes of frames that wait for an answer.
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
        /// Ask for the state of an ingest with at least this epoch. The answer or its failure names the request.
        case askSnapshot(epoch: UInt64, request: UInt64)
        /// Ask for the frames after this one. The answer or its failure names the request.
        case askHistory(ClusterPosition, request: UInt64)
        /// The tape goes on behind this position; trades before it are not on this tape.
        case begin(ClusterPosition)
        /// The state of the snapshot that has come holds here, and replaces the one before.
        case state
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
        /// Waits for the time of the next request for a snapshot.
        case resting(until: NIODeadline)
        /// Waits for the snapshot.
        case joining(request: UInt64, until: NIODeadline)
        case following
        /// Waits for the frames after the position.
        case filling(request: UInt64, until: NIODeadline)
    }

    /// The way to the state after a gap, while the edge follows.
    private enum Refresh: Sendable {
        case resting(until: NIODeadline)
        case asked(request: UInt64, until: NIODeadline)
    }

    package let settings: Settings
    private var state = State.detached
    /// Where the state is to come from; `nil` if the edge has it.
    private var refresh: Refresh?
    /// The number of the newest request.
    private var requests: UInt64 = 0
    /// The newest frame on the tape; `nil` before the first one.
    package private(set) var position: ClusterPosition?
    /// The highest epoch that has come.
    package private(set) var epoch: UInt64 = 0
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

    package init(settings: Settings = Settings()) { self.settings = settings }

    /// When ``timeReached(now:)`` is due.
    package var deadline: NIODeadline? {
        if case .detached = self.state { return nil }
        let silent = self.quietSince.map { $0 + self.settings.silence }
        let unanswered = self.unsureSince.map { $0 + self.settings.patience }
        let own: NIODeadline? =
            switch self.state {
            case .detached, .following: nil
            case .resting(let until), .joining(_, let until), .filling(_, let until): until
            }
        let state: NIODeadline? =
            switch self.refresh {
            case nil: nil
            case .resting(let until), .asked(_, let until): until
            }
        return [silent, unanswered, own, state].compactMap(\.self).min()
    }

    // MARK: Connection

    /// NATS is connected, and the subscriptions are made.
    package mutating func connected(now: NIODeadline) -> [Action] {
        guard case .detached = self.state else { return [] }
        self.quietSince = now
        if self.refresh != nil { self.refresh = .resting(until: now + self.settings.retry) }
        return self.ask(now: now)
    }

    /// NATS is no longer connected.
    package mutating func disconnected() {
        if case .detached = self.state { return }
        self.state = .detached
        self.forgetWaiting()
        self.quietSince = nil
        self.notPresent()
    }

    /// Asks for what follows the position, or for a snapshot.
    private mutating func ask(now: NIODeadline) -> [Action] {
        if let position, position.epoch == self.epoch { return [self.askHistory(position, now: now)] }
        return [self.join(now: now)]
    }

    private mutating func askHistory(_ position: ClusterPosition, now: NIODeadline) -> Action {
        self.requests += 1
        self.state = .filling(request: self.requests, until: now + self.settings.answer)
        return .askHistory(position, request: self.requests)
    }

    private mutating func join(now: NIODeadline) -> Action {
        self.requests += 1
        self.state = .joining(request: self.requests, until: now + self.settings.answer)
        return .askSnapshot(epoch: self.epoch, request: self.requests)
    }

    /// Asks for the state, while the tape goes on.
    private mutating func askState(now: NIODeadline) -> Action {
        self.requests += 1
        self.refresh = .asked(request: self.requests, until: now + self.settings.answer)
        return .askSnapshot(epoch: self.epoch, request: self.requests)
    }

    // MARK: Ingest

    /// A heartbeat has come.
    package mutating func received(_ beat: ClusterBeat, now: NIODeadline) -> [Action] {
        if case .detached = self.state { return [] }  // late: the connection has ended
        guard self.heard(beat.position.epoch, now: now) else { return [] }
        guard case .following = self.state, let position else { return [] }
        if position.epoch < beat.position.epoch { return self.presenting(self.takeOver(now: now)) }
        // NATS keeps the order of one sender, so the frames before a heartbeat do not come any more.
        if position.frame < beat.position.frame { return [self.askHistory(position, now: now)] }
        return self.presenting([])
    }

    /// A frame has come.
    package mutating func received(_ frame: ClusterFrame, now: NIODeadline) -> [Action] {
        if case .detached = self.state { return [] }  // late: the connection has ended
        guard self.heard(frame.position.epoch, now: now) else {
            self.refused += 1
            return []
        }
        switch self.state {
        case .detached, .resting: return []
        case .joining: return self.keep(frame, now: now)
        case .filling:
            // Another ingest does not have the missing frames.
            guard let position, position.epoch < frame.position.epoch, frame.position.frame == 1,
                frame.predecessor?.epoch != position.epoch
            else { return self.presenting(self.keep(frame, now: now)) }
            _ = self.keep(frame, now: now)
            return self.presenting(self.takeOver(now: now))
        case .following:
            guard let position else { return [] }
            if Self.follows(frame, position) { return self.presenting(self.take(frame)) }
            if position.epoch == frame.position.epoch {
                if frame.position.frame <= position.frame { return self.presenting([]) }  // late: it is on the tape
            } else if frame.predecessor?.epoch != position.epoch {
                _ = self.keep(frame, now: now)
                return self.presenting(self.takeOver(now: now))
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
    private mutating func heard(_ epoch: UInt64, now: NIODeadline) -> Bool {
        guard epoch >= self.epoch else { return false }
        if epoch > self.epoch {
            self.epoch = epoch
            // What an earlier ingest sent after the newest frame cannot be told from what it never sent.
            self.forgetWaiting()
        }
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

    private mutating func notPresent() {
        self.isPresent = false
        self.isUnanswered = false
        self.unsureSince = nil
    }

    // MARK: Answers

    /// The ingest has answered with its newest position; the answer's state belongs there.
    package mutating func answered(
        snapshot position: ClusterPosition,
        request: UInt64,
        now: NIODeadline
    ) -> [Action] {
        if case .asked(request, _) = self.refresh {
            // The state is that of the newest frame on the tape, or else is asked for again.
            guard case .following = self.state, self.position == position else {
                self.refresh = .resting(until: now + self.settings.retry)
                return []
            }
            self.refresh = nil
            return self.presenting([.state])
        }
        guard case .joining(request, _) = self.state, self.heard(position.epoch, now: now) else { return [] }
        if let own = self.position, own.epoch < position.epoch { return self.presenting(self.takeOver(now: now)) }
        let isFirst = self.position == nil
        self.position = position
        self.refresh = nil
        self.state = .following
        self.waiting.removeAll { $0.position.frame <= position.frame }
        let actions: [Action] = [.begin(position)] + (isFirst ? [] : [.gap(.behind)]) + [.state]
        return self.presenting(actions + self.deliverWaiting(now: now, mayAsk: true))
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
            if frame.position.epoch > self.epoch { _ = self.heard(frame.position.epoch, now: now) }
            actions += self.take(frame)
        }
        if let position, position.epoch == self.epoch { _ = self.heard(position.epoch, now: now) }
        return self.presenting(actions + self.deliverWaiting(now: now, mayAsk: !actions.isEmpty))
    }

    /// A request was refused, or had no answer.
    package mutating func failed(request: UInt64, now: NIODeadline) -> [Action] {
        if case .asked(request, _) = self.refresh { self.refresh = .resting(until: now + self.settings.retry) }
        switch self.state {
        case .joining(request, _):
            self.state = .resting(until: now + self.settings.retry)
            return []
        case .filling(request, _): return self.presenting(self.giveUp(.framesLost, now: now))
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
        return actions
    }

    /// Goes on without the missing frames.
    private mutating func giveUp(_ hole: Hole, now: NIODeadline) -> [Action] {
        if let position, position.epoch < self.epoch, self.waiting.first?.predecessor?.epoch != position.epoch {
            return self.takeOver(now: now)
        }
        // The missing frames may have said something of the state.
        self.isPresent = false
        if !self.isUnanswered, self.unsureSince == nil { self.unsureSince = now }
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
        guard case .filling = self.state else {
            // The snapshot is late; the newest frames suffice.
            self.forgetWaiting()
            return []
        }
        return self.giveUp(.tooManyWaiting, now: now)
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
        case .resting(let until) where until <= now: actions.append(self.askState(now: now))
        case .asked(let request, let until) where until <= now: actions += self.failed(request: request, now: now)
        case nil, .resting, .asked: break
        }
        return actions
    }
}
