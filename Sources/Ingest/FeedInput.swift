package import Logging
package import Market
package import NIOCore
package import Wire

/// The way of one feed onto the tape: takes the feed's frames, finds gaps and possible repeats, and holds the feed's
/// status.
///
/// Belongs to the feed's event loop and outlives the feed's connections.
///
/// The properties that change with every message have no run-time check for overlapping access, which would cost more
/// than the parser. They are private, they stay on one loop, and no call that receives a part of them calls back into
/// this class.
package final class FeedInput {
    @exclusivity(unchecked) private var tape: TapeWriter
    private let settings: Settings
    private let marks: FrameMarks?
    private var log: FeedLog
    package weak var delegate: (any FeedInputDelegate)?
    /// The status of this feed; ``statusChanged()`` publishes it.
    package var status: FeedStatus
    /// The symbols to which the feed subscribes.
    package var symbols: [String] = [] {
        didSet {
            self.interruptions.identified.subscribed(to: self.symbols)
            self.gaps.subscribed(to: self.symbols)
            self.publishOutcomes()
        }
    }

    @exclusivity(unchecked) private var read: PendingRead
    @exclusivity(unchecked) private var interruptions: Interruptions
    /// The gaps of a feed without ids whose missing trades are known.
    private var gaps = IdentifiedGaps()
    /// When the current read was made; monotonic ns. `nil` until the read has brought a frame.
    package private(set) var readAt: Int64?
    /// The number of text frames that have come on the connection.
    @exclusivity(unchecked) private var frameCount = 0
    private var isPaused = false

    /// Our wall clock when the newest whole frame came, or when the connection opened; ns since 1970.
    package private(set) var lastReceived: Int64 = 0
    /// The frames and elements that could not be read, and the frames that were left out as repeats, so far.
    package var losses: LossReport.Counts { self.read.losses }

    /// Creates the input of one more feed of a tape.
    package init(_ tape: TapeWriter, _ settings: Settings, status: FeedStatus, logger: Logger) {
        self.tape = tape
        self.settings = settings
        self.marks = settings.marks
        self.status = status
        self.log = FeedLog(logger)
        self.read = PendingRead(repeats: settings.repeats, isLive: settings.isLive)
        self.interruptions = Interruptions(repeats: settings.repeats, isLive: settings.isLive)
        tape.add(self)
    }

    package var name: String { self.settings.name }

    /// Whether frames have come that are not on the tape yet.
    var isAmidRead: Bool { !self.read.isEmpty }

    /// Whether trades are missing for which no gap has been published yet. Never of a feed whose trades have ids: they
    /// show what is missing when the next trades come.
    package var isInterrupted: Bool { self.interruptions.isOpen }

    /// The ids that the tape lacks, by symbol; for a feed whose trades have no ids, those that another source named
    /// (``gapIdentified(_:)``).
    package var missing: [MissingTrades] {
        self.hasIDs ? self.interruptions.identified.missing : self.gaps.missing
    }

    /// Whether the feed's trades have ids.
    var hasIDs: Bool { self.interruptions.hasIDs }

    // MARK: Connections

    /// Notes that an attempt to connect began.
    package func connectionAttempted() { self.interruptions.attempted() }

    /// Notes that a connection opened and that the feed subscribes to its symbols on it.
    ///
    /// - Parameters:
    ///   - isRelayed: whether the connection leads to the relay of another program. A relay sends nothing twice, but it
    ///     may have cut frames. Two equal frames then prove no repeat, and nothing is left out.
    ///   - port: the local port, by which the player of a replay knows the connection.
    package func connectionOpened(isRelayed: Bool = false, port: Int? = nil, now: Moment) {
        self.frameCount = 0
        self.marks?.opened(port)
        // The player posts the pause again if the replay is still paused.
        self.setPaused(false, now: now)
        self.lastReceived = now.wall
        self.read.forgetFrames(isRelayed: isRelayed)
        self.interruptions.connectionOpened(now)
    }

    /// Notes that the connection has ended. The marks of a replay that still wait take effect now.
    package func connectionEnded(now: Moment) {
        guard let marks = self.marks else { return }
        marks.ended()
        self.obeyMarks(now: now)
    }

    /// Notes that another connection, which was open beside the earlier one, has taken its place. The feed goes on
    /// without an interruption.
    ///
    /// - Parameter isRelayed: as for ``connectionOpened(isRelayed:port:now:)``.
    package func connectionReplaced(isRelayed: Bool, now: Moment) {
        // What the other one sends again is no repeat of the service's.
        self.read.forgetFrames(isRelayed: isRelayed)
        self.interruptions.connectionOpened(now)
    }

    /// Returns the newest id of a symbol on the tape, or as the venue reported it; `nil` if none is known.
    package func newestID(of symbol: String) -> UInt64? { self.interruptions.identified.newestID(of: symbol) }

    /// Whether trades of some of these ids are missing on the tape.
    package func lacks(_ ids: ClosedRange<UInt64>, of symbol: String) -> Bool {
        self.interruptions.identified.lacks(ids, of: symbol)
    }

    /// Notes that trades may be missing: a gap begins, and the next trades are compared with the last ones. If the
    /// trades have ids, no gap begins: this is the reason of the holes that the next trade of each symbol shows.
    ///
    /// - Parameters:
    ///   - from: the last moment before which nothing is missing; wall clock, ns since 1970.
    ///   - isResumable: whether ``resumed(isComplete:)`` may follow.
    package func interrupted(from: Int64, reason: String, cause: FeedStatus.Cause?, isResumable: Bool = false) {
        self.interruptions.interrupted(from: from, reason: reason, cause: cause, isResumable: isResumable)
    }

    /// Notes that this feed continues the tape of another program: a gap begins, which its first trade ends. Where the
    /// newest id of a symbol is known, its next trade shows the ids that are missing.
    package func tookOver(_ complete: TapeCompleteness, reason: String) {
        self.interruptions.tookOver(complete, self.symbols, reason: reason)
    }

    /// Notes whether the next frames are all that were missed since the interruption, so that there is no gap.
    package func resumed(isComplete: Bool) { self.interruptions.resumed(isComplete: isComplete) }

    /// Notes that everything has come that was missed.
    package func caughtUp() { self.interruptions.caughtUp() }

    /// Notes that silent symbols may have traded unseen: a gap begins, which the next trade ends. If the trades have
    /// ids, silence is no gap.
    package func silenceEnded(from: Int64, reason: String, cause: FeedStatus.Cause?) {
        self.interruptions.silenceEnded(from: from, reason: reason, cause: cause)
    }

    // MARK: Frames

    /// Takes one text frame of the current read, which was made at `now` (monotonic ns).
    ///
    /// The caller checks for due marks first (``hasDueMarks``).
    ///
    /// - Parameter read: reads the frame, names its symbols and appends its trades. It may remove from the bytes what
    ///   no reader may see, and trades that it appended itself.
    @inline(__always)
    package func take(
        _ bytes: ByteBuffer,
        of dialect: FrameDialect,
        now: Int64,
        read: (inout ByteBuffer, inout SymbolTable, inout [Trade]) -> FrameContent
    ) {
        if self.readAt == nil { self.readAt = now }
        self.frameCount &+= 1
        self.read.take(bytes, of: dialect, now: now, symbols: &self.tape.symbols, read: read)
    }

    /// Takes the id of a symbol's newest trade as the venue reports it, after the frames so far. Trades up to it that
    /// do not come within a second are missing.
    ///
    /// Between two reads ``deadline(patience:)`` may be nearer afterwards; within one the delegate learns it at the end.
    package func newestReported(_ id: UInt64, of symbol: String, now: Moment) {
        // In a replay the time from a report to its trades is not the venue's.
        guard self.hasIDs, self.settings.isLive else { return }
        self.interruptions.identified.newestReported(id, of: symbol, after: self.read.frameCount, now: now)
    }

    // MARK: Earlier trades

    /// Takes what another source shows of a gap of this feed, whose trades have no ids: the missing trades may come by
    /// ``take(answer:of:now:)``. The gap has an outcome for the symbol then.
    package func gapIdentified(_ gap: IdentifiedGap) {
        guard !self.hasIDs, self.symbols.contains(gap.symbol) else { return }
        self.gaps.add(gap)
        self.publishOutcomes()
    }

    /// Takes the frame of an exchange with the venue's REST service, apart from the reads of connections: the trades
    /// whose ids are missing go onto the tape, marked as filled. All others are left out, those beyond the newest id,
    /// too, because they come live.
    ///
    /// It is no sign of life of the connection, and changes neither the status nor what is known of the clocks. A
    /// symbol that is unknown or not subscribed gets nothing, and no number on the tape.
    package func take(answer: ByteBuffer, of dialect: FrameDialect, now: Moment) {
        self.take(answer: answer, of: dialect, recorded: nil, now: now)
    }

    /// - Parameter recorded: what the recording of a replay says of its trades; `nil` leaves it to their ids.
    private func take(answer: ByteBuffer, of dialect: FrameDialect, recorded: FramePlaces?, now: Moment) {
        guard let venue = dialect.answering else { return }
        self.endRead(wall: now.wall)
        if self.hasIDs { self.read.judgement.announce(recorded) }
        if recorded == nil {
            // A new epoch has taken the numbers of the symbols that wait for trades.
            for missing in self.missing { _ = self.tape.symbols.intern(missing.symbol) }
            self.read.take(answer, of: dialect, now: now.monotonic, symbols: self.tape.symbols) {
                VenueExchange.read($0, of: venue, symbols: &$1, into: &$2)
            }
        } else {
            // The recording says which trades are on the tape, even if it begins with them.
            self.read.take(answer, of: dialect, now: now.monotonic, symbols: &self.tape.symbols) {
                VenueExchange.read($0, of: venue, symbols: &$1, into: &$2)
            }
        }
        if self.hasIDs {
            self.read.fill(&self.interruptions.identified, now, symbols: self.tape.symbols)
        } else {
            self.fillGaps(now, recorded: recorded)
            // An answer to a request of another feed.
            guard recorded != nil || !self.read.trades.isEmpty else {
                _ = self.read.takeBatch(now, symbols: self.tape.symbols)
                return
            }
        }
        self.log.lost(self.losses, now: now.monotonic)
        self.number(now, isFilled: true)
        self.gaps.settle()
        self.publishOutcomes()
        self.tape.renewIfNeeded()
    }

    private func fillGaps(_ now: Moment, recorded: FramePlaces?) {
        let symbols = self.tape.symbols
        self.read.fill(now, symbols: symbols, recorded: recorded) { trade in
            guard let id = trade.id, Int(trade.symbol.index) < symbols.count,
                self.gaps.take(id, of: symbols.name(of: trade.symbol))
            else { return false }
            trade.marks.insert(.filled)
            return true
        }
    }

    /// Notes that missing trades cannot be had: those of the ids that are still missing are lost for good.
    ///
    /// - Parameter reason: why, in one line.
    package func giveUp(_ ids: ClosedRange<UInt64>, of symbol: String, reason: String, now: Moment) {
        guard self.hasIDs else {
            self.gaps.giveUp(ids, of: symbol, reason: reason)
            self.publishOutcomes()
            return
        }
        // Some may be among the trades of a read that has not ended.
        self.endRead(wall: now.wall)
        self.interruptions.identified.giveUp(ids, of: symbol, reason: reason)
        self.publishOutcomes()
    }

    private func publishOutcomes() {
        let outcomes = self.interruptions.identified.takeOutcomes() + self.gaps.takeOutcomes()
        // A recording that judges the trades has the outcomes, too.
        guard !self.read.judgement.isOn else { return }
        for outcome in outcomes { self.tape.gapSettled(outcome) }
    }

    // MARK: Between frames

    /// Whether ``obeyMarks(now:)`` has work before the next frame is taken.
    @inline(__always)
    package var hasDueMarks: Bool {
        guard self.marks != nil else { return false }
        return self.marks?.isDue(after: self.frameCount) == true
    }

    /// Whether what the player of a replay wrote to other feeds comes before the next frame and the next mark.
    package var waitsForTurn: Bool { self.marks?.waitsForTurn(after: self.frameCount) ?? false }

    /// Applies the marks of a replay that are due between two frames.
    package func obeyMarks(now: Moment) {
        for mark in self.marks?.take(after: self.frameCount) ?? [] {
            // The trades before a mark go onto the tape before the mark takes effect.
            if mark.endsRead { self.endRead(wall: now.wall) }
            self.obey(mark, now: now)
        }
    }

    private func obey(_ mark: FrameMark, now: Moment) {
        switch mark {
        case .changed(let movedBecause, let isPaused, let speed):
            // Sequence numbers and our own clock continue when a replay is moved. A gap reports the jump.
            if let movedBecause {
                // After a jump backwards the same frames come again. They are not repeats of the service's.
                self.read.forgetFrames(isRelayed: false)
                self.interruptions.identified.clockMoved()
                let from = min(self.lastReceived, now.wall)
                self.gapFound(from: from, to: now.wall, reason: movedBecause, cause: .seek)
            }
            self.setPaused(isPaused, now: now)
            let source = self.status.source.paced(at: speed)
            guard source != self.status.source else { return }
            self.status.source = source
            self.statusChanged()
        // The ids show such a gap again, unless the recording judges them.
        case .gap(let gap) where gap.missing != nil && self.hasIDs && !self.read.judgement.isOn: break
        case .gap(var gap):
            // The gap keeps its recorded times, which match those of the trades; arrival times depend on the replay's
            // speed. A gap that was itself recorded from a replay already has the prefix.
            if !gap.reason.hasPrefix(Self.recordedGap) { gap.reason = Self.recordedGap + gap.reason }
            gap.cause = .recorded
            self.gapFound(gap)
        case .arrival(let arrival):
            self.read.arrivalMarked(arrival)
        case .repeats(let places):
            self.read.announce(places)
        case .judged(let isJudged):
            self.read.judgement.isOn = isJudged && self.hasIDs
        case .places(let places):
            self.read.judgement.announce(places)
        case .made:
            self.read.judgement.announce(nil)
        case .answer(let frame, let dialect, let places):
            self.take(answer: frame, of: dialect, recorded: places, now: now)
        case .turnEnded(let turn):
            self.marks?.turnEnded(turn)
        // It is never handed out.
        case .turnBegan: break
        case .settled(let outcome) where self.read.judgement.isOn || !self.hasIDs:
            self.tape.gapSettled(outcome)
        case .settled(let outcome):
            for ids in outcome.lost {
                self.giveUp(ids, of: outcome.symbol, reason: outcome.reason ?? "lost", now: now)
            }
        }
    }

    private static let recordedGap = "in the recording: "

    private func setPaused(_ isPaused: Bool, now: Moment) {
        guard isPaused != self.isPaused else { return }
        self.isPaused = isPaused
        self.delegate?.pauseChanged(isPaused, now: now)
    }

    // MARK: The end of a read

    /// Ends the current read if it has brought frames. In this order: leaves out likely repeats, changes the status and
    /// ends gaps, numbers the trades, and hands them to every reader.
    ///
    /// - Parameter wall: the wall clock, ns since 1970.
    package func endRead(wall: @autoclosure () -> Int64) {
        guard let readAt else { return }
        self.readAt = nil
        let now = Moment(monotonic: readAt, wall: wall())
        let end = self.endRead(now)
        self.delegate?.readEnded(hasTrades: end.hasTrades, hasChanges: end.hasChanges, now: now)
        if end.hasHoles { self.holesFound(now) }
    }

    /// What the end of a read tells the delegate.
    private struct End {
        var hasTrades: Bool
        /// Whether a deadline may have moved nearer.
        var hasChanges: Bool
        /// Whether gaps with ids were published.
        var hasHoles = false
    }

    private func holesFound(_ now: Moment) {
        // What a replay misses was missed then.
        if self.settings.isLive { self.delegate?.holesFound(now: now) }
    }

    private func endRead(_ now: Moment) -> End {
        // A partial frame proves that the connection lives, but its trades are unknown: a gap begins before it.
        let previousFrame = self.lastReceived
        self.lastReceived = now.wall
        self.interruptions.lookForSleep(since: previousFrame, now)
        if self.hasIDs { return self.endIdentifiedRead(now) }
        let findings = self.interruptions.findings(in: self.read.trades, now: now.monotonic)
        if let findings { self.read.apply(findings) }
        if self.read.takeRepetition() { self.log.framesRepeat() }
        self.log.lost(self.losses, now: now.monotonic)
        let hasTrades = !self.read.liveTrades.isEmpty
        var hasChanges = !hasTrades && self.losses != self.log.reported
        if self.tellLiveTrades(now) {
            hasChanges = true
            // A trade that may be from before the gap does not end it.
            if findings?.allSatisfy({ $0 != .new }) != true { self.endGap(now) }
            self.delegate?.publishChanges()
        }
        self.number(now)
        self.tape.renewIfNeeded()
        return End(hasTrades: hasTrades, hasChanges: hasChanges)
    }

    /// Ends a read whose trades have ids; it goes onto the tape in parts if gaps lie between its frames.
    private func endIdentifiedRead(_ now: Moment) -> End {
        let gaps = self.interruptions.identify(&self.read, now, symbols: self.tape.symbols)
        self.log.lost(self.losses, now: now.monotonic)
        var end = End(hasTrades: !self.read.liveTrades.isEmpty, hasChanges: false)
        end.hasHoles = gaps.contains { $0.gap.missing != nil }
        end.hasChanges = self.interruptions.identified.takeNewDeadline()
        if !end.hasTrades, self.losses != self.log.reported { end.hasChanges = true }
        // Nearly every read is one part.
        if gaps.isEmpty || !gaps.contains(where: { self.read.hasTrades(before: $0.frame) }) {
            if self.endPart(after: gaps[...], now) { end.hasChanges = true }
        } else {
            let content = self.read.takeContent(now)
            for part in ReadParts(content, gaps: gaps) {
                self.read.put(part.frames, of: content)
                if self.endPart(after: part.gaps, now) { end.hasChanges = true }
            }
        }
        self.publishOutcomes()
        self.tape.renewIfNeeded()
        return end
    }

    /// Puts a part of a read onto the tape after the gaps that it shows; returns whether the status has changed.
    private func endPart(after gaps: ArraySlice<FoundGap>, _ now: Moment) -> Bool {
        let isChanged = self.tellLiveTrades(now)
        if !self.read.liveTrades.isEmpty { self.endGap(now) }
        for found in gaps { self.publishMissing(found.gap) }
        if isChanged { self.delegate?.publishChanges() }
        self.number(now)
        return isChanged
    }

    /// Ends an open gap before the trades of the read.
    private func endGap(_ now: Moment) {
        self.publish(
            self.interruptions.traded(
                received: now.wall,
                nextSequence: self.tape.nextSequence,
                epoch: self.tape.epoch
            )
        )
    }

    /// Lets the delegate take the trades that change the status; returns whether it has changed.
    private func tellLiveTrades(_ now: Moment) -> Bool {
        let live = self.read.liveTrades
        return !live.isEmpty && self.delegate?.tradesArrived(live, symbols: self.tape.symbols, now: now) == true
    }

    /// - Parameter isFilled: whether the trades were missing, and say nothing about the next ones.
    private func number(_ now: Moment, isFilled: Bool = false) {
        var batch = self.read.takeBatch(now, symbols: self.tape.symbols)
        if !isFilled { self.interruptions.append(batch.trades, symbolCount: batch.symbols.count) }
        self.tape.append(&batch)
        self.read.reuse(&batch)
    }

    func move(to tape: TapeWriter) { self.tape = tape }

    /// Notes that symbols have new numbers on the tape.
    func epochBegan() { self.interruptions.epochBegan() }

    // MARK: Time

    /// When ``timePassed(patience:now:)`` is next due, monotonic ns.
    ///
    /// - Parameter patience: how long after the subscription a gap ends without a trade, ns.
    package func deadline(patience: Int64) -> Int64? {
        [
            self.interruptions.deadline(patience: patience),
            self.interruptions.identified.deadline,
            self.log.deadline(self.losses),
        ].compactMap(\.self).min()
    }

    /// Takes the passing of time: finds a sleep of the computer, logs losses, ends a gap that no trade has ended, and
    /// publishes the gaps of trades that a venue reported and that have not come.
    package func timePassed(patience: Int64, now: Moment) {
        self.interruptions.lookForSleep(since: self.lastReceived, now)
        self.log.lost(self.losses, now: now.monotonic)
        self.publish(
            self.interruptions.deadlineReached(
                now: now.monotonic,
                patience: patience,
                nextSequence: self.tape.nextSequence,
                epoch: self.tape.epoch
            )
        )
        // The trades of a read that has not ended may be the reported ones.
        guard !self.isAmidRead else { return }
        let gaps = self.interruptions.identified.timePassed(now: now.monotonic)
        for found in gaps { self.publishMissing(found.gap) }
        self.publishOutcomes()
        if !gaps.isEmpty { self.holesFound(now) }
    }

    // MARK: Status, gaps and events

    /// Publishes ``status`` together with the status of the tape's other feeds.
    package func statusChanged() { self.tape.statusChanged() }

    package func symbolChanged(_ status: SymbolStatus) { self.tape.symbolChanged(status) }

    /// Publishes the venue's own figures of a symbol's last 24 hours.
    package func dayArrived(_ day: VenueDay) { self.tape.dayChanged(day) }

    package func symbolUnsubscribed(_ symbol: String) { self.tape.symbolUnsubscribed(symbol) }

    /// Publishes an event of the connection other than its messages.
    ///
    /// - Parameter monotonic: when it happened, monotonic ns.
    package func connectionChanged(_ event: ConnectionEvent, monotonic: Int64) {
        self.tape.connectionChanged(event, monotonic: monotonic)
    }

    /// Publishes and logs a gap before the next trade.
    package func gapFound(
        from: Int64,
        to: Int64,
        reason: String,
        cause: FeedStatus.Cause?,
        symbol: String? = nil
    ) {
        self.publish(
            Gap(
                from: from,
                to: to,
                reason: reason,
                nextSequence: self.tape.nextSequence,
                epoch: self.tape.epoch,
                cause: cause,
                symbol: symbol
            )
        )
    }

    /// Publishes a gap that another program has found, before the next trade of this tape.
    ///
    /// - Parameter isLogged: whether the gap is also logged.
    package func gapFound(_ gap: Gap, isLogged: Bool = true) {
        var gap = gap
        gap.nextSequence = self.tape.nextSequence
        gap.epoch = self.tape.epoch
        if isLogged { self.publish(gap) } else { self.tape.gapFound(gap, of: self) }
    }

    private func publish(_ gap: Gap?) {
        guard let gap else { return }
        self.log.gapFound(gap)
        self.tape.gapFound(gap, of: self)
    }

    /// Publishes the gap of ids that are missing.
    private func publishMissing(_ gap: Gap) {
        self.log.idsMissing(gap)
        self.gapFound(gap, isLogged: false)
    }

    /// Logs the losses that are not logged yet, without the pause between two reports: at a connection's end.
    package func logLosses(now: Int64) { self.log.lostAll(self.losses, now: now) }
}
