package import NIOCore
package import Wire

/// An edge of a cluster as a state machine: which frames of which ingest go onto the tape, in which order, and what is
/// missing. Time is an argument.
///
/// An edge joins by a snapshot, and keeps the frames that come before it. A hole in the frames' numbers is asked for
/// once; what the ingest does not have is a gap. An ingest with a higher epoch takes over; frames of a lower one are
/// left out for good, whenever they come.
package struct EdgeMachine: Sendable {
    package struct Settings: Sendable {
        /// The time without a heartbeat or frame after which there is no ingest.
        package var silence: TimeAmount = .milliseconds(1_500)
        /// The limit of an answer.
        package var answer: TimeAmount = .seconds(1)
        /// The time between two requests for a snapshot without an answer.
        package var retry: TimeAmount = .milliseconds(500)
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
        /// Ask for the state of an ingest with at least this epoch.
        case askSnapshot(epoch: UInt64)
        /// Ask for the frames after this one.
        case askHistory(ClusterPosition)
        /// The tape goes on behind this position; trades before it are not on this tape.
        case begin(ClusterPosition)
        /// Trades may be missing here, since the last frame.
        case gap(Hole)
        case deliver(ClusterFrame)
        /// An ingest sends frames.
        case present
        /// No ingest has sent anything for ``Settings/silence``.
        case silent
    }

    private enum State: Sendable {
        /// Without a connection to NATS.
        case detached
        /// Waits for the time of the next request for a snapshot.
        case resting(until: NIODeadline)
        /// Waits for the snapshot.
        case joining(until: NIODeadline)
        case following
        /// Waits for the frames after the position.
        case filling(until: NIODeadline)
    }

    package let settings: Settings
    private var state = State.detached
    /// The newest frame on the tape; `nil` before the first one.
    package private(set) var position: ClusterPosition?
    /// The highest epoch that has come.
    package private(set) var epoch: UInt64 = 0
    /// The frames that wait for an answer, by number, all of ``epoch``.
    private var waiting: [ClusterFrame] = []
    private var waitingBytes = 0
    /// When the newest frame or heartbeat of ``epoch`` came; `nil` while there is no ingest.
    private var heardAt: NIODeadline?
    /// The frames of a lower epoch that were left out.
    package private(set) var refused: UInt64 = 0

    package init(settings: Settings = Settings()) { self.settings = settings }

    /// When ``timeReached(now:)`` is due.
    package var deadline: NIODeadline? {
        let silent = self.heardAt.map { $0 + self.settings.silence }
        let own: NIODeadline? =
            switch self.state {
            case .detached, .following: nil
            case .resting(let until), .joining(let until), .filling(let until): until
            }
        return [silent, own].compactMap(\.self).min()
    }

    // MARK: Connection

    /// NATS is connected, and the subscriptions are made.
    package mutating func connected(now: NIODeadline) -> [Action] {
        guard case .detached = self.state else { return [] }
        return self.ask(now: now)
    }

    /// NATS is no longer connected.
    package mutating func disconnected() -> [Action] {
        if case .detached = self.state { return [] }
        self.state = .detached
        self.forgetWaiting()
        defer { self.heardAt = nil }
        return self.heardAt == nil ? [] : [.silent]
    }

    /// Asks for what follows the position, or for a snapshot.
    private mutating func ask(now: NIODeadline) -> [Action] {
        if let position, position.epoch == self.epoch {
            self.state = .filling(until: now + self.settings.answer)
            return [.askHistory(position)]
        }
        self.state = .joining(until: now + self.settings.answer)
        return [.askSnapshot(epoch: self.epoch)]
    }

    // MARK: Ingest

    /// A heartbeat has come.
    package mutating func received(_ beat: ClusterBeat, now: NIODeadline) -> [Action] {
        if case .detached = self.state { return [] }  // late: the connection has ended
        guard let heard = self.heard(beat.position.epoch, now: now) else { return [] }
        guard case .following = self.state, let position else { return heard }
        if position.epoch < beat.position.epoch { return self.takeOver(now: now) + heard }
        // NATS keeps the order of one sender, so the frames before a heartbeat do not come any more.
        guard position.frame < beat.position.frame else { return heard }
        self.state = .filling(until: now + self.settings.answer)
        return heard + [.askHistory(position)]
    }

    /// A frame has come.
    package mutating func received(_ frame: ClusterFrame, now: NIODeadline) -> [Action] {
        if case .detached = self.state { return [] }  // late: the connection has ended
        guard let heard = self.heard(frame.position.epoch, now: now) else {
            self.refused += 1
            return []
        }
        switch self.state {
        case .detached, .resting: return heard
        case .joining, .filling: return heard + self.keep(frame, now: now)
        case .following:
            guard let position, position.epoch == frame.position.epoch else {
                _ = self.keep(frame, now: now)
                return self.takeOver(now: now) + heard
            }
            if frame.position.frame <= position.frame { return heard }  // late: it is on the tape
            if frame.position.frame == position.frame + 1 { return heard + [self.deliver(frame)] }
            _ = self.keep(frame, now: now)
            self.state = .filling(until: now + self.settings.answer)
            return heard + [.askHistory(position)]
        }
    }

    /// Notes a sign of life; `nil` if it is of an ingest that another one has replaced.
    private mutating func heard(_ epoch: UInt64, now: NIODeadline) -> [Action]? {
        guard epoch >= self.epoch else { return nil }
        if epoch > self.epoch {
            self.epoch = epoch
            // What an earlier ingest sent after the newest frame cannot be told from what it never sent.
            self.forgetWaiting()
            if case .filling = self.state { self.state = .following }
        }
        defer { self.heardAt = now }
        return self.heardAt == nil ? [.present] : []
    }

    /// Follows an ingest with a higher epoch, from its first frame on if it still has that.
    private mutating func takeOver(now: NIODeadline) -> [Action] {
        let start = ClusterPosition(epoch: self.epoch, frame: 0, sequence: 0)
        self.position = start
        let actions: [Action] = [.begin(start), .gap(.takenOver)]
        if self.waiting.first?.position.frame == 1 { return actions + self.deliverWaiting(now: now) }
        self.state = .filling(until: now + self.settings.answer)
        return actions + [.askHistory(start)]
    }

    private mutating func deliver(_ frame: ClusterFrame) -> Action {
        self.position = frame.position
        return .deliver(frame)
    }

    // MARK: Answers

    /// The ingest has answered with its newest position; the answer's state belongs there.
    package mutating func answered(snapshot position: ClusterPosition, now: NIODeadline) -> [Action] {
        guard case .joining = self.state, let heard = self.heard(position.epoch, now: now) else { return [] }
        let isFirst = self.position == nil
        self.position = position
        self.state = .following
        self.waiting.removeAll { $0.position.frame <= position.frame }
        return heard + [.begin(position)] + (isFirst ? [] : [.gap(.behind)])
            + self.deliverWaiting(now: now, mayAsk: true)
    }

    /// The ingest has answered with the frames after a position.
    package mutating func answered(
        _ history: ClusterHistoryAnswer,
        after asked: ClusterPosition,
        now: NIODeadline
    ) -> [Action] {
        guard case .filling = self.state, let position, asked == position else { return [] }  // late
        let frames = history.frames.filter { $0.position.epoch == position.epoch }
        var actions = self.heard(position.epoch, now: now) ?? []
        guard history.isComplete else { return actions + self.giveUp(.framesLost, now: now) }
        let before = actions.count
        for frame in frames where frame.position.frame > (self.position?.frame ?? 0) {
            guard frame.position.frame == (self.position?.frame ?? 0) + 1 else { break }
            actions.append(self.deliver(frame))
        }
        return actions + self.deliverWaiting(now: now, mayAsk: actions.count > before)
    }

    /// A request was refused, or had no answer.
    package mutating func failed(now: NIODeadline) -> [Action] {
        switch self.state {
        case .detached, .resting, .following: return []  // late
        case .joining:
            self.state = .resting(until: now + self.settings.retry)
            return []
        case .filling: return self.giveUp(.framesLost, now: now)
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
            guard let position, frame.position.frame > position.frame else { continue }
            if frame.position.frame == position.frame + 1 {
                actions.append(self.deliver(frame))
                continue
            }
            for left in waiting[index...] { _ = self.keep(left, now: now) }
            if !mayAsk, actions.isEmpty { return actions + self.giveUp(.framesLost, now: now) }
            self.state = .filling(until: now + self.settings.answer)
            return actions + [.askHistory(position)]
        }
        return actions
    }

    /// Goes on without the missing frames.
    private mutating func giveUp(_ hole: Hole, now: NIODeadline) -> [Action] {
        guard let first = self.waiting.first else {
            // Nothing shows where the tape goes on.
            self.state = .joining(until: now + self.settings.answer)
            return [.askSnapshot(epoch: self.epoch)]
        }
        let start = ClusterPosition(
            epoch: first.position.epoch,
            frame: first.position.frame - 1,
            sequence: first.sequenceBefore
        )
        self.position = start
        return [.begin(start), .gap(hole)] + self.deliverWaiting(now: now)
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
        if let heardAt, heardAt + self.settings.silence <= now {
            self.heardAt = nil
            actions.append(.silent)
        }
        switch self.state {
        case .detached, .following: break
        case .resting(let until) where until <= now: actions += self.ask(now: now)
        case .joining(let until) where until <= now, .filling(let until) where until <= now:
            actions += self.failed(now: now)
        case .resting, .joining, .filling: break
        }
        return actions
    }
}
