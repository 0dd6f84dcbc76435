import Market
import NIOCore
import Wire

/// What the current read of a feed has brought, until it goes onto the tape.
///
/// Finds the frames that come again: their trades are marked or left out. Its memory is used again for the next read.
struct PendingRead {
    private let repeats: RepeatHandling
    private(set) var trades: [Trade] = []
    private var frames: [TapeBatch.Frame] = []
    /// What is done on the connection that stands; whole frames tell nothing where another program has cut them.
    private var repeatsHere: RepeatHandling
    private var comparesFrames: Bool
    private var repeated = RepeatedFrames()
    private var repetition = RepetitionDetector()
    /// Whether the feed repeats its frames as a rule; false again once that has been asked for.
    private var repeatsAsRule = false
    private var arrivals: ArrivalClassifier
    /// The places of suspected trades in the next frame of a replay.
    private var announced: [Int] = []

    /// What could not be read, and frames that came again, so far.
    private(set) var losses = LossReport.Counts()
    /// The same of the current read, for its batch.
    private var readLosses = TapeBatch.Losses()

    init(repeats: RepeatHandling, isLive: Bool) {
        self.repeats = repeats
        self.repeatsHere = repeats
        self.comparesFrames = repeats != .ignored
        self.arrivals = ArrivalClassifier(isLive: isLive)
    }

    var isEmpty: Bool { self.frames.isEmpty }

    /// Forgets the frames that came last: what comes next is no repeat of them.
    ///
    /// - Parameter isRelayed: whether what comes next is from the relay of another program. That sends nothing twice, and may
    ///   have cut its frames: two that are equal then need not have been, and nothing is left out.
    mutating func forgetFrames(isRelayed: Bool) {
        self.repeated.reset()
        self.announced = []
        self.repetition = RepetitionDetector(after: self.repetition)
        self.repeatsHere = isRelayed && self.repeats == .leftOut ? .marked : self.repeats
        self.comparesFrames = self.repeats != .ignored && !isRelayed
    }

    // MARK: Frames

    /// Takes one text frame; see ``FeedInput/take(_:of:now:read:)``.
    @inline(__always)
    mutating func take(
        _ bytes: ByteBuffer,
        of dialect: FrameDialect,
        now: Int64,
        symbols: inout SymbolTable,
        read: (inout ByteBuffer, inout SymbolTable, inout [Trade]) -> FrameContent
    ) {
        let first = self.trades.count
        let unnumbered = symbols.leftOut
        var bytes = bytes
        let content = read(&bytes, &symbols, &self.trades)
        var isWhole = true
        var isMalformed = false
        switch content {
        case .trades(let skipped):
            // A table without room leaves out what is well-formed.
            let unnumbered = min(max(symbols.leftOut - unnumbered, 0), skipped)
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

    /// Notes when the next frame arrived in the recording that is played.
    ///
    /// - Parameter arrival: by the exchange's clock, ns since 1970.
    mutating func arrivalMarked(_ arrival: Int64) { self.arrivals.marked(arrival) }

    /// Takes the places of the trades of the next frame that a replay knows to be suspected.
    mutating func announce(_ places: [Int]) { self.announced = places }

    /// Takes a frame that came before, whose trades begin at a place; returns whether they stay on the tape.
    private mutating func takeRepeat(from first: Int) -> Bool {
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

    private mutating func markAnnounced(from first: Int) {
        for place in self.announced where place < self.trades.count - first { self.mark(first + place) }
        self.announced = []
    }

    private mutating func mark(_ place: Int) {
        guard !self.trades[place].marks.contains(.possibleRepeat) else { return }
        self.trades[place].marks.insert(.possibleRepeat)
        self.readLosses.possibleRepeats += 1
    }

    // MARK: The end of the read

    /// Returns, once, that equal frames are no chance any more and are to be reported.
    mutating func takeRepetition() -> Bool {
        defer { self.repeatsAsRule = false }
        return self.repeatsAsRule && self.repeats == .marked
    }

    /// Marks the trades that may have come before an interruption, and leaves out those that likely did where that is wanted.
    mutating func apply(_ findings: [OverlapCheck.Finding]) {
        for place in findings.indices where findings[place] != .new { self.mark(place) }
        if self.repeatsHere == .leftOut { self.leaveOut(findings.map { $0 == .likely }) }
    }

    private mutating func leaveOut(_ isRepeat: [Bool]) {
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

    /// Returns the read as a batch that has no numbers yet, and is empty for the next one.
    mutating func takeBatch(_ now: Moment, symbols: SymbolTable) -> TapeBatch {
        let aheadArrival = self.arrivals.readEnded(&self.trades, received: now.wall)
        var batch = TapeBatch(
            epoch: 0,
            firstSequence: 0,
            received: now.wall,
            receivedMonotonic: now.monotonic,
            trades: self.trades,
            frames: self.frames,
            symbols: symbols,
            losses: self.readLosses
        )
        batch.clockOffset = self.arrivals.clockOffset
        batch.aheadArrival = aheadArrival
        self.readLosses = TapeBatch.Losses()
        self.trades = []
        self.frames = []
        return batch
    }

    /// Takes the batch's arrays for the next read, so that a read needs no new ones: a reader that keeps the batch keeps
    /// them, and emptying them here makes new ones of the same size.
    mutating func reuse(_ batch: inout TapeBatch) {
        guard self.trades.isEmpty, self.frames.isEmpty else { return }
        swap(&self.trades, &batch.trades)
        swap(&self.frames, &batch.frames)
        // What a burst needed is not held on to: where somebody keeps the batch the new array has the old one's size, and a
        // queue of batches would be as large as if each were a burst.
        self.trades.removeAll(keepingCapacity: self.trades.capacity <= max(16, 4 * self.trades.count))
        self.frames.removeAll(keepingCapacity: self.frames.capacity <= max(4, 4 * self.frames.count))
    }
}
