import Market
import Wire

/// The newest trades of the tape, found by number or by symbol; bounded in memory (56 bytes per trade) and in age.
///
/// Numbers have no holes, so a trade's number gives its index. The ring restarts with a new epoch, and where a jump in
/// the numbers shows that trades were left out before it, so its contents have no gaps. Before this run's trades it can
/// hold those of earlier runs: of earlier epochs, and those that a recording has kept (``preload(_:gap:)``).
struct TradeRing {
    /// How many trades a program keeps.
    static let usualCapacity = 100_000
    /// How long it keeps them, ns: ten minutes.
    static let usualSpan: Int64 = 600_000_000_000
    /// The resolution of a trade's age, ns.
    static let ageStep: Int64 = 1_000_000_000

    struct Entry {
        var trade: Trade
        /// The distance to the symbol's previous trade, in trades; 0 for its first one.
        fileprivate var stepBack: UInt32
        /// The arrival by our wall clock, ns since 1970.
        var received: Int64
    }

    /// The trades of an earlier run, and the possible gap between them and the next run's.
    struct EarlierRun {
        var ring: TradeRing
        var gap: Gap
    }

    /// The trades that came within one ``ageStep``.
    private struct Moment {
        /// The number of the first trade.
        var first: UInt64
        /// The arrival of the first trade, monotonic ns.
        var arrival: Int64
    }

    let capacity: Int
    let span: Int64
    private(set) var epoch: UInt64?
    private(set) var symbols = SymbolTable()
    /// The numbers of the trades in the ring.
    private(set) var sequences: Range<UInt64> = 0..<0
    /// The runs before this one, the oldest first.
    private(set) var earlier: [EarlierRun] = []
    /// The number of the trade at index 0 of `entries`.
    private var base: UInt64 = 0
    private var entries: ContiguousArray<Entry> = []
    /// The number of each symbol's newest trade plus one; 0 before its first one.
    private var newest: [UInt64] = []
    /// The oldest first; those before `firstMoment` are no longer needed.
    private var moments: [Moment] = []
    private var firstMoment = 0

    /// - Parameter epoch: the epoch of the trades to come, if it is known; its first trade has the number 1.
    init(capacity: Int = TradeRing.usualCapacity, span: Int64 = TradeRing.usualSpan, epoch: UInt64? = nil) {
        self.capacity = max(capacity, 1)
        self.span = span
        guard let epoch else { return }
        self.epoch = epoch
        self.sequences = 1..<1
        self.base = 1
    }

    /// The number of trades, including those of earlier runs.
    var count: Int { self.earlier.reduce(self.sequences.count) { $0 + $1.ring.sequences.count } }

    /// Appends the trades of a batch. Those of another epoch become an earlier run.
    ///
    /// - Parameter seam: the gap between them and the batch, if it is known.
    mutating func append(_ batch: TapeBatch, behind seam: Gap? = nil) {
        if self.beginsAnew(with: batch) {
            if self.keepsRun(before: batch) {
                self.endRun(before: batch, seam)
            } else if self.epoch != nil, !self.sequences.isEmpty || batch.epoch == self.epoch {
                self.earlier = []
            }
            self.epoch = batch.epoch
            self.entries.removeAll(keepingCapacity: true)
            self.newest.removeAll(keepingCapacity: true)
            self.moments.removeAll(keepingCapacity: true)
            self.firstMoment = 0
            self.sequences = batch.firstSequence..<batch.firstSequence
            self.base = batch.firstSequence
        }
        guard !batch.trades.isEmpty else { return }
        let lower = self.lowerBound(after: batch)
        if batch.symbols.count != self.newest.count {
            self.symbols = batch.symbols
            while self.newest.count < batch.symbols.count { self.newest.append(0) }
        }
        if (self.moments.last?.arrival ?? .min) <= batch.receivedMonotonic - Self.ageStep {
            self.moments.append(Moment(first: batch.firstSequence, arrival: batch.receivedMonotonic))
        }
        var sequence = self.sequences.upperBound
        for trade in batch.trades {
            let before = self.newest[Int(trade.symbol.index)]
            let back = before == 0 ? 0 : sequence + 1 - before
            let entry = Entry(
                trade: trade,
                stepBack: back < UInt64(self.capacity) ? UInt32(back) : 0,
                received: batch.received
            )
            if self.entries.count < self.capacity {
                // Indices are assigned in the order of the numbers, beginning with the first one.
                self.entries.append(entry)
            } else {
                self.entries[self.place(of: sequence)] = entry
            }
            sequence += 1
            self.newest[Int(trade.symbol.index)] = sequence
        }
        self.sequences = lower..<sequence
        self.expire(now: batch.receivedMonotonic)
    }

    private func beginsAnew(with batch: TapeBatch) -> Bool {
        batch.epoch != self.epoch || batch.firstSequence != self.sequences.upperBound
    }

    /// Whether the trades become an earlier run with the batch, which is of another one.
    private func keepsRun(before batch: TapeBatch) -> Bool { batch.epoch != self.epoch && !self.sequences.isEmpty }

    /// Makes the trades an earlier run.
    private mutating func endRun(before batch: TapeBatch, _ seam: Gap?) {
        let newest = self[self.sequences.upperBound - 1].received
        var former = self
        former.earlier = []
        let gap =
            seam
            ?? Gap(
                from: newest,
                to: max(newest, batch.received),
                reason: "the numbers begin anew",
                nextSequence: batch.firstSequence,
                epoch: batch.epoch
            )
        self.earlier.append(EarlierRun(ring: former, gap: gap))
        // The earlier run has the memory.
        self.entries = []
        self.newest = []
        self.moments = []
    }

