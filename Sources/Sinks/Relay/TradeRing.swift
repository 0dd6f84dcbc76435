import Market
import Wire

/// The newest trades of the tape, found by number or by symbol; bounded memory (56 bytes a trade).
///
/// Numbers follow each other without a hole, so a trade's number says where it stands. Where the tape begins anew, or a
/// hole shows that trades were left out on the way here, the ring begins anew too: what it holds is always whole.
struct TradeRing {
    /// The trades that a program holds on to.
    static let usualCapacity = 100_000

    struct Entry {
        var trade: Trade
        /// How many trades back the symbol's trade before this one is; 0 where there is none.
        fileprivate var stepBack: UInt32
        /// Our wall clock at the arrival, ns since 1970.
        var received: Int64
    }

    /// What there is behind a number that a reader knows.
    enum Since: Equatable {
        /// The numbers of the trades that follow it; none when it is the newest.
        case trades(Range<UInt64>)
        /// Some that follow it are gone; the first one left has this number.
        case tooOld(oldest: UInt64)
        /// No such number has been given out in this epoch.
        case unknown
    }

    let capacity: Int
    private(set) var epoch: UInt64?
    private(set) var symbols = SymbolTable()
    /// The numbers of the trades that are there.
    private(set) var sequences: Range<UInt64> = 0..<0
    /// The number of the trade that took the first place.
    private var base: UInt64 = 0
    private var entries: ContiguousArray<Entry> = []
    /// The number of each symbol's newest trade, plus one; 0 where there is none.
    private var newest: [UInt64] = []

    init(capacity: Int = TradeRing.usualCapacity) { self.capacity = max(capacity, 1) }

    mutating func append(_ batch: TapeBatch) {
        if batch.epoch != self.epoch || batch.firstSequence != self.sequences.upperBound {
            self.epoch = batch.epoch
            self.entries.removeAll(keepingCapacity: true)
            self.newest.removeAll(keepingCapacity: true)
            self.sequences = batch.firstSequence..<batch.firstSequence
            self.base = batch.firstSequence
        }
        guard !batch.trades.isEmpty else { return }
        if batch.symbols.count != self.newest.count {
            self.symbols = batch.symbols
            while self.newest.count < batch.symbols.count { self.newest.append(0) }
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
        self.sequences = (sequence - UInt64(self.entries.count))..<sequence
    }

    /// The trade of that number, which must be one of ``sequences``.
    subscript(sequence: UInt64) -> Entry {
        precondition(self.sequences.contains(sequence), "trade \(sequence) is not in the ring")
        return self.entries[self.place(of: sequence)]
    }

    /// What follows the trade `sequence` of `epoch`.
    func since(_ sequence: UInt64, epoch: UInt64) -> Since {
        guard epoch == self.epoch, sequence < self.sequences.upperBound else { return .unknown }
        guard sequence + 1 >= self.sequences.lowerBound else { return .tooOld(oldest: self.sequences.lowerBound) }
        return .trades((sequence + 1)..<self.sequences.upperBound)
    }

    /// The numbers of a symbol's newest trades, the oldest first; `nil` when it has none here.
    func newest(_ limit: Int, of symbol: String) -> [UInt64]? {
        guard let id = self.symbols.id(of: symbol), Int(id.index) < self.newest.count else { return nil }
        guard self.newest[Int(id.index)] > 0 else { return nil }
        var sequence = self.newest[Int(id.index)] - 1
        var found: [UInt64] = []
        while found.count < limit, self.sequences.contains(sequence) {
            found.append(sequence)
            let back = UInt64(self[sequence].stepBack)
            guard back > 0, back <= sequence else { break }
            sequence -= back
        }
        return found.isEmpty && limit > 0 ? nil : found.reversed()
    }

    private func place(of sequence: UInt64) -> Int { Int((sequence &- self.base) % UInt64(self.capacity)) }
}
