import Ingest
import Logging
import Market
import NIOCore
import WebSocket
import Wire

/// What an edge puts onto its tape: an ingest's trades under their numbers, its gaps and states, all times by this
/// program's clock, and the edge's own status while it follows no ingest.
final class EdgeTape {
    private let input: NumberedInput
    private let context: FeedContext
    private let symbols: EdgeSymbols
    private(set) var ingest: (member: String, epoch: UInt64)?
    /// The ingest's wall clock, and the epoch whose messages have shown it.
    private var clock = (epoch: UInt64(0), offset: ClockOffset())
    /// The ingest's status; `nil` before its first one.
    private var reported: FeedStatus?
    /// The edge's own status while it knows no ingest.
    private var own: FeedStatus?
    private(set) var status: FeedStatus
    /// Whether the edge follows the ingest.
    var isPresent = false
    private var takeover: TakeoverGap
    private var hasBegun = false
    /// The newest arrival on the tape, monotonic, ns.
    private var lastArrival: Int64 = 0
    private var allowance = LogAllowance()

    init(_ input: NumberedInput, _ symbols: EdgeSymbols, _ context: FeedContext) {
        self.input = input
        self.symbols = symbols
        self.context = context
        let now = context.wallClock()
        self.takeover = TakeoverGap(complete: TapeCompleteness(now))
        self.status = FeedStatus(source: .live, phase: .connecting, since: now)
    }

    // MARK: Status

    /// Publishes the edge's own status.
    func say(_ phase: FeedStatus.Phase, _ reason: String? = nil, _ cause: FeedStatus.Cause? = nil) {
        var status = self.status
        (status.phase, status.reason, status.cause) = (phase, reason, cause)
        self.own = status
        self.publish()
    }

    /// Publishes the ingest's status in place of the edge's own.
    func follow() {
        self.own = nil
        self.publish()
    }

    private func publish() {
        guard var status = self.own ?? self.reported else { return }
        status.via = self.ingest?.member ?? self.status.via
        status.since = status.word == self.status.word ? self.status.since : self.context.wallClock()
        guard status != self.status else { return }
        self.status = status
        self.input.statusChanged(status)
    }

    // MARK: Ingest

    /// Takes the name of the ingest, and what its clock shows.
    func named(_ member: String, epoch: UInt64, sent: Int64) {
        self.clockShown(by: sent, epoch: epoch)
        let isNew = self.ingest?.member != member
        self.ingest = (member, epoch)
        // Its first frames may have come before its name.
        if isNew { self.publish() }
    }

    /// Another ingest has taken over: what the one before has said of its feed and its symbols is over.
    func takenOver(by epoch: UInt64) {
        self.takeover.begin(named: self.nameOutage(.takenOver))
        self.forget(before: epoch)
        self.say(.connecting, EdgeMachine.Hole.takenOver.words)
        self.symbols.takenOver()
    }

    /// Leaves the tape to this program's own feeds; returns up to when nothing is missing on it.
    func suspend(_ reason: String) -> TapeCompleteness {
        // What is named here is named to this program's own readers only.
        let complete = self.takeover.complete
        self.takeover.begin(named: self.nameOutage(.takenOver))
        self.takeover.end()
        self.forget()
        self.say(.connecting, reason)
        self.symbols.dropUnwanted()
        return complete
    }

    /// Follows an ingest after this program's own feeds, whose status is the newest one of the tape.
    func resume(complete: TapeCompleteness) {
        self.takeover = TakeoverGap(complete: complete)
        self.takeover.complete.changed(to: .stopped, at: self.context.wallClock())
        self.hasBegun = true
        self.forget()
        self.status.phase = .stopped
    }

    /// Forgets the status of an ingest, and its name if it is one of before an epoch.
    private func forget(before epoch: UInt64 = .max) {
        self.reported = nil
        if let ingest, ingest.epoch >= epoch { return }
        self.ingest = nil
        self.status.via = nil
    }

    // MARK: Time

    /// How far the ingest's clock is ahead, ns.
    var ahead: Int64 { self.clock.offset.ahead }

    /// Up to when nothing is missing, monotonic, ns.
    var complete: Int64 { self.monotonic(self.takeover.complete.end) }

    private func monotonic(_ wall: Int64) -> Int64 {
        Int64(self.context.loop.now.uptimeNanoseconds) - (self.context.wallClock() - wall)
    }

