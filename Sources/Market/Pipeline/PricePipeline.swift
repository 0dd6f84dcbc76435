/// What a reader of the debounced prices gets.
package struct PriceUpdate: Sendable, Equatable {
    /// The symbol's newest trade and session statistics at the moment of emission.
    package var summary: SymbolSummary
    /// Trades of this symbol left out since the update before.
    package var skipped: UInt64

    package init(summary: SymbolSummary, skipped: UInt64) {
        self.summary = summary
        self.skipped = skipped
    }
}

/// The prices of all symbols for one reader, without the unchanged ones and debounced: a ``Board`` and a ``Conflator``
/// for each symbol.
///
/// A pure machine: time is an argument, monotonic ns, never decreasing.
package struct PricePipeline: Sendable {
    /// How long prices are held back; in ns, see ``Conflator``.
    package struct Settings: Sendable, Equatable {
        package var quiet: Int64
        package var atMost: Int64?

        package init(quiet: Int64 = 100_000_000, atMost: Int64? = 500_000_000) {
            self.quiet = quiet
            self.atMost = atMost
        }
    }

    package let settings: Settings
    package private(set) var board = Board()
    /// One for each row of the board.
    private var conflators: [Conflator<ExactDecimal>] = []
    /// The rows that have something to show later, in no order.
    private var pending: [Int] = []
    private var isPending: [Bool] = []

    package init(settings: Settings = Settings()) { self.settings = settings }

    /// When ``fire(now:emit:)`` wants to be called, monotonic ns; `nil` while everything is shown.
    package private(set) var deadline: Int64?

    /// Notes that the tape goes on at another time (see ``Board``: late trades).
    package mutating func clockMoved() { self.board.clockMoved() }

    /// Takes in a batch that arrived at `now`; `emit` gets what is to be shown at once.
    package mutating func take(
        trades: [Trade],
        firstSequence: UInt64,
        received: Int64,
        symbols: SymbolTable,
        now: Int64,
        emit: (PriceUpdate) -> Void
    ) {
        // What is due is shown with the state of before this batch.
        if let deadline = self.deadline, now >= deadline { self.fire(now: now, emit: emit) }
        var sequence = firstSequence
        for trade in trades {
            let change = self.board.apply(trade, sequence: sequence, received: received, symbols: symbols)
            sequence += 1
            if change.row == self.conflators.count {
                self.conflators.append(Conflator(quiet: self.settings.quiet, atMost: self.settings.atMost))
                self.isPending.append(false)
            }
            guard change.isNewest else {
                self.conflators[change.row].skip()
                continue
            }
            if let emission = self.conflators[change.row].take(trade.price, now: now) {
                emit(PriceUpdate(summary: self.board.rows[change.row], skipped: emission.skipped))
            }
            if self.conflators[change.row].deadline != nil, !self.isPending[change.row] {
                self.isPending[change.row] = true
                self.pending.append(change.row)
            }
        }
        self.settle()
    }

    /// Shows what is due at `now`.
    package mutating func fire(now: Int64, emit: (PriceUpdate) -> Void) {
        for row in self.pending {
            if let emission = self.conflators[row].fire(now: now) {
                emit(PriceUpdate(summary: self.board.rows[row], skipped: emission.skipped))
            }
        }
        self.settle()
    }

    /// Shows all that has not been shown: the last value always comes.
    package mutating func flush(emit: (PriceUpdate) -> Void) {
        for row in self.pending {
            if let emission = self.conflators[row].flush() {
                emit(PriceUpdate(summary: self.board.rows[row], skipped: emission.skipped))
            }
        }
        self.settle()
    }

    /// Forgets the rows that have nothing to show any more, and finds the earliest deadline of the others.
    private mutating func settle() {
        var earliest = Int64.max
        var kept = 0
        // By their places: to walk over an array that is being changed takes a copy of it.
        for place in self.pending.indices {
            let row = self.pending[place]
            guard let deadline = self.conflators[row].deadline else {
                self.isPending[row] = false
                continue
            }
            earliest = min(earliest, deadline)
            self.pending[kept] = row
            kept += 1
        }
        self.pending.removeLast(self.pending.count - kept)
        self.deadline = kept == 0 ? nil : earliest
    }
}
