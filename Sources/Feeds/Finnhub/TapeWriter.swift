import Market
import NIOCore
import Wire

/// The feed's end of the tape: parses frames, numbers their trades and hands each read to the readers.
///
/// Belongs to the feed's event loop and outlives its connections, so that numbers go on after a reconnect.
///
/// What is touched with every message has no run-time check for overlapping access, which would cost more than the parser:
/// it is private, on one loop, and no call that gets a part of it comes back here.
final class TapeWriter {
    @exclusivity(unchecked) private var tape: Tape
    @exclusivity(unchecked) private var symbols = SymbolTable()
    @exclusivity(unchecked) private var parser = FinnhubParser()
    private let readers: [any TapeReader]
    private let key: APIKey?
    @exclusivity(unchecked) private var trades: [Trade] = []
    @exclusivity(unchecked) private var frames: [TapeBatch.Frame] = []
    /// What is left out when it comes twice: whole frames, and trades around a gap.
    private let leavesOutRepeats: Bool
    private let comparesAfterGaps: Bool
    @exclusivity(unchecked) private var repeated = RepeatedFrames()
    @exclusivity(unchecked) private var tails = TradeTails()
    private var overlap: OverlapCheck?
    @exclusivity(unchecked) private var arrivals: ArrivalJudge
    /// When the comparison ends for symbols that have not traded since either; monotonic ns.
    private var overlapEnd: Int64?
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
    ///   - leavesOutRepeats: whether a frame that comes again at once is left out of the tape.
    ///   - comparesAfterGaps: whether trades that come again after an interruption are left out of the tape.
    ///   - judgesArrivals: whether trades are compared with our clock, which says nothing of those of a replay.
    init(
        epoch: UInt64,
        readers: [any TapeReader],
        key: APIKey? = nil,
        leavesOutRepeats: Bool = true,
        comparesAfterGaps: Bool = true,
        judgesArrivals: Bool = true
    ) {
        self.arrivals = ArrivalJudge(isLive: judgesArrivals)
        self.key = key
        self.tape = Tape(epoch: epoch)
        self.readers = readers
        self.leavesOutRepeats = leavesOutRepeats
        self.comparesAfterGaps = comparesAfterGaps
    }

    var nextSequence: UInt64 { self.tape.nextSequence }

    var epoch: UInt64 { self.tape.epoch }

    /// Notes that a connection opened: what it sends is no repeat of another one's frames.
    func connectionOpened() { self.repeated.reset() }

    /// Notes that something may be missing: the trades that come next are compared with those that came last.
    func interrupted() {
        guard self.comparesAfterGaps else { return }
        self.overlap = OverlapCheck(self.tails)
        self.overlapEnd = nil
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
            if self.leavesOutRepeats, self.trades.count > first, self.repeated.isRepeat(bytes, now: now) {
                self.losses.repeatedFrames += 1
                self.readLosses.repeatedFrames += 1
                self.readLosses.repeatedTrades += self.trades.count - first
                self.trades.removeLast(self.trades.count - first)
                isWhole = false
            }
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

    /// Leaves out of the current read what came before an interruption already; to be called before ``endRead(_:)``.
    func leaveOutOverlap(now: Int64) {
        guard self.overlap != nil, !self.trades.isEmpty else { return }
        let end = self.overlapEnd ?? now + Self.overlapTime
        self.overlapEnd = end
        guard now < end else {
            self.overlap = nil
            return
        }
        guard let isRepeat = self.overlap?.check(self.trades), isRepeat.contains(true) else { return }
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
        self.readLosses.repeatedTrades += self.trades.count - kept.count
        self.trades = kept
    }

    /// How many trades since the interruption were repeats; `nil` where nothing could be compared.
    var overlapCount: Int? { self.overlap.flatMap { $0.compared > 0 ? $0.repeats : nil } }

    /// Ends the current read: numbers its trades and hands them to every reader.
    ///
    /// - Parameter now: when the read was made.
    func endRead(_ now: FeedMoment) {
        guard !self.frames.isEmpty else { return }
        let aheadArrival = self.arrivals.readEnded(&self.trades, received: now.wall)
        if self.comparesAfterGaps {
            self.tails.append(self.trades, symbolCount: self.symbols.count)
            if self.overlap?.isDone == true { self.overlap = nil }
        }
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

    func publish(_ status: FeedStatus) {
        for reader in self.readers { reader.statusChanged(status) }
    }

    func publish(_ change: SymbolWatch.Change) {
        for reader in self.readers {
            switch change {
            case .state(let status): reader.symbolChanged(status)
            case .unwished(let symbol): reader.symbolUnwished(symbol)
            }
        }
    }

    func publish(_ gap: Gap) {
        for reader in self.readers { reader.gapFound(gap) }
    }

    /// What was in a ping or pong, as the readers get it: nothing where it repeats the key.
    ///
    /// Copied, for it must not keep the read alive that it came with.
    func told(_ payload: ByteBuffer) -> ByteBuffer {
        guard payload.readableBytes > 0, self.key?.occurs(in: payload.readableBytesView) != true else {
            return ByteBuffer()
        }
        return ByteBuffer(bytes: payload.readableBytesView)
    }

    /// Tells what happened on the connection beside its messages; at a monotonic time in ns.
    func publish(_ event: ConnectionEvent, monotonic: Int64) {
        for reader in self.readers { reader.connectionChanged(event, monotonic: monotonic) }
    }
}
