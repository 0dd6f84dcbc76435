import Market
import Wire

/// The model of the display: it takes the feed's events and holds the state to draw.
///
/// A value without a clock. Its owner (the feed's loop, a `watch` client) calls it and publishes ``state`` to a
/// ``TerminalDisplay``. Times are monotonic nanoseconds.
package struct DisplayModel: Sendable {
    var state: DisplayState
    var rowOf: [String: Int] = [:] { didSet { self.rowOfNumber = [] } }
    /// The row of each symbol number of the epoch, or -1; rebuilt when rows have moved.
    private var rowOfNumber: [Int32] = []
    /// The position of each symbol of the watchlist.
    var rankOf: [String: Int] = [:]
    var admission = SymbolAdmission()
    var log: DisplayEventLog { didSet { self.state.events = self.log.events } }
    /// The beginnings of charts, for symbols that have no row yet.
    var earlier: [String: PriceHistory] = [:]

    /// - Parameters:
    ///   - symbols: the subscribed symbols, in the order of the screen; each shows as waiting until its first price.
    ///   - clock: the clock of the screen.
    init(
        symbols: [String],
        status: FeedStatus,
        relay: DisplayRelay? = nil,
        limits: FreshnessLimits = FreshnessLimits(),
        clock: ScreenClock = .utc
    ) {
        self.log = DisplayEventLog(clock: clock)
        self.state = DisplayState(waiting: symbols, status: status, relay: relay)
        self.state.limits = limits
        for (rank, symbol) in symbols.enumerated() { self.rankOf[symbol] = rank }
    }

    /// Takes a debounced price.
    ///
    /// - Parameters:
    ///   - arrived: the arrival of its trade; monotonic ns.
    ///   - age: its age on arrival here, ns.
    mutating func take(_ update: PriceUpdate, now: Int64, arrived: Int64? = nil, age: Int64 = 0) {
        let summary = update.summary
        guard self.admission.admits(summary.symbol) else { return }
        let row = self.row(for: summary, now: now)
        let before = self.state.rows[row].summary
        // Trades from before now, all at once, do not count towards the rate.
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
                direction: self.state.rows[row].direction
            )
        )
        self.state.rows[row].summary = summary
        self.state.rows[row].skipped &+= update.skipped
        self.state.rows[row].priceArrived = arrived
        if age > 0 { self.state.rows[row].arrived = now - age }
    }

    /// Takes the board's current values of a symbol between two debounced prices.
    ///
    /// The price on the screen stays the debounced one; age, rate, extremes and volume follow the tape. Without this, a
    /// market whose price does not change would look silent.
    ///
    /// - Parameter arrived: the arrival of its newest trade, monotonic ns; `nil` if that was known before, or is now.
    mutating func observe(_ summary: SymbolSummary, now: Int64, arrived: Int64? = nil) {
        guard let row = self.rowOf[summary.symbol] else { return }
        self.state.rows[row].observe(summary, now: now)
        if let arrived { self.state.rows[row].arrived = arrived }
    }

    /// Invalidates the symbols' numbers, which an epoch assigns anew.
    package mutating func epochBegan() { self.rowOfNumber = [] }

    /// Takes the trades of one batch into the charts. Call it after ``take(_:now:arrived:age:)``, which makes the rows.
    ///
    /// - Parameters:
    ///   - received: wall clock at the arrival, ns since 1970.
    mutating func chart(_ trades: [Trade], symbols: SymbolTable, received: Int64, now: Int64) {
        let followsExchange = self.state.followsExchangeClock
        for trade in trades where !trade.isFilled {
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
            self.state.rows[row].history.take(
                trade.price,
                at: time,
                volume: trade.size.approximation,
                arrived: now
            )
        }
    }

    /// Takes a price into the charts, where a relay sends prices without their trades.
    ///
    /// - Parameter age: its age when the relay sent it, ns. An old price begins no chart, since the time since then
    ///   would stretch it: it waits for bars of that time (``begin(with:wall:)``) or for the next price.
    mutating func chart(_ summary: SymbolSummary, now: Int64, age: Int64 = 0) {
        guard let row = self.rowOf[summary.symbol] else { return }
        let time = self.state.followsExchangeClock ? summary.exchangeTime : summary.received
        if self.state.rows[row].history.start == nil {
            if let known = self.state.rows[row].lastKnown {
                // The relay has repeated the same price.
                guard time > known.time else { return }
            } else if age > Self.recent {
                self.state.rows[row].lastKnown = (time, summary.price)
                return
            }
        }
        self.state.rows[row].history.take(
            summary.price,
            at: time,
            volume: self.state.rows[row].newVolume(summary),
            arrived: now,
            isWhole: false
        )
    }

    /// The highest age of a price with which a chart may begin, ns.
    private static let recent: Int64 = 60_000_000_000

    /// - Parameter wall: the time of the change, ns since 1970; where unknown, the status's own beginning counts.
    mutating func statusChanged(_ status: FeedStatus, at wall: Int64? = nil) {
        self.state.status = status
        self.log.statusChanged(status, at: wall ?? status.since)
    }

    /// Takes the status of one symbol.
    mutating func symbolChanged(_ status: SymbolStatus) {
        guard !self.admission.isRemoved(status.symbol) else { return }
        self.admission.subscribe(status.symbol)
        self.log.symbolChanged(status)
        guard self.state.symbolStates.count < SymbolTable.capacity || self.state.symbolStates[status.symbol] != nil
        else { return }
        self.state.symbolStates[status.symbol] = status
        // The symbol that others subscribed and the service refuses gets no price, but a place on the screen.
        if status.isRefused, self.rowOf[status.symbol] == nil, !self.state.waiting.contains(status.symbol) {
            self.state.waiting.append(status.symbol)
        }
    }

    /// Records that the symbol has no subscriber left; it is removed unless it is on the watchlist.
    mutating func symbolUnsubscribed(_ symbol: String) {
        self.state.symbolStates[symbol] = nil
        self.log.symbolUnsubscribed(symbol)
        guard self.rankOf[symbol] == nil else { return }
        self.state.waiting.removeAll { $0 == symbol }
        self.removeRow(symbol)
        self.admission.unsubscribe(symbol)
    }

    /// Takes the venue's own figures of a symbol's last 24 hours.
    mutating func dayChanged(_ day: VenueDay) {
        if let row = self.rowOf[day.symbol] { self.state.rows[row].day = day }
    }

    /// Takes the prices from which changes are counted where the venue publishes none.
    mutating func count(from references: [ChangeReference]) {
        for reference in references {
            if let row = self.rowOf[reference.symbol] { self.state.rows[row].reference = reference }
        }
    }

    /// The symbols with a price for which the venue has not published that of 24 hours ago.
    var symbolsWithoutDay: [String] {
        self.state.rows.filter { $0.day?.open == nil }.map(\.summary.symbol)
    }

    mutating func gapFound(_ gap: Gap) {
        // A seek in a replay loses no trades.
        if !gap.movesClock {
            self.state.gaps += 1
            self.state.lastGap = gap
            self.state.lastOutcome = nil
        }
        for index in self.state.rows.indices
        where gap.symbol == nil || gap.symbol == self.state.rows[index].summary.symbol {
            self.state.rows[index].history.interrupted(
                isMoved: gap.movesClock,
                missing: gap.missing,
                published: gap.movesClock ? nil : gap.times
            )
            // The next sum includes what was missed.
            self.state.rows[index].chartedVolume = nil
            // After a seek, the last known price does not precede the next one.
            if gap.cause == .seek { self.state.rows[index].lastKnown = nil }
        }
        self.log.gapFound(gap)
    }

    /// Takes the outcome of a gap with ids.
    ///
    /// - Parameter wall: its wall clock, ns since 1970.
    mutating func gapSettled(_ outcome: GapOutcome, at wall: Int64) {
        if let gap = self.state.lastGap, gap.symbol == outcome.symbol, let missing = gap.missing,
            missing == outcome.missing
        {
            self.state.lastOutcome = outcome
        }
        if let row = self.rowOf[outcome.symbol] {
            self.state.rows[row].history.gapSettled(
                outcome.missing,
                published: outcome.times,
                isComplete: outcome.isComplete
            )
        }
        // One gap of a feed has as many of the others as there are symbols.
        guard outcome.missing != nil else { return }
        self.log.add(outcome.sentence, isTrouble: !outcome.isComplete, at: wall)
    }

    /// Notes the filled trades of a batch, before the row's counts include them: they do not count towards the rate, and
    /// the chart has their prices as soon as their gap is filled.
    mutating func filled(_ batch: TapeBatch) {
        for trade in batch.trades where trade.isFilled {
            guard let row = self.rowOf[batch.symbols.name(of: trade.symbol)] else { continue }
            if !trade.isPriceUpdate { self.state.rows[row].unrated &+= 1 }
            self.state.rows[row].history.filled(
                trade.price,
                at: trade.exchangeTime,
                volume: trade.size.approximation
            )
        }
    }

    /// Takes a warning for the person at the screen; it replaces the previous one.
    ///
    /// - Parameter wall: its time, ns since 1970, for the event log.
    mutating func noticed(_ text: String, now: Int64, at wall: Int64? = nil) {
        self.state.notice = DisplayNotice(text: text, since: now)
        if let wall { self.happened(text, isTrouble: true, at: wall) }
    }

    /// Removes the rows of symbols without a subscriber, to make space for others.
    private mutating func forgetUnsubscribed() {
        self.state.rows.removeAll {
            self.rankOf[$0.summary.symbol] == nil && self.state.symbolStates[$0.summary.symbol] == nil
        }
        self.countRows()
    }

    private mutating func row(for summary: SymbolSummary, now: Int64) -> Int {
        if let row = self.rowOf[summary.symbol] { return row }
        if self.state.rows.count >= SymbolTable.capacity { self.forgetUnsubscribed() }
        // Symbols outside the watchlist stand behind those on it.
        let row = self.placeOfNewRow(summary.symbol)
        self.state.waiting.removeAll { $0 == summary.symbol }
        var first = DisplayRow(summary: summary, arrived: now)
        // Trades from before the first price, all at once, do not count towards the rate.
        first.rate.add(0, now: now)
        first.widen(to: summary)
        if let history = self.earlier.removeValue(forKey: summary.symbol) { first.history = history }
        self.state.rows.insert(first, at: row)
        for index in row..<self.state.rows.count { self.rowOf[self.state.rows[index].summary.symbol] = index }
        return row
    }
}

