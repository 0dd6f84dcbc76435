package import Logging
package import Market
package import NIOCore
package import Wire

/// What a feed decides while one of its reads goes onto the tape; called on the feed's loop.
package protocol FeedInputDelegate: AnyObject {
    /// Takes the trades of a read that has ended, and changes the state that they change: no reader gets a trade while it
    /// still believes that none flow.
    ///
    /// - Returns: whether anything has changed, and deadlines with it.
    func tradesArrived(_ trades: [Trade], symbols: SymbolTable, now: Moment) -> Bool
    /// Publishes what has changed of single symbols, behind the gap that ends with the read.
    func publishChanges()
    /// Notes that a read with frames has ended.
    ///
    /// - Parameter hasChanges: whether a deadline may have moved nearer.
    func readEnded(hasTrades: Bool, hasChanges: Bool, now: Moment)
    /// Notes that silence says nothing from here on, or does again.
    func pauseChanged(_ isPaused: Bool, now: Moment)
}

/// One feed's way onto the tape: takes its frames, finds gaps and what may have come before, and says what is true of it.
///
/// Belongs to the feed's event loop and outlives its connections.
///
/// What is touched with every message has no run-time check for overlapping access, which would cost more than the parser:
/// it is private, on one loop, and no call that gets a part of it comes back here.
package final class FeedInput {
    package struct Settings: Sendable {
        /// The feed in words, for a status beside those of other feeds.
        package var name: String
        /// What is done with what may have come before: frames that come again within two seconds, and trades that come
        /// again after an interruption.
        package var repeats = RepeatHandling.marked
        /// Whether the trades are the market's own: they are compared with our clock, and a machine that slept has missed
        /// some. Those of a replay say nothing of either.
        package var isLive = true
        /// What happens between the frames of a replay; `nil` for the market's.
        package var marks: FrameMarks?

        package init(name: String, repeats: RepeatHandling = .marked, isLive: Bool = true, marks: FrameMarks? = nil) {
            self.name = name
            self.repeats = repeats
            self.isLive = isLive
            self.marks = marks
        }
    }

    private let tape: TapeWriter
    private let settings: Settings
    private let marks: FrameMarks?
    private let logger: Logger
    package weak var delegate: (any FeedInputDelegate)?
    /// What is true of this feed; publish it with ``statusChanged()``.
    package var status: FeedStatus
    /// The symbols that the feed is asked for.
    package var symbols: [String] = []

    @exclusivity(unchecked) private var trades: [Trade] = []
    @exclusivity(unchecked) private var frames: [TapeBatch.Frame] = []
    /// When the current read was made, once it has brought a frame; monotonic ns.
    package private(set) var readAt: Int64?
    /// How many text frames have come on the connection.
    @exclusivity(unchecked) private var frameCount = 0
    private var isPaused = false
    /// What is done on the connection that stands; whole frames tell nothing where another program has cut them.
    private var repeatsHere: RepeatHandling
    private var comparesFrames: Bool
    @exclusivity(unchecked) private var repeated = RepeatedFrames()
    @exclusivity(unchecked) private var repetition = RepetitionWatch()
    /// Whether the feed repeats its frames as a rule, until that is logged.
    private var repeatsAsRule = false
    @exclusivity(unchecked) private var tails = TradeTails()
    private var overlap: OverlapCheck?
    /// When the comparison ends; monotonic ns.
    private var overlapEnd: Int64?
    private var overlapIsTold = false
    @exclusivity(unchecked) private var arrivals: ArrivalJudge
    /// The places of suspected trades in the next frame of a replay.
    @exclusivity(unchecked) private var announced: [Int] = []
    private var gaps = GapWatch()
    private var sleep = SleepWatch()
    private var report = LossReport()
    private static let overlapTime: Int64 = 60_000_000_000

    /// Our wall clock when the newest whole frame came, or when the connection opened; ns since 1970.
    package private(set) var lastReceived: Int64 = 0
    /// What could not be read, and frames that came again, so far.
    package private(set) var losses = LossReport.Counts()
    /// The same of the current read, for its batch.
    @exclusivity(unchecked) private var readLosses = TapeBatch.Losses()

    /// Makes the input of one more feed of a tape.
    package init(_ tape: TapeWriter, _ settings: Settings, status: FeedStatus, logger: Logger) {
        self.tape = tape
        self.settings = settings
        self.marks = settings.marks
        self.status = status
        self.logger = logger
        self.arrivals = ArrivalJudge(isLive: settings.isLive)
        self.repeatsHere = settings.repeats
        self.comparesFrames = settings.repeats != .ignored
        tape.add(self)
    }

    package var name: String { self.settings.name }

    /// Whether frames have come that are not on the tape yet.
    var isAmidRead: Bool { !self.frames.isEmpty }

    /// Whether something is missing that no gap has told yet.
    package var isInterrupted: Bool { self.gaps.isOpen }

    /// How many trades the current read has brought so far.
    package var pendingTrades: Int { self.trades.count }

    // MARK: Connections

    /// Notes that an attempt to connect began.
    package func connectionAttempted() { self.gaps.attempted() }

    /// Notes that a connection opened and that the symbols are asked for on it.
    ///
    /// - Parameters:
    ///   - isRelayed: whether it is to the relay of another program. That sends nothing twice, and may have cut its frames:
    ///     two that are equal then need not have been, and nothing is left out.
    ///   - port: its local port, by which the player of a replay knows it.
    package func connectionOpened(isRelayed: Bool = false, port: Int? = nil, now: Moment) {
        self.frameCount = 0
        self.marks?.opened(port)
        // The player says so again of one that still is.
        self.setPaused(false, now: now)
        self.lastReceived = now.wall
        self.forgetFrames(isRelayed: isRelayed)
        self.gaps.asked(now)
        self.sleep = SleepWatch()
        _ = self.sleep.looked(now)
    }

    /// Notes that the connection has ended: what the player of a replay said of it takes effect now at the latest.
    package func connectionEnded(now: Moment) {
        guard let marks = self.marks else { return }
        marks.ended()
        self.obeyMarks(now: now)
    }

    /// Forgets the frames that came last: what comes next is no repeat of them, as on a new connection or in a replay that
    /// was moved.
    package func forgetFrames(isRelayed: Bool = false) {
        self.repeated.reset()
        self.announced = []
        self.repetition = RepetitionWatch(after: self.repetition)
        self.repeatsHere = isRelayed && self.settings.repeats == .leftOut ? .marked : self.settings.repeats
        self.comparesFrames = self.settings.repeats != .ignored && !isRelayed
    }

    /// Notes that something is missing: a gap begins, and the trades that come next are compared with those that came last.
    ///
    /// - Parameter from: the last moment of which nothing is missing, wall clock, ns since 1970.
    package func interrupted(from: Int64, reason: String, cause: FeedStatus.Cause?) {
        self.gaps.interrupted(from: from, reason: reason, cause: cause)
        guard self.settings.repeats != .ignored else { return }
        self.overlap = OverlapCheck(self.tails)
        self.overlapEnd = nil
        self.overlapIsTold = false
    }

    /// Notes that symbols were silent and may have traded: a gap that the next trade ends.
    package func silenceEnded(from: Int64, reason: String, cause: FeedStatus.Cause?) {
        self.gaps.interrupted(from: from, reason: reason, cause: cause)
    }

    // MARK: Frames

    /// Takes one text frame of the current read, which was made at `now` (monotonic ns).
    ///
    /// Whoever calls it looks for marks before (``hasDueMarks``).
    ///
    /// - Parameter read: reads the frame, names its symbols and appends its trades; may take out of the bytes what no reader
    ///   shall see, and out of the arguments what it put there itself.
    @inline(__always)
    package func take(
        _ bytes: ByteBuffer,
        of dialect: FrameDialect,
        now: Int64,
        read: (inout ByteBuffer, inout SymbolTable, inout [Trade]) -> FrameContent
    ) {
        if self.readAt == nil { self.readAt = now }
        self.frameCount &+= 1
        let first = self.trades.count
        let unnumbered = self.tape.symbols.leftOut
        var bytes = bytes
        let content = read(&bytes, &self.tape.symbols, &self.trades)
        var isWhole = true
        var isMalformed = false
        switch content {
        case .trades(let skipped):
            // A table without room leaves out what is well-formed.
            let unnumbered = min(max(self.tape.symbols.leftOut - unnumbered, 0), skipped)
            self.losses.unnumberedTrades += unnumbered
            self.readLosses.unnumberedTrades += unnumbered
            self.losses.malformedElements += skipped - unnumbered
            self.readLosses.malformedElements += skipped - unnumbered
            isMalformed = skipped > unnumbered
            isWhole = skipped == 0
            if self.comparesFrames, self.trades.count > first {
                let isRepeat = self.repeated.isRepeat(bytes, now: now)
                if self.repetition.take(isRepeat: isRepeat, now: now) { self.repeatsAsRule = true }
                if isRepeat { isWhole = self.takeRepeat(from: first) && isWhole }
            }
            if !self.announced.isEmpty { self.markAnnounced(from: first) }
        case .malformed:
            self.losses.malformedFrames += 1
            isMalformed = true
            isWhole = false
        case .other:
            break
        }
        if isMalformed { self.readLosses.malformedFrames += 1 }
        self.arrivals.frameTaken(&self.trades, from: first)
        let places = first..<self.trades.count
        self.frames.append(
            TapeBatch.Frame(bytes: bytes, dialect: dialect, trades: places, isWhole: isWhole, isMalformed: isMalformed)
        )
    }

    /// Takes a frame that came before, whose trades begin at a place; returns whether they stay on the tape.
    private func takeRepeat(from first: Int) -> Bool {
        self.readLosses.repeatedFrames += 1
        guard self.repeatsHere == .leftOut else {
            for place in first..<self.trades.count { self.mark(place) }
            return true
        }
        self.losses.leftOutFrames += 1
        self.readLosses.repeatedTrades += self.trades.count - first
        self.trades.removeLast(self.trades.count - first)
        return false
    }

    private func markAnnounced(from first: Int) {
        for place in self.announced where place < self.trades.count - first { self.mark(first + place) }
        self.announced = []
    }

    private func mark(_ place: Int) {
        guard !self.trades[place].marks.contains(.possibleRepeat) else { return }
        self.trades[place].marks.insert(.possibleRepeat)
        self.readLosses.possibleRepeats += 1
    }

    // MARK: Between frames

    /// Whether something is to be done before the next frame is taken: ``obeyMarks(now:)``.
    @inline(__always)
    package var hasDueMarks: Bool {
        guard self.marks != nil else { return false }
        return self.marks?.isDue(after: self.frameCount) == true
    }

    /// Does what has become due between the frames of a replay.
    package func obeyMarks(now: Moment) {
        for mark in self.marks?.take(after: self.frameCount) ?? [] {
            // What came before a mark is on the tape before what is said of it.
            if mark.endsRead { self.endRead(wall: now.wall) }
            self.obey(mark, now: now)
        }
    }

    private func obey(_ mark: FrameMark, now: Moment) {
        switch mark {
        case .changed(let movedBecause, let isPaused, let speed):
            // Numbers go on when a replay is moved, and so does our own clock; that the tape goes on elsewhere is told as a gap.
            if let movedBecause {
                // The same frames come again behind a way back, and are no repeats of the service's.
                self.forgetFrames()
                let from = min(self.lastReceived, now.wall)
                self.gapFound(from: from, to: now.wall, reason: movedBecause, cause: .seek)
            }
            self.setPaused(isPaused, now: now)
            let source = self.status.source.paced(at: speed)
            guard source != self.status.source else { return }
            self.status.source = source
            self.statusChanged()
        case .gap(var gap):
            // It is told with the times at which it was: they are the trades' own, and not those of arrivals now, which depend
            // on the speed. What was a replay itself when it was recorded says so already.
            if !gap.reason.hasPrefix(Self.recordedGap) { gap.reason = Self.recordedGap + gap.reason }
            gap.cause = .recorded
            self.gapFound(gap)
        case .arrival(let arrival):
            self.arrivals.marked(arrival)
        case .repeats(let places):
            self.announced = places
        }
    }

    private static let recordedGap = "in the recording: "

    private func setPaused(_ isPaused: Bool, now: Moment) {
        guard isPaused != self.isPaused else { return }
        self.isPaused = isPaused
        self.delegate?.pauseChanged(isPaused, now: now)
    }

    // MARK: The end of a read

    /// Ends the current read, where it has brought frames: leaves out what proves to be a repeat, changes the state and ends
    /// gaps, numbers the trades and hands them to every reader, in this order.
    ///
    /// - Parameter wall: the wall clock, ns since 1970.
    package func endRead(wall: @autoclosure () -> Int64) {
        guard let readAt else { return }
        self.readAt = nil
        let now = Moment(monotonic: readAt, wall: wall())
        let (hasTrades, hasChanges) = self.endRead(now)
        self.delegate?.readEnded(hasTrades: hasTrades, hasChanges: hasChanges, now: now)
    }

    /// - Returns: whether there were trades, and whether a deadline may have moved nearer.
    private func endRead(_ now: Moment) -> (hasTrades: Bool, hasChanges: Bool) {
        // Half a frame is a sign of life, but no trade can be known from it: a gap begins before it.
        let previousFrame = self.lastReceived
        self.lastReceived = now.wall
        self.lookForSleep(since: previousFrame, now)
        let mayBeOld = self.compareWithTails(now: now.monotonic)
        self.logRepetition()
        if self.losses != self.report.told { self.log(self.report.take(self.losses, now: now.monotonic)) }
        let hasTrades = !self.trades.isEmpty
        var hasChanges = !hasTrades && self.losses != self.report.told
        if hasTrades, self.delegate?.tradesArrived(self.trades, symbols: self.tape.symbols, now: now) == true {
            hasChanges = true
            // What may be from before the gap does not end it.
            if !mayBeOld,
                let gap = self.gaps.traded(
                    received: now.wall,
                    nextSequence: self.tape.nextSequence,
                    epoch: self.tape.epoch
                )
            {
                self.publishWithOverlap(gap)
            }
            self.delegate?.publishChanges()
        }
        self.number(now)
        return (hasTrades, hasChanges)
    }

    private func number(_ now: Moment) {
        let aheadArrival = self.arrivals.readEnded(&self.trades, received: now.wall)
        if self.settings.repeats != .ignored {
            self.tails.append(self.trades, symbolCount: self.tape.symbols.count)
        }
        var batch = TapeBatch(
            epoch: self.tape.epoch,
            firstSequence: self.tape.nextSequence,
            received: now.wall,
            receivedMonotonic: now.monotonic,
            trades: self.trades,
            frames: self.frames,
            symbols: self.tape.symbols,
            losses: self.readLosses
        )
        batch.clockOffset = self.arrivals.clockOffset
        batch.aheadArrival = aheadArrival
        self.readLosses = TapeBatch.Losses()
        self.trades = []
        self.frames = []
        self.tape.append(&batch)
        self.takeBack(&batch)
        self.tape.renewIfNeeded()
    }

    /// Finds in the current read what may have come before an interruption already; returns whether all of it may.
    private func compareWithTails(now: Int64) -> Bool {
        guard self.overlap != nil, !self.trades.isEmpty else { return false }
        let end = self.overlapEnd ?? now + Self.overlapTime
        self.overlapEnd = end
        guard now < end else {
            self.overlap = nil
            return false
        }
        guard let findings = self.overlap?.check(self.trades) else { return false }
        let mayBeOld = findings.allSatisfy { $0 != .new }
        for place in findings.indices where findings[place] != .new { self.mark(place) }
        if self.repeatsHere == .leftOut { self.leaveOut(findings.map { $0 == .likely }) }
        return mayBeOld
    }

    private func leaveOut(_ isRepeat: [Bool]) {
        var kept: [Trade] = []
        for index in self.frames.indices {
            let range = self.frames[index].trades
            let first = kept.count
            for place in range where !isRepeat[place] { kept.append(self.trades[place]) }
            if kept.count - first < range.count {
                self.frames[index].isWhole = false
                self.frames[index].leftOut = range.filter { isRepeat[$0] }.map { $0 - range.lowerBound }
            }
            self.frames[index].trades = first..<kept.count
        }
        let leftOut = self.trades.count - kept.count
        self.readLosses.repeatedTrades += leftOut
        self.readLosses.possibleRepeats -= leftOut
        self.trades = kept
    }

    /// Takes the batch's arrays for the next read, so that a read needs no new ones: a reader that keeps the batch keeps
    /// them, and emptying them here makes new ones of the same size.
    private func takeBack(_ batch: inout TapeBatch) {
        guard self.trades.isEmpty, self.frames.isEmpty else { return }
        swap(&self.trades, &batch.trades)
        swap(&self.frames, &batch.frames)
        // What a burst needed is not held on to: where somebody keeps the batch the new array has the old one's size, and a
        // queue of batches would be as large as if each were a burst.
        self.trades.removeAll(keepingCapacity: self.trades.capacity <= max(16, 4 * self.trades.count))
        self.frames.removeAll(keepingCapacity: self.frames.capacity <= max(4, 4 * self.frames.count))
    }

    /// Notes that the tape's symbols have new numbers.
    func epochBegan() {
        self.tails = TradeTails()
        self.overlap = nil
        self.overlapEnd = nil
    }

    // MARK: Time

    /// When ``timePassed(patience:now:)`` wants to be called next, monotonic ns.
    ///
    /// - Parameter patience: how long after the symbols were asked for a gap ends without a trade, ns.
    package func deadline(patience: Int64) -> Int64? {
        [self.gaps.deadline(patience: patience), self.report.deadline(self.losses)].compactMap(\.self).min()
    }

    /// Takes the passing of time: a machine that slept, losses that are to be logged, a gap that no trade ends.
    package func timePassed(patience: Int64, now: Moment) {
        self.lookForSleep(since: self.lastReceived, now)
        self.log(self.report.take(self.losses, now: now.monotonic))
        let gap = self.gaps.deadlineReached(
            now: now.monotonic,
            patience: patience,
            nextSequence: self.tape.nextSequence,
            epoch: self.tape.epoch
        )
        if let gap { self.publishWithOverlap(gap) }
    }

    /// A machine that slept has heard nothing meanwhile, though its connection may stand.
    private func lookForSleep(since previousFrame: Int64, _ now: Moment) {
        guard let slept = self.sleep.looked(now), self.settings.isLive else { return }
        self.interrupted(
            from: previousFrame,
            reason: "this machine slept, or its clock was set, \(slept / 1_000_000_000) s ahead",
            cause: .sleep
        )
        self.gaps.asked(now)
    }

    // MARK: What readers hear beside trades

    /// Publishes ``status``, beside those of other feeds.
    package func statusChanged() { self.tape.statusChanged() }

    package func symbolChanged(_ status: SymbolStatus) { self.tape.symbolChanged(status) }

    package func symbolUnwished(_ symbol: String) { self.tape.symbolUnwished(symbol) }

    /// Publishes what happened on the connection beside its messages; at a monotonic time in ns.
    package func connectionChanged(_ event: ConnectionEvent, monotonic: Int64) {
        self.tape.connectionChanged(event, monotonic: monotonic)
    }

    /// Publishes a gap in front of the next trade, and logs it.
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

    /// Publishes a gap that somebody else has found, in front of the next trade of this tape.
    ///
    /// - Parameter isLogged: whether it is told in the log, too.
    package func gapFound(_ gap: Gap, isLogged: Bool = true) {
        var gap = gap
        gap.nextSequence = self.tape.nextSequence
        gap.epoch = self.tape.epoch
        if isLogged { self.publish(gap) } else { self.tape.gapFound(gap, of: self) }
    }

    /// Publishes a gap behind which trades were compared with those before it: how many of them likely are repeats, unless
    /// another gap of the same interruption has told.
    private func publishWithOverlap(_ gap: Gap) {
        var gap = gap
        if !self.overlapIsTold, let overlap, overlap.compared > 0 {
            (gap.overlap, gap.overlapBounds) = (overlap.likely, overlap.bounds)
        }
        self.overlapIsTold = true
        self.publish(gap)
    }

    private func publish(_ gap: Gap) {
        self.logger.warning(
            "The feed has a gap",
            metadata: [
                "reason": "\(gap.reason)", "ms": "\(gap.length / 1_000_000)",
                "possible repeats": "\(gap.overlapBounds.map { "\($0.most)" } ?? "unknown")",
            ]
        )
        self.tape.gapFound(gap, of: self)
    }

    /// Logs what could not be used so far, whenever that was done last: at a connection's end.
    package func logLosses(now: Int64) { self.log(self.report.takeAll(self.losses, now: now)) }

    private func log(_ change: LossReport.Counts?) {
        guard let change else { return }
        if change.malformedElements + change.malformedFrames > 0 {
            self.logger.warning(
                "Some of what the service sent could not be read",
                metadata: ["elements": "\(change.malformedElements)", "frames": "\(change.malformedFrames)"]
            )
        }
        if change.unnumberedTrades > 0 {
            self.logger.warning(
                "Trades of too many symbols were left out",
                metadata: ["trades": "\(change.unnumberedTrades)", "symbols": "\(SymbolTable.capacity)"]
            )
        }
        if change.leftOutFrames > 0 {
            self.logger.notice(
                "The service sent frames again; upstream.drop-repeats leaves them out",
                metadata: ["frames": "\(change.leftOutFrames)"]
            )
        }
    }

    /// Logs that equal frames are no chance any more.
    private func logRepetition() {
        guard self.repeatsAsRule else { return }
        self.repeatsAsRule = false
        guard self.settings.repeats == .marked else { return }
        self.logger.warning(
            "The service sends its frames several times, and volumes count them each time: upstream.drop-repeats leaves them out"
        )
    }
}