    /// Returns the number of the oldest trade that stays once the batch is appended, judged by capacity alone.
    func lowerBound(after batch: TapeBatch) -> UInt64 {
        if self.beginsAnew(with: batch) {
            return self.keepsRun(before: batch) ? self.sequences.lowerBound : self.sequences.upperBound
        }
        let upper = self.sequences.upperBound + UInt64(batch.trades.count)
        let room = upper > UInt64(self.capacity) ? upper - UInt64(self.capacity) : 0
        return max(self.sequences.lowerBound, room)
    }

    /// Returns the number of the oldest trade that is young enough at `now`, monotonic ns.
    func lowerBound(at now: Int64) -> UInt64 {
        var lower = self.sequences.lowerBound
        for index in self.firstMoment..<self.moments.count {
            guard self.moments[index].arrival + Self.ageStep <= now - self.span else { break }
            let next = index + 1 < self.moments.count ? self.moments[index + 1].first : self.sequences.upperBound
            lower = max(lower, next)
        }
        return lower
    }

    /// Drops the trades that are too old at `now` (monotonic ns), and those of earlier runs beyond the capacity.
    mutating func expire(now: Int64) {
        let lower = self.lowerBound(at: now)
        while self.firstMoment < self.moments.count,
            self.moments[self.firstMoment].arrival + Self.ageStep <= now - self.span
        {
            self.firstMoment += 1
        }
        if self.firstMoment > 64, self.firstMoment * 2 > self.moments.count {
            self.moments.removeFirst(self.firstMoment)
            self.firstMoment = 0
        }
        self.sequences = lower..<self.sequences.upperBound
        guard !self.earlier.isEmpty else { return }
        for index in self.earlier.indices { self.earlier[index].ring.expire(now: now) }
        var excess = self.count - self.capacity
        for index in self.earlier.indices where excess > 0 {
            excess -= self.earlier[index].ring.dropOldest(excess)
        }
        // An empty run gives no information, and neither do those before it.
        if let last = self.earlier.lastIndex(where: { $0.ring.sequences.isEmpty }) {
            self.earlier.removeSubrange(...last)
        }
    }

    private mutating func dropOldest(_ count: Int) -> Int {
        let dropped = min(count, self.sequences.count)
        self.sequences = (self.sequences.lowerBound + UInt64(dropped))..<self.sequences.upperBound
        return dropped
    }

    /// Puts the trades of an earlier run before this one's, as far as the capacity allows.
    ///
    /// Called before this run's first trade, for each run from the oldest to the newest.
    ///
    /// - Parameters:
    ///   - batches: all of one epoch and numbered without a hole. `receivedMonotonic` is on this run's clock and may be
    ///     negative. Their frames are not kept.
    ///   - gap: the possible gap between these trades and those of the next run.
    mutating func preload(_ batches: some Sequence<TapeBatch>, gap: Gap) {
        precondition(self.sequences.isEmpty, "trades of an earlier run after \(self.sequences.count) of this one")
        var ring = TradeRing(capacity: self.capacity, span: self.span)
        var newest = Int64.min
        for batch in batches {
            ring.append(batch)
            newest = max(newest, batch.receivedMonotonic)
        }
        guard ring.epoch != nil, !ring.sequences.isEmpty else { return }
        self.earlier.append(EarlierRun(ring: ring, gap: gap))
        self.expire(now: newest)
    }

    /// Takes the gap before this run as it is known with the run's first trades.
    mutating func closeEarlierGap(_ gap: Gap) {
        guard !self.earlier.isEmpty else { return }
        self.earlier[self.earlier.count - 1].gap = gap
    }

    /// The trade with a number, which must be one of ``sequences``.
    subscript(sequence: UInt64) -> Entry {
        precondition(self.sequences.contains(sequence), "trade \(sequence) is not in the ring")
        return self.entries[self.place(of: sequence)]
    }

    /// Returns the numbers of a symbol's newest trades, the oldest first; `nil` if it has none here.
    func newest(_ limit: Int, of symbol: String) -> [UInt64]? {
        var found: [UInt64] = []
        self.walkBack(symbol) { sequence in
            guard found.count < limit else { return false }
            found.append(sequence)
            return true
        }
        return found.isEmpty && (limit > 0 || !self.has(symbol)) ? nil : found.reversed()
    }

    /// Returns how many trades of a symbol there are from a number on, in this run.
    func count(of symbol: String, from first: UInt64) -> UInt64 {
        var count: UInt64 = 0
        self.walkBack(symbol) { sequence in
            guard sequence >= first else { return false }
            count += 1
            return true
        }
        return count
    }

    private func has(_ symbol: String) -> Bool {
        var isThere = false
        self.walkBack(symbol) { _ in
            isThere = true
            return false
        }
        return isThere
    }

    /// Calls `body` with the numbers of a symbol's trades, the newest first, until it returns `false`.
    private func walkBack(_ symbol: String, _ body: (UInt64) -> Bool) {
        guard let id = self.symbols.id(of: symbol), Int(id.index) < self.newest.count else { return }
        guard self.newest[Int(id.index)] > 0 else { return }
        var sequence = self.newest[Int(id.index)] - 1
        while self.sequences.contains(sequence), body(sequence) {
            let back = UInt64(self[sequence].stepBack)
            guard back > 0, back <= sequence else { break }
            sequence -= back
        }
    }

    private func place(of sequence: UInt64) -> Int { Int((sequence &- self.base) % UInt64(self.capacity)) }
}