extension DisplayRow {
    /// Returns the volume since the summary before, for the chart; 0 if there is none to compare with. A new epoch begins
    /// with a new sum.
    fileprivate mutating func newVolume(_ summary: SymbolSummary) -> Double {
        let volume = summary.volume.approximation
        defer { self.chartedVolume = volume }
        guard let before = self.chartedVolume else { return 0 }
        return volume < before ? volume : volume - before
    }

    /// Takes the tape's values, but for the price.
    fileprivate mutating func observe(_ summary: SymbolSummary, now: Int64) {
        self.note(summary, now: now)
        self.summary.high = summary.high
        self.summary.low = summary.low
        self.summary.volume = summary.volume
        self.summary.trades = summary.trades
        self.summary.sequence = summary.sequence
    }

    /// Updates the row's arrival and rate from the tape's count.
    fileprivate mutating func note(_ summary: SymbolSummary, now: Int64, isOld: Bool = false) {
        if summary.sequence != self.summary.sequence { self.arrived = now }
        // An epoch begins with a new count.
        let isAnew = summary.sequence < self.summary.sequence && summary.trades < self.summary.trades
        let before = isAnew ? 0 : self.summary.trades
        if summary.trades > before {
            let new = summary.trades - before
            let filled = min(new, self.unrated)
            self.unrated -= filled
            if !isOld { self.rate.add(new - filled, now: now) }
        }
        self.widen(to: summary)
    }

    fileprivate mutating func widen(to summary: SymbolSummary) {
        let least = min(summary.price.exponent, summary.open.exponent, summary.high.exponent, summary.low.exponent)
        self.fractionDigits = min(max(self.fractionDigits, -Int(least)), PriceText.maximumFractionDigits)
    }
}
