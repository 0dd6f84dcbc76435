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

    @exclusivity(unchecked) private var read: PendingRead
    @exclusivity(unchecked) private var interruptions: Interruptions
    /// When the current read was made, once it has brought a frame; monotonic ns.
    package private(set) var readAt: Int64?
    /// How many text frames have come on the connection.
    @exclusivity(unchecked) private var frameCount = 0
    private var isPaused = false
    private var report = LossReport()

    /// Our wall clock when the newest whole frame came, or when the connection opened; ns since 1970.
    package private(set) var lastReceived: Int64 = 0
    /// What could not be read, and frames that came again, so far.
    package var losses: LossReport.Counts { self.read.losses }

    /// Makes the input of one more feed of a tape.
    package init(_ tape: TapeWriter, _ settings: Settings, status: FeedStatus, logger: Logger) {
        self.tape = tape
        self.settings = settings
        self.marks = settings.marks
        self.status = status
        self.logger = logger
        self.read = PendingRead(repeats: settings.repeats, isLive: settings.isLive)
        self.interruptions = Interruptions(repeats: settings.repeats, isLive: settings.isLive)
        tape.add(self)
    }

    package var name: String { self.settings.name }

    /// Whether frames have come that are not on the tape yet.
    var isAmidRead: Bool { !self.read.isEmpty }

    /// Whether something is missing that no gap has told yet.
    package var isInterrupted: Bool { self.interruptions.isOpen }

    // MARK: Connections

    /// Notes that an attempt to connect began.
    package func connectionAttempted() { self.interruptions.attempted() }

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
        self.read.forgetFrames(isRelayed: isRelayed)
        self.interruptions.connectionOpened(now)
    }

    /// Notes that the connection has ended: what the player of a replay said of it takes effect now at the latest.
    package func connectionEnded(now: Moment) {
        guard let marks = self.marks else { return }
        marks.ended()
        self.obeyMarks(now: now)
    }

    /// Notes that something is missing: a gap begins, and the trades that come next are compared with those that came last.
    ///
    /// - Parameter from: the last moment of which nothing is missing, wall clock, ns since 1970.
    package func interrupted(from: Int64, reason: String, cause: FeedStatus.Cause?) {
        self.interruptions.interrupted(from: from, reason: reason, cause: cause)
    }

    /// Notes that symbols were silent and may have traded: a gap that the next trade ends.
    package func silenceEnded(from: Int64, reason: String, cause: FeedStatus.Cause?) {
        self.interruptions.silenceEnded(from: from, reason: reason, cause: cause)
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
        self.read.take(bytes, of: dialect, now: now, symbols: &self.tape.symbols, read: read)
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
                self.read.forgetFrames(isRelayed: false)
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
            self.read.arrivalMarked(arrival)
        case .repeats(let places):
            self.read.announce(places)
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
        self.interruptions.lookForSleep(since: previousFrame, now)
        let findings = self.interruptions.findings(in: self.read.trades, now: now.monotonic)
        if let findings { self.read.apply(findings) }
        self.logRepetition()
        if self.losses != self.report.reported { self.log(self.report.take(self.losses, now: now.monotonic)) }
        let hasTrades = !self.read.trades.isEmpty
        var hasChanges = !hasTrades && self.losses != self.report.reported
        if hasTrades, self.delegate?.tradesArrived(self.read.trades, symbols: self.tape.symbols, now: now) == true {
            hasChanges = true
            // What may be from before the gap does not end it.
            if findings?.allSatisfy({ $0 != .new }) != true {
                self.publish(
                    self.interruptions.traded(
                        received: now.wall,
                        nextSequence: self.tape.nextSequence,
                        epoch: self.tape.epoch
                    )
                )
            }
            self.delegate?.publishChanges()
        }
        self.number(now)
        return (hasTrades, hasChanges)
    }

    private func number(_ now: Moment) {
        var batch = self.read.takeBatch(now, symbols: self.tape.symbols)
        self.interruptions.append(batch.trades, symbolCount: batch.symbols.count)
        self.tape.append(&batch)
        self.read.reuse(&batch)
        self.tape.renewIfNeeded()
    }

    /// Notes that the tape's symbols have new numbers.
    func epochBegan() { self.interruptions.epochBegan() }

    // MARK: Time

    /// When ``timePassed(patience:now:)`` wants to be called next, monotonic ns.
    ///
    /// - Parameter patience: how long after the symbols were asked for a gap ends without a trade, ns.
    package func deadline(patience: Int64) -> Int64? {
        [self.interruptions.deadline(patience: patience), self.report.deadline(self.losses)].compactMap(\.self).min()
    }

    /// Takes the passing of time: a machine that slept, losses that are to be logged, a gap that no trade ends.
    package func timePassed(patience: Int64, now: Moment) {
        self.interruptions.lookForSleep(since: self.lastReceived, now)
        self.log(self.report.take(self.losses, now: now.monotonic))
        self.publish(
            self.interruptions.deadlineReached(
                now: now.monotonic,
                patience: patience,
                nextSequence: self.tape.nextSequence,
                epoch: self.tape.epoch
            )
        )
    }

    // MARK: What readers hear beside trades

    /// Publishes ``status``, beside those of other feeds.
    package func statusChanged() { self.tape.statusChanged() }

    package func symbolChanged(_ status: SymbolStatus) { self.tape.symbolChanged(status) }

    package func symbolUnsubscribed(_ symbol: String) { self.tape.symbolUnsubscribed(symbol) }

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

    private func publish(_ gap: Gap?) {
        guard let gap else { return }
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

    private func log(_ change: LossReport.Counts?) { change?.log(to: self.logger) }

    /// Logs that equal frames are no chance any more.
    private func logRepetition() {
        guard self.read.takeRepetition() else { return }
        self.logger.warning(
            "The service sends its frames several times, and volumes count them each time: upstream.drop-repeats leaves them out"
        )
    }
}
