import Market
import NIOCore
import Wire

/// The newest frames with trades, for clients of Finnhub's protocol that resume after a break; bounded in bytes and in
/// age.
///
/// It also knows from which position on it has every frame of a symbol that the upstream sent without a gap.
struct FrameRing {
    /// The bytes that a relay keeps.
    static let usualBytes = 8 << 20
    /// How long it keeps them, ns: two minutes.
    static let usualSpan: Int64 = 120_000_000_000
    /// The approximate memory of one batch beside its frames and trades, in bytes.
    private static let batchCost = 512

    private let maximumBytes: Int
    private let span: Int64
    /// The oldest first. All are of one epoch and numbered without a hole.
    private var batches: CircularBuffer<TapeBatch> = []
    /// The bytes that the batches take.
    private var bytes = 0
    private(set) var epoch: UInt64?
    /// The number of the next trade.
    private var next: UInt64
    private var symbols = SymbolTable()
    /// The number of each symbol's newest trade whose frame was dropped; 0 if none was.
    private var dropped: [UInt64] = []
    /// The number of the first trade after the newest gap of a symbol, or after the end of its subscription. A client
    /// that has not had that trade may miss others.
    private var interruptions: [String: UInt64] = [:]
    /// The same for all symbols.
    private var interruption: UInt64

    /// - Parameters:
    ///   - epoch: the epoch of the trades to come, if it is known.
    ///   - next: the number of the next trade.
    init(epoch: UInt64?, next: UInt64, maximumBytes: Int = FrameRing.usualBytes, span: Int64 = FrameRing.usualSpan) {
        self.maximumBytes = maximumBytes
        self.span = span
        self.epoch = epoch
        self.next = next
        self.interruption = max(next, 1) - 1
    }

    /// The number of the newest trade before the kept frames.
    var before: UInt64 { max(self.batches.first?.firstSequence ?? self.next, 1) - 1 }

    // MARK: The feed

    /// Keeps a copy of a batch with trades. A frame would otherwise keep the whole read in memory.
    mutating func append(_ batch: TapeBatch) {
        if batch.epoch != self.epoch || batch.firstSequence != self.next {
            self = FrameRing(
                epoch: batch.epoch,
                next: batch.firstSequence,
                maximumBytes: self.maximumBytes,
                span: self.span
            )
        }
        let copy = batch.copyOfFrames()
        self.symbols = copy.symbols
        self.next = batch.firstSequence + UInt64(batch.trades.count)
        self.bytes += Self.cost(of: copy)
        self.batches.append(copy)
        while self.bytes > self.maximumBytes { self.dropOldest() }
    }

    /// Drops the frames that are too old at `now`, monotonic ns.
    mutating func expire(now: Int64) {
        while let oldest = self.batches.first, oldest.receivedMonotonic < now - self.span { self.dropOldest() }
    }

    /// Notes that trades may be missing from here on; of one symbol, or of all if it is `nil`.
    mutating func interrupted(_ symbol: String?) {
        guard let symbol, self.interruptions.count < SymbolTable.capacity || self.interruptions[symbol] != nil else {
            self.interruption = self.next
            self.interruptions = [:]
            return
        }
        self.interruptions[symbol] = self.next
    }

    private mutating func dropOldest() {
        guard let batch = self.batches.popFirst() else { return }
        while self.dropped.count < self.symbols.count { self.dropped.append(0) }
        // No client that resumes gets filled trades.
        for (index, trade) in batch.trades.enumerated() where !trade.isFilled {
            self.dropped[Int(trade.symbol.index)] = batch.firstSequence + UInt64(index)
        }
        self.bytes -= Self.cost(of: batch)
    }

    private static func cost(of batch: TapeBatch) -> Int {
        batch.frames.reduce(Self.batchCost + batch.trades.count * MemoryLayout<Trade>.stride) {
            $0 + $1.bytes.readableBytes + MemoryLayout<TapeBatch.Frame>.stride
        }
    }

    // MARK: Clients

    /// Returns whether a position is one of this run, up to the newest trade.
    func follows(_ known: TapePosition) -> Bool { known.epoch == self.epoch && known.sequence < self.next }

    /// Returns whether all trades of some symbols after a position are here, and the upstream missed none since.
    func isComplete(after known: TapePosition, of names: [String]) -> Bool {
        guard known.sequence >= self.interruption, self.holds(after: known, of: names) else { return false }
        return names.allSatisfy { known.sequence >= self.interruptions[$0] ?? 0 }
    }

    /// Returns whether no frame of some symbols after a position was dropped.
    func holds(after known: TapePosition, of names: some Sequence<String>) -> Bool {
        guard self.follows(known) else { return false }
        return names.allSatisfy { name in
            guard let id = self.symbols.id(of: name), Int(id.index) < self.dropped.count else { return true }
            return known.sequence >= self.dropped[Int(id.index)]
        }
    }

    /// Returns the numbers of those symbols that have traded.
    func numbers(of names: some Sequence<String>) -> SymbolSet {
        var set = SymbolSet()
        for name in names { if let id = self.symbols.id(of: name) { set.insert(id) } }
        return set
    }

    /// Returns the oldest batches with frames after a trade, of about `limit` bytes or more.
    func batches(after sequence: UInt64, about limit: Int) -> [TapeBatch] {
        var place = (0..<self.batches.count).firstPlace { self.batches[offset: $0].nextSequence <= sequence + 1 }
        var found: [TapeBatch] = []
        var bytes = 0
        while place < self.batches.count, bytes < limit {
            var batch = self.batches[offset: place]
            // A client has whole frames, so a position is always that of a frame's last trade.
            batch.frames.removeAll { batch.firstSequence + UInt64($0.trades.upperBound) <= sequence + 1 }
            bytes += Self.cost(of: batch)
            found.append(batch)
            place += 1
        }
        return found
    }
}

extension TapeBatch {
    /// The number of the first trade after these.
    fileprivate var nextSequence: UInt64 { self.firstSequence + UInt64(self.trades.count) }

    /// Returns the batch with copies of its arrays and of the bytes of those frames that hold trades.
    fileprivate func copyOfFrames() -> TapeBatch {
        var copy = self
        copy.trades = self.trades.map(\.self)
        copy.frames = self.frames.filter { !$0.trades.isEmpty }
        var bytes = ByteBuffer()
        bytes.reserveCapacity(copy.frames.reduce(0) { $0 + $1.bytes.readableBytes })
        for frame in copy.frames { bytes.writeImmutableBuffer(frame.bytes) }
        for index in copy.frames.indices {
            guard let slice = bytes.readSlice(length: copy.frames[index].bytes.readableBytes) else { break }
            copy.frames[index].bytes = slice
        }
        return copy
    }
}
