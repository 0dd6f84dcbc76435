import Market
import NIOCore
import Wire

/// The content of a feed's current read until it goes onto the tape.
///
/// It finds repeated frames, and marks their trades or leaves them out. The next read reuses its memory.
struct PendingRead {
    private let repeats: RepeatHandling
    private(set) var trades: [Trade] = []
    private var frames: [TapeBatch.Frame] = []
    /// The handling of repeats on the present connection. Another program's relay may have cut its frames, so equal
    /// frames prove nothing there.
    private var repeatsHere: RepeatHandling
    private var comparesFrames: Bool
    private var repeated = RepeatedFrames()
    private var repetition = RepetitionDetector()
    /// Whether the feed repeats its frames systematically; ``takeRepetition()`` resets it.
    private var repeatsAsRule = false
    private var arrivals: ArrivalClassifier
    /// The arrival of trades that are ahead, of a part whose whole read was judged; `nil` of a read that was not yet.
    private var judged: Int64??
    /// The positions of suspected trades in the next frame of a replay.
    private var announced: [Int] = []
    /// What the recording of a replay says of the frames.
    var judgement = RecordedJudgement()
    /// Whether some trades of the read are marked ``TradeMarks/filled``.
    private var hasFilled = false

    /// The frames and elements that could not be read, and the frames that were left out as repeats, so far.
    private(set) var losses = LossReport.Counts()
    /// The losses of the current read, for its batch.
    private var readLosses = TapeBatch.Losses()
    /// The trades of the current read whose ids were seen, for its batch.
    private var repeatedTrades: [Trade] = []

    init(repeats: RepeatHandling, isLive: Bool) {
        self.repeats = repeats
        self.repeatsHere = repeats
        self.comparesFrames = repeats.comparesContent
        self.arrivals = ArrivalClassifier(isLive: isLive)
    }

    var isEmpty: Bool { self.frames.isEmpty }

    /// The number of frames so far.
    var frameCount: Int { self.frames.count }

    /// The trades that change the status of the feed and its symbols. One that comes late says nothing about them.
    @inline(__always)
    var liveTrades: [Trade] { self.hasFilled ? self.trades.filter { !$0.marks.contains(.filled) } : self.trades }

