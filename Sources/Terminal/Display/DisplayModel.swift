import Market

/// The display's reading of the feed: news in, the state to be drawn out.
///
/// A value without a clock. Whoever owns it (the feed's loop, a `watch` client) calls it and publishes ``state`` to a
/// ``TerminalDisplay``. Times are monotonic nanoseconds.
package struct DisplayModel: Sendable {
    var state: DisplayState
    var rowOf: [String: Int] = [:] { didSet { self.rowOfNumber = [] } }
    /// The row of each symbol number of the epoch, or -1; found again when rows have moved.
    private var rowOfNumber: [Int32] = []
    /// The place of each subscribed symbol on the screen.
    var rankOf: [String: Int] = [:]
    var admission = SymbolAdmission()
    var log = DisplayEventLog() { didSet { self.state.events = self.log.events } }
    /// What charts begin with, of symbols that have no row yet.
    var earlier: [String: PriceHistory] = [:]

    /// - Parameter symbols: What is subscribed, in the order of the screen; each shows as waiting until its first price.
    init(
        symbols: [String],
        status: FeedStatus,
        relay: DisplayRelay? = nil,
        limits: FreshnessLimits = FreshnessLimits()
    ) {
        self.state = DisplayState(waiting: symbols, status: status, relay: relay)
        self.state.limits = limits
        for (rank, symbol) in symbols.enumerated() { self.rankOf[symbol] = rank }
    }

    /// Takes a debounced price.
    ///
    /// - Parameters:
    ///   - arrived: when its trade arrived; monotonic ns.
    ///   - age: how old it is already, ns.
    mutating func take(_ update: PriceUpdate, now: Int64, arrived: Int64? = nil, age: Int64 = 0) {
        let summary = update.summary
        guard self.admission.admits(summary.symbol) else { return }
        let row = self.row(for: summary, now: now)
        let before = self.state.rows[row].summary
        // What came before now, all at once, is no rate.
        self.state.rows[row].note(summary, now: now, isOld: age > 0)
        if summary.price != before.price {
            self.state.rows[row].direction = summary.price > before.price ? .up : .down
            self.state.rows[row].changed = (now, before.price)
        }
        self.state.rows[row].tape.add(
            ShownPrices.Entry(
                time: summary.exchangeTime,
                price: summary.price,
                size: summary.size,
                direction: self.state.rows[row].direction,
                skipped: update.skipped
            )
        )
        self.state.rows[row].summary = summary
        self.state.rows[row].skipped &+= update.skipped
        self.state.rows[row].priceArrived = arrived
        if age > 0 { self.state.rows[row].arrived = now - age }
    }

    /// Takes what the board knows of a symbol now, between two debounced prices.
    ///
    /// The price on the screen stays the debounced one; age, rate, extremes and volume follow the tape. Without this a
    /// market whose price stands still would look silent.
    mutating func observe(_ summary: SymbolSummary, now: Int64) {
        guard let row = self.rowOf[summary.symbol] else { return }
        self.state.rows[row].note(summary, now: now)
        self.state.rows[row].summary.high = summary.high
        self.state.rows[row].summary.low = summary.low
        self.state.rows[row].summary.volume = summary.volume
        self.state.rows[row].summary.trades = summary.trades
        self.state.rows[row].summary.sequence = summary.sequence
    }

    /// Notes that symbols' numbers mean others from now on.
    package mutating func epochBegan() { self.rowOfNumber = [] }

    /// Takes the trades of one read into the charts. Call it after ``take(_:now:arrived:)``, which makes the rows.
    ///
    /// - Parameters:
    ///   - received: wall clock at the read, ns since 1970.
    mutating func chart(_ trades: [Trade], symbols: SymbolTable, received: Int64, now: Int64) {
        let followsExchange = self.state.followsExchangeClock
        for trade in trades {
            let number = Int(trade.symbol.index)
            while self.rowOfNumber.count <= number { self.rowOfNumber.append(-1) }
            var row = Int(self.rowOfNumber[number])
            if row < 0 {
                guard let found = self.rowOf[symbols.name(of: trade.symbol)] else { continue }
                row = found
                self.rowOfNumber[number] = Int32(found)
            }
            var time = followsExchange ? trade.exchangeTime : received
            if followsExchange, trade.marks.contains(.ahead) {
                time = min(time, self.state.rows[row].history.newest ?? time)
            }
            self.state.rows[row].history.take(trade.price, at: time, arrived: now)
        }
    }

    /// Takes a price into the charts where no trades are had, but what a relay says of them.
    ///
    /// - Parameter age: how old it was when it was told, ns. What was known long before begins no chart, which it would
    ///   stretch by all the time since: it waits for bars of that time (``begin(with:wall:)``) or for the next price.
    mutating func chart(_ summary: SymbolSummary, now: Int64, age: Int64 = 0) {
        guard let row = self.rowOf[summary.symbol] else { return }
        let time = self.state.followsExchangeClock ? summary.exchangeTime : summary.received
        if self.state.rows[row].history.start == nil {
            if let known = self.state.rows[row].lastKnown {
                // The same, told again.
                guard time > known.time else { return }
            } else if age > Self.recent {
                self.state.rows[row].lastKnown = (time, summary.price)
                return
            }
        }
        self.state.rows[row].history.take(summary.price, at: time, arrived: now, isWhole: false)
    }

    /// A price that is no older than this may be where a chart begins, ns.
    private static let recent: Int64 = 60_000_000_000

    /// - Parameter wall: when, ns since 1970; where it is not known, when the state began.
    mutating func statusChanged(_ status: FeedStatus, at wall: Int64? = nil) {
        self.state.status = status
        self.log.statusChanged(status, at: wall ?? status.since)
    }

    /// Takes the state of one symbol.
    mutating func symbolChanged(_ status: SymbolStatus) {
        guard !self.admission.isRemoved(status.symbol) else { return }
        self.admission.subscribe(status.symbol)
        self.log.symbolChanged(status)
        guard self.state.symbolStates.count < SymbolTable.capacity || self.state.symbolStates[status.symbol] != nil
        else { return }
        self.state.symbolStates[status.symbol] = status
        // One that somebody else asked for and nobody will see a price of.
        if status.isRefused, self.rowOf[status.symbol] == nil, !self.state.waiting.contains(status.symbol) {
            self.state.waiting.append(status.symbol)
        }
    }

    /// Notes that a symbol is asked for no more: unless it is of the watchlist it goes.
    mutating func symbolUnsubscribed(_ symbol: String) {
        self.state.symbolStates[symbol] = nil
        self.log.symbolUnsubscribed(symbol)
        guard self.rankOf[symbol] == nil else { return }
        self.state.waiting.removeAll { $0 == symbol }
        self.removeRow(symbol)
        self.admission.unsubscribe(symbol)
    }

    mutating func gapFound(_ gap: Gap) {
        // Where a replay was moved nothing is missing.
        if !gap.movesClock {
            self.state.gaps += 1
            self.state.lastGap = gap
        }
        for index in self.state.rows.indices
        where gap.symbol == nil || gap.symbol == self.state.rows[index].summary.symbol {
            self.state.rows[index].history.interrupted(isMoved: gap.movesClock)
            // What was known at another place of a replay is not what comes before the next price.
            if gap.cause == .seek { self.state.rows[index].lastKnown = nil }
        }
        self.log.gapFound(gap)
    }

    /// Takes a warning for the person at the screen; it replaces the one before.
    ///
    /// - Parameter wall: when, ns since 1970, for the event log.
    mutating func noticed(_ text: String, now: Int64, at wall: Int64? = nil) {
        self.state.notice = DisplayNotice(text: text, since: now)
        if let wall { self.happened(text, isTrouble: true, at: wall) }
    }

    /// Forgets the symbols that nobody asks for any more, where there are too many.
    private mutating func forgetUnsubscribed() {
        self.state.rows.removeAll {
            self.rankOf[$0.summary.symbol] == nil && self.state.symbolStates[$0.summary.symbol] == nil
        }
        self.countRows()
    }

    private mutating func row(for summary: SymbolSummary, now: Int64) -> Int {
        if let row = self.rowOf[summary.symbol] { return row }
        if self.state.rows.count >= SymbolTable.capacity { self.forgetUnsubscribed() }
        // Symbols that nobody named stand behind those that somebody did.
        let row = self.placeOfNewRow(summary.symbol)
        self.state.waiting.removeAll { $0 == summary.symbol }
        var first = DisplayRow(summary: summary, arrived: now)
        // What came before the first sight, all at once, is no rate.
        first.rate.add(0, now: now)
        first.widen(to: summary)
        if let history = self.earlier.removeValue(forKey: summary.symbol) { first.history = history }
        self.state.rows.insert(first, at: row)
        for index in row..<self.state.rows.count { self.rowOf[self.state.rows[index].summary.symbol] = index }
        return row
    }
}

extension DisplayRow {
    /// Follows the tape's count and clock.
    fileprivate mutating func note(_ summary: SymbolSummary, now: Int64, isOld: Bool = false) {
        if summary.sequence != self.summary.sequence { self.arrived = now }
        // The count begins anew with an epoch.
        let isAnew = summary.sequence < self.summary.sequence && summary.trades < self.summary.trades
        let before = isAnew ? 0 : self.summary.trades
        if summary.trades > before, !isOld { self.rate.add(summary.trades - before, now: now) }
        self.widen(to: summary)
    }

    fileprivate mutating func widen(to summary: SymbolSummary) {
        let least = min(summary.price.exponent, summary.open.exponent, summary.high.exponent, summary.low.exponent)
        self.fractionDigits = min(max(self.fractionDigits, -Int(least)), PriceText.maximumFractionDigits)
    }
}
