import Wire

/// The progress of one resuming client: a cursor into the ring, and the messages that wait meanwhile.
struct CatchUp {
    /// A message that waits, and the number of the trade before which it belongs, in the tape's epoch of that time.
    struct Held {
        var before: UInt64
        var epoch: UInt64?
        var control: StreamControl
        /// Whether it answers a request of the client.
        var isAnswer: Bool
    }

    /// A symbol that is resumed by its newest price, which comes after all earlier trades and gaps.
    struct Priced {
        var symbol: String
        /// The number of its trades from the resumed position to the beginning of the catch-up.
        var missed: UInt64
        /// The number of its trades of this run by then.
        var taken: UInt64
    }

    /// The trade that the client named as the last one it knows.
    let since: TapePosition
    /// Whether it resumes all symbols, and not only certain ones.
    let isEverything: Bool
    /// The position of the first trade to resume.
    let start: TapePosition
    /// The position of the next trade.
    var place: TapePosition
    var isComplete: Bool
    /// The number of trades of the resumed symbols so far.
    var trades: UInt64 = 0
    /// The symbols whose newest prices are shown at the end.
    var priced: [Priced] = []
    /// The number of unreported trades that left the ring before they were sent, and the numbers of the first and the
    /// last.
    private(set) var missed: UInt64 = 0
    private(set) var missedRange: ClosedRange<UInt64>?
    /// The number of all missed trades, including the reported ones.
    private(set) var missedInAll: UInt64 = 0
    private(set) var held: [Held] = []
    private(set) var heldBytes = 0
    /// The part of ``heldBytes`` that answers requests.
    private(set) var heldAnswerBytes = 0
    private var firstHeld = 0

    init(since: TapePosition, isEverything: Bool, path: TradeRing.Path) {
        self.since = since
        self.isEverything = isEverything
        self.start = path.start
        self.place = path.start
        self.isComplete = path.isComplete
    }

    var heldCount: Int { self.held.count - self.firstHeld }

    /// - Parameters:
    ///   - sequence: the number of the next trade on the tape, in `epoch`.
    ///   - isAnswer: whether the message answers a request of the client.
    mutating func hold(_ control: StreamControl, before sequence: UInt64, epoch: UInt64?, isAnswer: Bool) {
        self.held.append(Held(before: sequence, epoch: epoch, control: control, isAnswer: isAnswer))
        self.heldBytes += control.cost
        if isAnswer { self.heldAnswerBytes += control.cost }
    }

    /// Returns the next message that is due; at the end all of them are due.
    mutating func nextHeld(epoch: UInt64, isAtEnd: Bool) -> StreamControl? {
        guard self.firstHeld < self.held.count else { return nil }
        let next = self.held[self.firstHeld]
        // All trades of an epoch that has ended come before those of the present one.
        let isDue = self.place.epoch == epoch && (next.epoch != epoch || next.before <= self.place.sequence)
        guard isAtEnd || isDue else { return nil }
        self.firstHeld += 1
        self.heldBytes -= next.control.cost
        if next.isAnswer { self.heldAnswerBytes -= next.control.cost }
        if self.firstHeld > 32, self.firstHeld * 2 > self.held.count {
            self.held.removeFirst(self.firstHeld)
            self.firstHeld = 0
        }
        return next.control
    }

    /// Counts trades that left the ring before they were sent.
    mutating func miss(_ count: UInt64, in range: ClosedRange<UInt64>) {
        self.missed += count
        self.missedInAll += count
        self.missedRange = min(self.missedRange?.lowerBound ?? .max, range.lowerBound)...range.upperBound
        self.isComplete = false
    }

    /// Returns a report of the trades missed since the last call; `nil` if there are none.
    mutating func takeMissed() -> StreamControl? {
        guard self.missed > 0, let range = self.missedRange else { return nil }
        defer { (self.missed, self.missedRange) = (0, nil) }
        return .skipped(self.missed, range)
    }
}