    /// Forgets the last frames, so that no later frame counts as their repeat.
    ///
    /// - Parameter isRelayed: whether the next frames come from the relay of another program. A relay sends nothing
    ///   twice, but it may have cut frames. Two equal frames then prove no repeat, and nothing is left out.
    mutating func forgetFrames(isRelayed: Bool) {
        self.repeated.reset()
        self.announced = []
        self.judgement.forgetNext()
        self.repetition = RepetitionDetector(after: self.repetition)
        self.repeatsHere = isRelayed && self.repeats == .leftOut ? .marked : self.repeats
        self.comparesFrames = self.repeats.comparesContent && !isRelayed
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
            // A full symbol table skips well-formed trades, too; they are counted apart.
            let unnumbered = min(max(symbols.leftOut - unnumbered, 0), skipped)
            self.losses.unnumberedTrades += unnumbered
            self.readLosses.unnumberedTrades += unnumbered
            self.losses.malformedElements += skipped - unnumbered
            self.readLosses.malformedElements += skipped - unnumbered
            isMalformed = skipped > unnumbered
            isWhole = skipped == 0
            if self.comparesFrames, self.trades.count > first, dialect.answering == nil {
                let isRepeat = self.repeated.isRepeat(bytes, now: now)
                if self.repetition.take(isRepeat: isRepeat, now: now) { self.repeatsAsRule = true }
                if isRepeat { isWhole = self.takeRepeat(from: first) && isWhole }
            }
            if !self.announced.isEmpty, dialect.answering == nil { self.markAnnounced(from: first) }
            // Another program has marked these itself.
            if dialect == .tickertape, self.trades[first...].contains(where: \.isFilled) { self.hasFilled = true }
        case .malformed:
            self.losses.malformedFrames += 1
            isMalformed = true
            isWhole = false
        case .other:
            break
        }
        if isMalformed { self.readLosses.malformedFrames += 1 }
        self.arrivals.frameTaken(&self.trades, from: first)
        if self.judgement.isOn { self.judgement.frameTaken(self.frames.count) }
        let places = first..<self.trades.count
        self.frames.append(
            TapeBatch.Frame(bytes: bytes, dialect: dialect, trades: places, isWhole: isWhole, isMalformed: isMalformed)
        )
    }

    /// Takes the frame of an exchange with a REST service, which gives no symbol a number: one beyond those of
    /// `symbols` is unknown.
    mutating func take(
        _ answer: ByteBuffer,
        of dialect: FrameDialect,
        now: Int64,
        symbols: SymbolTable,
        read: (ByteBuffer, inout SymbolTable, inout [Trade]) -> FrameContent
    ) {
        var symbols = symbols
        self.take(answer, of: dialect, now: now, symbols: &symbols) { read($0, &$1, &$2) }
    }

    /// Notes when the next frame arrived in the recording that is replayed.
    ///
    /// - Parameter arrival: by the exchange's clock, ns since 1970.
    mutating func arrivalMarked(_ arrival: Int64) { self.arrivals.marked(arrival) }

    /// Takes the positions of the trades of the next frame that the recording marks as possible repeats.
    mutating func announce(_ places: [Int]) { if self.repeats != .identified { self.announced = places } }

    /// Takes a repeated frame whose trades begin at `first`; returns whether they stay on the tape.
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

    /// Returns whether systematic repetition of frames is to be reported now; `true` once for each finding.
    mutating func takeRepetition() -> Bool {
        defer { self.repeatsAsRule = false }
        return self.repeatsAsRule && self.repeats == .marked
    }

    /// Marks the trades that may be repeats from before an interruption. Leaves out the likely ones if the setting says
    /// so.
    mutating func apply(_ findings: [OverlapCheck.Finding]) {
        for place in findings.indices where findings[place] != .new { self.mark(place) }
        guard self.repeatsHere == .leftOut else { return }
        let count = self.leaveOut(findings.map { $0 == .likely })
        self.readLosses.repeatedTrades += count
        self.readLosses.possibleRepeats -= count
    }

    /// Leaves out the trades whose ids were seen, and marks those that were missing. Returns the gaps that show.
    mutating func identify(_ ids: inout IdentifiedTrades, _ now: Moment, symbols: SymbolTable) -> [FoundGap] {
        ids.readBegan(now, symbols: symbols)
        if !self.judgement.isEmpty { return self.followRecording(&ids) }
        var isLeftOut: [Bool] = []
        var marks: TradeMarks = []
        self.trades.withUnsafeMutableBufferPointer { trades in
            for index in self.frames.indices {
                ids.frameBegan(index)
                for place in self.frames[index].trades {
                    let finding = ids.take(&trades[place])
                    marks.formUnion(trades[place].marks)
                    guard finding != .kept else { continue }
                    if isLeftOut.isEmpty { isLeftOut = [Bool](repeating: false, count: trades.count) }
                    isLeftOut[place] = true
                    guard finding == .repeated else { continue }
                    self.readLosses.repeatedTrades += 1
                    self.repeatedTrades.append(trades[place])
                }
            }
        }
        self.hasFilled = marks.contains(.filled)
        if !isLeftOut.isEmpty { _ = self.leaveOut(isLeftOut) }
        return ids.readEnded()
    }

    /// Leaves out and marks trades of a replay as its recording says. The ids take them, too, for the frames of which it
    /// says nothing. Returns the gaps that such frames show; those of the others are recorded.
    private mutating func followRecording(_ ids: inout IdentifiedTrades) -> [FoundGap] {
        var isLeftOut = [Bool](repeating: false, count: self.trades.count)
        for index in self.frames.indices {
            ids.frameBegan(index)
            let recorded = self.judgement.places(of: index)
            var leftOut = recorded?.leftOut[...] ?? []
            var filled = recorded?.filled[...] ?? []
            let places = self.frames[index].trades
            for place in places {
                let finding = ids.take(&self.trades[place])
                isLeftOut[place] = finding != .kept
                if recorded != nil {
                    isLeftOut[place] = leftOut.takeFirst(place - places.lowerBound)
                    self.trades[place].marks.remove(.filled)
                    if filled.takeFirst(place - places.lowerBound) { self.trades[place].marks.insert(.filled) }
                }
                guard isLeftOut[place], finding == .repeated else { continue }
                self.readLosses.repeatedTrades += 1
                self.repeatedTrades.append(self.trades[place])
            }
        }
        if isLeftOut.contains(true) { _ = self.leaveOut(isLeftOut) }
        self.hasFilled = self.trades.contains(where: \.isFilled)
        let judgement = self.judgement
        self.judgement.readEnded()
        return ids.readEnded().filter { judgement.places(of: $0.frame) == nil }
    }

    /// Leaves out the trades of an answer that are not missing, and marks the others. They are as old as they are, so
    /// nothing is learned from their times.
    mutating func fill(_ ids: inout IdentifiedTrades, _ now: Moment, symbols: SymbolTable) {
        ids.readBegan(now, symbols: symbols)
        let recorded = self.judgement.places(of: 0)
        self.judgement.readEnded()
        self.fill(now, symbols: symbols, recorded: recorded) { ids.fill(&$0) }
    }

    /// Leaves out the trades of an answer that are not missing.
    ///
    /// - Parameters:
    ///   - recorded: what the recording of a replay says of them, which decides then.
    ///   - isMissing: marks a missing trade, and returns whether it is one.
    mutating func fill(
        _ now: Moment,
        symbols: SymbolTable,
        recorded: FramePlaces?,
        isMissing: (inout Trade) -> Bool
    ) {
        var isLeftOut = self.trades.indices.map { !isMissing(&self.trades[$0]) }
        if let recorded {
            var leftOut = recorded.leftOut[...]
            for place in self.trades.indices {
                let isUnknown = Int(self.trades[place].symbol.index) >= symbols.count
                isLeftOut[place] = leftOut.takeFirst(place) || isUnknown
            }
        }
        _ = self.leaveOut(isLeftOut)
        self.judged = .some(self.arrivals.judgeEarlier(&self.trades, received: now.wall))
    }

    /// Removes trades of the read, and notes their places in their frames. Returns their number.
    private mutating func leaveOut(_ isRepeat: [Bool]) -> Int {
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
        defer { self.trades = kept }
        return self.trades.count - kept.count
    }

    // MARK: Parts

    /// Whether trades of the read come before a frame.
    func hasTrades(before frame: Int) -> Bool { self.frames[frame].trades.lowerBound > 0 }

    /// The content of a read that goes onto the tape in parts.
    struct Content {
        var trades: [Trade]
        var frames: [TapeBatch.Frame]
        var aheadArrival: Int64?
    }

    /// Removes and returns the content of the read.
    mutating func takeContent(_ now: Moment) -> Content {
        let aheadArrival = self.arrivals.readEnded(&self.trades, received: now.wall)
        defer { (self.trades, self.frames) = ([], []) }
        return Content(trades: self.trades, frames: self.frames, aheadArrival: aheadArrival)
    }

    /// Makes some of a read's frames the content of this one.
    mutating func put(_ frames: Range<Int>, of content: Content) {
        guard let first = content.frames[frames].first, let last = content.frames[frames].last else { return }
        let offset = first.trades.lowerBound
        self.trades = Array(content.trades[offset..<last.trades.upperBound])
        self.frames = Array(content.frames[frames])
        for index in self.frames.indices {
            let trades = self.frames[index].trades
            self.frames[index].trades = trades.lowerBound - offset..<trades.upperBound - offset
        }
        self.hasFilled = self.trades.contains { $0.marks.contains(.filled) }
        let isAhead = self.trades.contains { $0.marks.contains(.ahead) }
        self.judged = .some(isAhead ? content.aheadArrival : nil)
    }

    /// Returns the read as a batch without numbers, and empties it for the next read.
    mutating func takeBatch(_ now: Moment, symbols: SymbolTable) -> TapeBatch {
        let aheadArrival = self.judged ?? self.arrivals.readEnded(&self.trades, received: now.wall)
        self.judged = nil
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
        batch.repeated = self.repeatedTrades
        self.readLosses = TapeBatch.Losses()
        self.repeatedTrades = []
        self.hasFilled = false
        self.trades = []
        self.frames = []
        return batch
    }

    /// Takes back the batch's arrays for the next read, so that it needs no new allocation. If a reader keeps the
    /// batch, it keeps the arrays; emptying them here then allocates new ones of the same size.
    mutating func reuse(_ batch: inout TapeBatch) {
        guard self.trades.isEmpty, self.frames.isEmpty else { return }
        swap(&self.trades, &batch.trades)
        swap(&self.frames, &batch.frames)
        // The memory of a burst is released. Otherwise, where a reader keeps the batches, each new array would have the
        // size of the burst, and a queue of small batches would take as much memory as a queue of bursts.
        self.trades.removeAll(keepingCapacity: self.trades.capacity <= max(16, 4 * self.trades.count))
        self.frames.removeAll(keepingCapacity: self.frames.capacity <= max(4, 4 * self.frames.count))
    }
}
