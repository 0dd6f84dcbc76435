import Market
import Wire

/// The newest trades of the tape, found by number or by symbol; bounded memory (56 bytes a trade) and age.
///
/// Numbers follow each other without a hole, so a trade's number says where it stands. Where the tape begins anew, or a
/// hole shows that trades were left out on the way here, the ring begins anew too: what it holds is always whole. Before
/// this run's trades it can hold those of earlier runs, which somebody else has kept (``preload(_:gap:)``).
struct TradeRing {
    /// The trades that a program holds on to.
    static let usualCapacity = 100_000
    /// For how long it holds on to them, ns: ten minutes.
    static let usualSpan: Int64 = 600_000_000_000
    /// How exactly the age of a trade is known, ns.
    static let ageStep: Int64 = 1_000_000_000

    struct Entry {
        var trade: Trade
        /// How many trades back the symbol's trade before this one is; 0 where there is none.
        fileprivate var stepBack: UInt32
        /// Our wall clock at the arrival, ns since 1970.
        var received: Int64
    }

    /// Trades of an earlier run, and what may be missing between them and the next run's.
    struct EarlierRun {
        var ring: TradeRing
        var gap: Gap
    }

    /// The trades that came within one ``ageStep``.
    private struct Moment {
        /// The number of the first.
        var first: UInt64
        /// When it came, monotonic ns.
        var arrival: Int64
    }

    let capacity: Int
    let span: Int64
    private(set) var epoch: UInt64?
    private(set) var symbols = SymbolTable()
    /// The numbers of the trades that are there.
    private(set) var sequences: Range<UInt64> = 0..<0
    /// The runs before this one, the oldest first.
    private(set) var earlier: [EarlierRun] = []
    /// The number of the trade that took the first place.
    private var base: UInt64 = 0
    private var entries: ContiguousArray<Entry> = []
    /// The number of each symbol's newest trade, plus one; 0 where there is none.
    private var newest: [UInt64] = []
    /// Oldest first, those before `firstMoment` done with.
    private var moments: [Moment] = []
    private var firstMoment = 0

    /// - Parameter epoch: the run of numbers that will come, if that is known; its first trade has the number 1.
    init(capacity: Int = TradeRing.usualCapacity, span: Int64 = TradeRing.usualSpan, epoch: UInt64? = nil) {
        self.capacity = max(capacity, 1)
        self.span = span
        guard let epoch else { return }
        self.epoch = epoch
        self.sequences = 1..<1
        self.base = 1
    }

    /// How many trades are there, those of earlier runs among them.
    var count: Int { self.earlier.reduce(self.sequences.count) { $0 + $1.ring.sequences.count } }

    mutating func append(_ batch: TapeBatch) {
        if self.beginsAnew(with: batch) {
            if self.epoch != nil, !self.sequences.isEmpty || batch.epoch == self.epoch { self.earlier = [] }
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
                // The places are given out in the order of the numbers, beginning with that of the first.
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

    /// The number of the oldest trade that will be left once the batch has been appended, as far as that depends on room.
    func lowerBound(after batch: TapeBatch) -> UInt64 {
        if self.beginsAnew(with: batch) { return self.sequences.upperBound }
        let upper = self.sequences.upperBound + UInt64(batch.trades.count)
        let room = upper > UInt64(self.capacity) ? upper - UInt64(self.capacity) : 0
        return max(self.sequences.lowerBound, room)
    }

    /// The number of the oldest trade that is young enough at `now`, monotonic ns.
    func lowerBound(at now: Int64) -> UInt64 {
        var lower = self.sequences.lowerBound
        for index in self.firstMoment..<self.moments.count {
            guard self.moments[index].arrival + Self.ageStep <= now - self.span else { break }
            let next = index + 1 < self.moments.count ? self.moments[index + 1].first : self.sequences.upperBound
            lower = max(lower, next)
        }
        return lower
    }

    /// Forgets what is too old at `now`, monotonic ns, and what earlier runs hold beyond the room.
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
        // A run of which nothing is left says nothing any more, and neither do those before it.
        if let last = self.earlier.lastIndex(where: { $0.ring.sequences.isEmpty }) {
            self.earlier.removeSubrange(...last)
        }
    }

    private mutating func dropOldest(_ count: Int) -> Int {
        let dropped = min(count, self.sequences.count)
        self.sequences = (self.sequences.lowerBound + UInt64(dropped))..<self.sequences.upperBound
        return dropped
    }

    /// Puts the trades of the run before this one in front, as far as there is room for them.
    ///
    /// To be called before this run's first trade, for each run from the oldest to the newest.
    ///
    /// - Parameters:
    ///   - batches: all of one epoch and numbered without a hole; `receivedMonotonic` is on this run's clock and may be
    ///     negative. Their frames are not kept.
    ///   - gap: what may be missing between these trades and those of the next run; it stands between them.
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

    /// Notes when this run's trades began to come, which ends what may be missing before them.
    mutating func closeEarlierGap(to: Int64) {
        guard !self.earlier.isEmpty else { return }
        self.earlier[self.earlier.count - 1].gap.to = to
    }

    /// The trade of that number, which must be one of ``sequences``.
    subscript(sequence: UInt64) -> Entry {
        precondition(self.sequences.contains(sequence), "trade \(sequence) is not in the ring")
        return self.entries[self.place(of: sequence)]
    }

    /// The numbers of a symbol's newest trades, the oldest first; `nil` when it has none here.
    func newest(_ limit: Int, of symbol: String) -> [UInt64]? {
        var found: [UInt64] = []
        self.walkBack(symbol) { sequence in
            guard found.count < limit else { return false }
            found.append(sequence)
            return true
        }
        return found.isEmpty && (limit > 0 || !self.has(symbol)) ? nil : found.reversed()
    }

    /// How many trades of a symbol there are from that number on, in this run.
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

    /// Calls `body` with the numbers of a symbol's trades, the newest first, until it says that that is enough.
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
