import Wire

/// One client's way from where it left off to now: a cursor into the ring, and what has to wait meanwhile.
struct CatchUp {
    /// What happened while it was on its way, and before which trade of this run that belongs.
    struct Held {
        var before: UInt64
        var control: StreamControl
    }

    /// A symbol that is resumed by its newest price, which stands behind all trades and gaps before it.
    struct Priced {
        var symbol: String
        /// How many of its trades there were from the place on when the way began.
        var missed: UInt64
        /// How many of this run there had been by then.
        var taken: UInt64
    }

    /// The trade that the client named.
    let since: TapePosition
    /// Whether it follows everything from there, and not only certain symbols.
    let isEverything: Bool
    /// The first trade of those that it resumes.
    let start: TapePosition
    /// The next trade.
    var place: TapePosition
    var isComplete: Bool
    /// Trades of the symbols that it resumes, so far.
    var trades: UInt64 = 0
    /// What is shown at the end by its newest price.
    var priced: [Priced] = []
    /// Trades that left the ring before their turn came, and the numbers of the first and the last.
    private(set) var missed: UInt64 = 0
    private(set) var missedRange: ClosedRange<UInt64>?
    /// All that it has missed, told or not.
    private(set) var missedInAll: UInt64 = 0
    private(set) var held: [Held] = []
    private(set) var heldBytes = 0
    private var firstHeld = 0

    init(since: TapePosition, isEverything: Bool, path: TradeRing.Path) {
        self.since = since
        self.isEverything = isEverything
        self.start = path.start
        self.place = path.start
        self.isComplete = path.isComplete
    }

    var heldCount: Int { self.held.count - self.firstHeld }

    mutating func hold(_ control: StreamControl, before sequence: UInt64) {
        self.held.append(Held(before: sequence, control: control))
        self.heldBytes += control.cost
    }

    /// Returns the next message whose turn has come; all of them when `isAtEnd`.
    mutating func nextHeld(epoch: UInt64, isAtEnd: Bool) -> StreamControl? {
        guard self.firstHeld < self.held.count else { return nil }
        let next = self.held[self.firstHeld]
        guard isAtEnd || (self.place.epoch == epoch && next.before <= self.place.sequence) else { return nil }
        self.firstHeld += 1
        self.heldBytes -= next.control.cost
        if self.firstHeld > 32, self.firstHeld * 2 > self.held.count {
            self.held.removeFirst(self.firstHeld)
            self.firstHeld = 0
        }
        return next.control
    }

    /// Trades are gone from the ring that were still to come.
    mutating func miss(_ count: UInt64, in range: ClosedRange<UInt64>) {
        self.missed += count
        self.missedInAll += count
        self.missedRange = min(self.missedRange?.lowerBound ?? .max, range.lowerBound)...range.upperBound
        self.isComplete = false
    }

    /// Returns what was missed since the last call.
    mutating func takeMissed() -> StreamControl? {
        guard self.missed > 0, let range = self.missedRange else { return nil }
        defer { (self.missed, self.missedRange) = (0, nil) }
        return .skipped(self.missed, range)
    }
}