    func clockShown(by sent: Int64, epoch: UInt64) {
        // Another ingest has another clock.
        if epoch != self.clock.epoch { self.clock = (epoch, ClockOffset()) }
        self.clock.offset.take(sent: sent, arrived: self.context.wallClock(), now: self.context.loop.now)
    }

    /// Returns the time by this program's clock at which the ingest made a message.
    func arrival(_ sent: Int64) -> Int64 { self.clock.offset.arrival(sent, now: self.context.wallClock()) }

    // MARK: Frames

    /// Goes on behind a position.
    func begin(after position: TapePosition) {
        // What was before the first one is not missing.
        if !self.hasBegun { self.takeover.complete = TapeCompleteness(self.context.wallClock()) }
        self.hasBegun = true
        self.input.begin(after: position)
    }

    /// Takes a state in place of the one before.
    func take(_ snapshot: ClusterSnapshot) {
        self.symbols.replace(where: snapshot.covers) { self.take(lines: snapshot.lines, received: nil) }
        self.keepKnown()
    }

    func deliver(_ frame: ClusterFrame) {
        self.takeover.received(self.arrival(frame.sent))
        self.skip(to: TapePosition(epoch: frame.position.epoch, sequence: frame.sequenceBefore), at: frame.sent)
        self.take(lines: frame.lines, received: frame.sent)
        // A trade that cannot be read must not shift the numbers of all later trades.
        self.skip(to: frame.position.tape, at: frame.sent)
        self.completed(frame.sent)
    }

    /// The tape has all frames up to a heartbeat.
    func reached(_ beat: ClusterBeat) {
        let due = self.takeover.due(hasSymbols: !self.symbols.known.isEmpty)
        if let due { self.endTakeover(at: due) }
        self.completed(beat.sent)
    }

    /// Goes on behind a position, and names a gap, unless the tape has reached the position.
    private func skip(to position: TapePosition, at sent: Int64) {
        let own = self.input.position
        guard position.epoch != own.epoch || position.sequence > own.sequence else { return }
        self.input.begin(after: position)
        self.holeFound(.framesLost, to: self.arrival(sent))
    }

    /// Frames are missing up to a time, and with them perhaps the ingest's own gaps.
    func holeFound(_ hole: EdgeMachine.Hole, to end: Int64) {
        self.nameOutage(hole)
        self.gapFound(hole, to: end)
        self.takeover.complete.lostTrades()
    }

    /// Names the trades as missing that were made up to a time, since nothing was missing.
    private func gapFound(_ hole: EdgeMachine.Hole, to end: Int64) {
        let from = min(self.takeover.complete.proven, end)
        let gap = Gap(from: from, to: end, reason: hole.words, nextSequence: 0, cause: hole.cause)
        self.input.gapFound(gap)
        self.takeover.complete.gapFound(gap)
    }

    /// Names what may be missing of single feeds and symbols, where their own gaps may not come any more.
    ///
    /// - Parameters:
    ///   - symbols: those that it concerns; `nil` for all.
    ///   - end: as for ``TapeCompleteness/takeOutageGaps(of:to:_:)``.
    /// - Returns: the symbols of which something is.
    @discardableResult
    private func nameOutage(
        _ hole: EdgeMachine.Hole,
        of symbols: Set<String>? = nil,
        to end: Int64? = nil
    ) -> Set<String> {
        let gap = Gap(from: 0, to: 0, reason: hole.words, nextSequence: 0, cause: hole.cause)
        let known = symbols.map(self.symbols.known.intersection) ?? self.symbols.known
        let gaps = self.takeover.complete.takeOutageGaps(of: known, to: end, gap)
        for gap in gaps { self.input.gapFound(gap) }
        return Set(gaps.compactMap(\.symbol))
    }

    /// Forgets what was known of symbols to which the ingest does not subscribe, once all that it has are live.
    private func keepKnown() {
        if self.reported?.phase == .live { self.takeover.complete.keep(self.symbols.known) }
    }

    private func endTakeover(at end: Int64, isEarly: Bool = false) {
        guard self.takeover.isOpen else { return }
        self.takeover.end(isEarly: isEarly)
        self.gapFound(.takenOver, to: end)
    }

    /// Notes that nothing is missing on the tape up to a message of the ingest.
    private func completed(_ sent: Int64) {
        self.takeover.passed(self.arrival(sent))
    }

    // MARK: Messages

