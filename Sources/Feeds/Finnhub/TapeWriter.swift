import Market
import NIOCore
package import Wire

/// The feed's end of the tape: parses frames, numbers their trades and hands each read to the readers.
///
/// Belongs to the feed's event loop and outlives its connections, so that numbers go on after a reconnect.
///
/// What is touched with every message has no run-time check for overlapping access, which would cost more than the parser:
/// it is private, on one loop, and no call that gets a part of it comes back here.
package final class TapeWriter {
    @exclusivity(unchecked) private var tape: Tape
    @exclusivity(unchecked) private var symbols = SymbolTable()
    @exclusivity(unchecked) private var parser = FinnhubParser()
    let readers: [any TapeReader]
    let key: APIKey?
    @exclusivity(unchecked) private var trades: [Trade] = []
    @exclusivity(unchecked) private var frames: [TapeBatch.Frame] = []
    private let repeats: RepeatHandling
    /// The same for the connection that stands; whole frames tell nothing where another program has cut them.
    private var repeatsHere: RepeatHandling
    private var comparesFrames = true
    @exclusivity(unchecked) private var repeated = RepeatedFrames()
    @exclusivity(unchecked) private var repetition = RepetitionWatch()
    /// Set until ``takeRepetition()``: the feed repeats its frames as a rule.
    private var repeatsAsRule = false
    @exclusivity(unchecked) private var tails = TradeTails()
    private var overlap: OverlapCheck?
    @exclusivity(unchecked) private var arrivals: ArrivalJudge
    /// When the comparison ends; monotonic ns.
    private var overlapEnd: Int64?
    private var overlapIsTold = false
    /// The places of suspected trades in the next frame of a replay.
    @exclusivity(unchecked) private var announced: [Int] = []
    /// Whether the trades of the current read all may be from before the interruption.
    private(set) var pendingMayBeOld = false
    private static let overlapTime: Int64 = 60_000_000_000
    /// With fewer names left than this the tape begins anew. Far more than one read of a service brings, and one that brings
    /// more has the trades of the others left out and counted as such.
    private static let leastRoom = 256

    /// What could not be read, and frames that came again, so far.
    private(set) var losses = LossReport.Counts()
    /// The same of the current read, for its batch.
    @exclusivity(unchecked) private var readLosses = TapeBatch.Losses()

    /// - Parameters:
    ///   - key: what no reader shall see, should the service repeat it in any frame.
    ///   - repeats: what is done with what may have come before: frames that come again within two seconds, and trades
    ///     that come again after an interruption.
    ///   - judgesArrivals: whether trades are compared with our clock, which says nothing of those of a replay.
    package init(
        epoch: UInt64,
        readers: [any TapeReader],
        key: APIKey? = nil,
        repeats: RepeatHandling = .marked,
        judgesArrivals: Bool = true
    ) {
        self.arrivals = ArrivalJudge(isLive: judgesArrivals)
        self.key = key
        self.tape = Tape(epoch: epoch)
        self.readers = readers
        self.repeats = repeats
        self.repeatsHere = repeats
        self.comparesFrames = repeats != .ignored
    }

    var nextSequence: UInt64 { self.tape.nextSequence }

    var epoch: UInt64 { self.tape.epoch }

    /// Notes that a connection opened: what it sends is no repeat of another one's frames.
    ///
    /// - Parameter isRelayed: whether it is to the relay of another program. That sends nothing twice, and may have cut its
    ///   frames: two that are equal then need not have been, and nothing is left out.
    func connectionOpened(isRelayed: Bool = false) {
        self.repeated.reset()
        self.announced = []
        self.repetition = RepetitionWatch(after: self.repetition)
        self.repeatsHere = isRelayed && self.repeats == .leftOut ? .marked : self.repeats
        self.comparesFrames = self.repeats != .ignored && !isRelayed
    }

    /// Whether it is to be said that the feed repeats its frames as a rule; answers so once.
    func takeRepetition() -> Bool {
        defer { self.repeatsAsRule = false }
        return self.repeatsAsRule
    }

    /// Notes that something may be missing: the trades that come next are compared with those that came last.
    func interrupted() {
        guard self.repeats != .ignored else { return }
        self.overlap = OverlapCheck(self.tails)
        self.overlapEnd = nil
        self.overlapIsTold = false
    }

    /// Takes one text frame of the current read, which was made at `now` (monotonic ns).
    func take(_ bytes: ByteBuffer, now: Int64) -> FinnhubMessage {
        let first = self.trades.count
        let known = self.symbols.count
        let unnumbered = self.symbols.leftOut
        var bytes = bytes
        var message = self.parser.parse(bytes, symbols: &self.symbols, into: &self.trades)
        // A frame of the usual shape and with known symbols has no room for a key.
        if let key, !self.parser.wasExact || self.symbols.count != known {
            self.leaveOut(key, of: &bytes, &message, first: first, known: known)
        }
        var isWhole = true
        var isMalformed = false
        switch message {
        case .trade(_, let skipped):
            // A table without room leaves out what is well-formed.
            let unnumbered = min(max(self.symbols.leftOut - unnumbered, 0), skipped)
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
        case .ping, .error, .news, .unknown:
            break
        }
        if isMalformed { self.readLosses.malformedFrames += 1 }
        self.arrivals.frameTaken(&self.trades, from: first)
        let places = first..<self.trades.count
        self.frames.append(
            TapeBatch.Frame(bytes: bytes, trades: places, isWhole: isWhole, isMalformed: isMalformed)
        )
        return message
    }

    /// Notes when the next frame arrived in the recording that is played (``RecordedArrivalMark``).
    func arrivalMarked(_ mark: RecordedArrivalMark) { self.arrivals.marked(mark) }

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

    /// Takes what a replay knows of the trades of the next frame.
    func announce(_ mark: RecordedRepeatMark) { self.announced = mark.places }

    private func markAnnounced(from first: Int) {
        for place in self.announced where place < self.trades.count - first { self.mark(first + place) }
        self.announced = []
    }

    private func mark(_ place: Int) {
        guard !self.trades[place].marks.contains(.possibleRepeat) else { return }
        self.trades[place].marks.insert(.possibleRepeat)
        self.readLosses.possibleRepeats += 1
    }

    /// Takes the key out of a frame that repeats it: out of the bytes that the readers get, the message and the symbols.
    ///
    /// - Parameters:
    ///   - first: the first of the frame's trades.
    ///   - known: how many symbols there were before the frame.
    private func leaveOut(
        _ key: APIKey,
        of bytes: inout ByteBuffer,
        _ message: inout FinnhubMessage,
        first: Int,
        known: Int
    ) {
        if self.symbols.names[known...].contains(where: { key.occurs(in: $0.utf8) }) {
            let names = self.symbols.names[..<known]
            self.symbols = SymbolTable()
            for name in names { _ = self.symbols.intern(name) }
            self.trades.removeLast(self.trades.count - first)
            message = .malformed(reason: "the key as a symbol")
            bytes = FinnhubEncoder.redacted
            return
        }
        guard key.occurs(in: bytes.readableBytesView) else { return }
        switch message {
        case .error(let text):
            message = .error(key.redacted(text))
            bytes = FinnhubEncoder.error(key.redacted(text))
        case .trade:
            bytes = ByteBuffer()
            FinnhubEncoder.trade(self.trades[first...], symbols: self.symbols, into: &bytes)
        case .unknown(let type):
            message = .unknown(type: key.redacted(type))
            bytes = FinnhubEncoder.redacted
        case .ping, .news, .malformed:
            bytes = FinnhubEncoder.redacted
        }
    }

    /// The trades of the current read so far.
    var pendingTrades: Int { self.trades.count }

    var pending: [Trade] { self.trades }

    /// Names for the symbols of the trades.
    var names: SymbolTable { self.symbols }

    /// Finds in the current read what may have come before an interruption already; to be called before ``endRead(_:)``.
    func compareWithTails(now: Int64) {
        self.pendingMayBeOld = false
        guard self.overlap != nil, !self.trades.isEmpty else { return }
        let end = self.overlapEnd ?? now + Self.overlapTime
        self.overlapEnd = end
        guard now < end else {
            self.overlap = nil
            return
        }
        guard let findings = self.overlap?.check(self.trades) else { return }
        self.pendingMayBeOld = findings.allSatisfy { $0 != .new }
        for place in findings.indices where findings[place] != .new { self.mark(place) }
        if self.repeatsHere == .leftOut { self.leaveOut(findings.map { $0 == .likely }) }
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

    /// How many trades since the interruption likely are repeats, and between which numbers the true one lies; `nil` where
    /// nothing could be compared, and for a gap that another one of the same interruption has told.
    func takeOverlap() -> (count: Int, bounds: OverlapBounds)? {
        defer { self.overlapIsTold = true }
        guard !self.overlapIsTold, let overlap, overlap.compared > 0 else { return nil }
        return (overlap.likely, overlap.bounds)
    }

    /// Ends the current read: numbers its trades and hands them to every reader.
    ///
    /// - Parameter now: when the read was made.
    func endRead(_ now: Moment) {
        guard !self.frames.isEmpty else { return }
        let aheadArrival = self.arrivals.readEnded(&self.trades, received: now.wall)
        if self.repeats != .ignored { self.tails.append(self.trades, symbolCount: self.symbols.count) }
        var batch = TapeBatch(
            epoch: self.tape.epoch,
            firstSequence: self.tape.append(count: self.trades.count),
            received: now.wall,
            receivedMonotonic: now.monotonic,
            trades: self.trades,
            frames: self.frames,
            symbols: self.symbols,
            losses: self.readLosses
        )
        batch.clockOffset = self.arrivals.clockOffset
        batch.aheadArrival = aheadArrival
        self.readLosses = TapeBatch.Losses()
        self.trades = []
        self.frames = []
        for reader in self.readers { reader.read(batch) }
        self.takeBack(&batch)
        if SymbolTable.capacity - self.symbols.count < Self.leastRoom { self.beginAnew() }
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

    /// Begins a new epoch, without the names of the last one.
    ///
    /// A symbol keeps its number for as long as its epoch lasts, and there are ``SymbolTable/capacity`` numbers. Who changes
    /// often enough what is asked for must not use them up for all others: for whom the tape goes on, with new numbers.
    private func beginAnew() {
        self.tape = Tape(epoch: self.tape.epoch + 1)
        self.symbols = SymbolTable()
        self.tails = TradeTails()
        self.overlap = nil
        self.overlapEnd = nil
    }
}
