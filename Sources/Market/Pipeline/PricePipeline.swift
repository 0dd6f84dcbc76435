/// A debounced price, as a reader gets it.
package struct PriceUpdate: Sendable, Equatable {
    /// The symbol's newest trade and session statistics at the moment of emission.
    package var summary: SymbolSummary
    /// Trades of this symbol left out since the previous update.
    package var skipped: UInt64

    package init(summary: SymbolSummary, skipped: UInt64) {
        self.summary = summary
        self.skipped = skipped
    }
}

/// The debounced prices of all symbols for one reader, without the unchanged ones: a ``Board``, and a ``Conflator`` for
/// each symbol.
///
/// A pure state machine: time is an argument, monotonic ns, never decreasing.
package struct PricePipeline: Sendable {
    /// How long prices are held back, in ns; see ``Conflator``.
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
    /// One conflator for each row of the board.
    private var conflators: [Conflator<ExactDecimal>] = []
    /// The rows with a value to show later, in no order.
    private var pending: [Int] = []
    private var isPending: [Bool] = []

    package init(settings: Settings = Settings()) { self.settings = settings }

    /// The time at which to call ``fire(now:emit:)``, monotonic ns; `nil` while every latest value is shown.
    package private(set) var deadline: Int64?

    /// Records that the tape continues at another time (see ``Board``: late trades).
    package mutating func clockMoved() { self.board.clockMoved() }

    /// Takes a batch that arrived at `now`; calls `emit` with each update that is due at once.
    package mutating func take(
        trades: [Trade],
        firstSequence: UInt64,
        received: Int64,
        symbols: SymbolTable,
        now: Int64,
        emit: (PriceUpdate) -> Void
    ) {
        // Updates already due show the state before this batch.
        if let deadline = self.deadline, now >= deadline { self.fire(now: now, emit: emit) }
        var sequence = firstSequence
        for trade in trades {
            let change = self.board.apply(trade, sequence: sequence, received: received, symbols: symbols)
            sequence += 1
            guard let change else { continue }
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

    /// Shows the values due at `now`.
    package mutating func fire(now: Int64, emit: (PriceUpdate) -> Void) {
        for row in self.pending {
            if let emission = self.conflators[row].fire(now: now) {
                emit(PriceUpdate(summary: self.board.rows[row], skipped: emission.skipped))
            }
        }
        self.settle()
    }

    /// Shows every value that has not been shown, so that a reader always gets the last one.
    package mutating func flush(emit: (PriceUpdate) -> Void) {
        for row in self.pending {
            if let emission = self.conflators[row].flush() {
                emit(PriceUpdate(summary: self.board.rows[row], skipped: emission.skipped))
            }
        }
        self.settle()
    }

    /// Drops the rows without a value to show, and finds the earliest deadline of the others.
    private mutating func settle() {
        var earliest = Int64.max
        var kept = 0
        // By index: iterating over an array while changing it would copy it.
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