    /// Takes the messages of a frame or of a state, in their order.
    ///
    /// - Parameter received: when the ingest made the frame, by its clock; `nil` for a state.
    private func take(lines: ByteBuffer, received: Int64?) {
        var lines = lines
        var trades: [ByteBuffer] = []
        while let line = lines.readClusterLine() {
            if StreamMessage.isTrade(line) {
                trades.append(line)
                continue
            }
            self.take(&trades, received: received)
            let arrival = received.map(self.arrival) ?? self.context.wallClock()
            self.take(StreamMessage.parse(line), at: arrival, isOfFrame: received != nil)
        }
        self.take(&trades, received: received)
    }

    private func take(_ trades: inout [ByteBuffer], received: Int64?) {
        guard !trades.isEmpty, let received else { return }
        let arrival = self.arrival(received)
        if self.takeover.isOpen || self.takeover.isEarly {
            let symbols = Set(trades.compactMap(Self.liveSymbol))
            let isEarly = self.reported?.phase.isConnected != true
            if !symbols.isEmpty { self.endTakeover(at: arrival, isEarly: isEarly) }
            // The feed of such a symbol may have had no connection until now.
            if isEarly { self.nameOutage(.takenOver, of: symbols, to: arrival) }
        }
        // The ages on an edge count from the ingest's arrival, and arrivals are in the tape's order.
        self.lastArrival = max(self.lastArrival, self.monotonic(arrival))
        let batch = self.input.take(
            trades,
            received: arrival,
            now: self.lastArrival,
            mayRepeat: self.takeover.mayRepeat
        )
        self.takeover.complete.read(batch, at: arrival)
        let leftOut = trades.count - batch.trades.count
        let now = Int64(self.context.loop.now.uptimeNanoseconds)
        if leftOut > 0, let others = self.allowance.wanted(now: now) {
            self.context.logger.warning(
                "The ingest has sent trades that cannot be read, or whose numbers do not follow",
                metadata: ["count": "\(leftOut)", "others": "\(others)"]
            )
        }
        trades = []
    }

    /// Returns the symbol of a trade that says something of the connection; `nil` of another one.
    private static func liveSymbol(_ message: ByteBuffer) -> String? {
        guard case .trade(let trade) = StreamMessage.parse(message), !trade.isFilled else { return nil }
        return trade.symbol
    }

    /// Takes a message of the ingest, whose times are by its clock.
    ///
    /// - Parameters:
    ///   - arrival: when the ingest made it, by this program's clock.
    ///   - isOfFrame: whether it is a frame's, and not a state's.
    private func take(_ message: StreamMessage, at arrival: Int64, isOfFrame: Bool) {
        let offset = self.clock.offset
        switch message {
        case .status(var status):
            status.phase = offset.shift(status.phase)
            // What came since the takeover was of other feeds.
            if status.phase.isConnected, self.takeover.isEarly { self.nameOutage(.takenOver, to: arrival) }
            self.takeover.changed(to: status.phase, at: arrival)
            self.reported = status
            // A state has its symbols behind the status.
            if isOfFrame { self.keepKnown() }
            if self.isPresent { self.own = nil }
            self.publish()
        case .gap(var gap):
            (gap.from, gap.to) = (offset.shift(gap.from), offset.shift(gap.to))
            self.takeover.take(&gap)
            self.input.gapFound(gap)
        case .settled(var outcome):
            (outcome.from, outcome.to) = (offset.shift(outcome.from), offset.shift(outcome.to))
            self.input.gapSettled(outcome)
        case .venueDay(var day):
            guard self.symbols.admits(day.symbol) else { return }
            day.received = self.arrival(day.received)
            self.input.dayChanged(day)
        case .symbol(var status):
            guard self.symbols.admits(status.symbol) else { return }
            status.since = self.arrival(status.since)
            self.takeover.complete.subscribed(status.symbol, at: arrival)
            if case .refused(let refusal, let retryAt) = status.state {
                status.state = .refused(refusal, retryAt: offset.shift(retryAt))
            }
            self.symbols.changed(status)
        case .released(let symbol, _):
            self.takeover.complete.released(symbol)
            self.symbols.dropped([symbol])
        case .hello, .snapshot, .price, .trades, .trade, .resumed, .replay, .error, .unknown, .malformed: break
        }
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

extension EdgeMachine.Hole {
    var words: String {
        switch self {
        case .framesLost: "frames of the cluster were lost, and the ingest no longer has them"
        case .tooManyWaiting: "too many frames of the cluster came while others were missing"
        case .takenOver: "another ingest has taken over"
        case .behind: "this edge was without the cluster for longer than the ingest keeps frames"
        }
    }

    fileprivate var cause: FeedStatus.Cause { self == .takenOver ? .replaced : .lost }
}
