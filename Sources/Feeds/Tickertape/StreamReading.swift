import Market
package import Wire

/// The state of a reader of a relay's `/v1/stream` across its connections: what it wants, and where it stopped.
///
/// After a break it subscribes with `since` to get what it missed. It then turns the relay's messages into those that
/// it would have got without the break: it drops a price that it has already, and completes a new one with the number
/// of trades that were left out. A reader that draws charts (``takesEveryTrade``) requests every single trade of the
/// break instead, and afterwards the settled prices again.
package struct StreamReading: Sendable {
    /// The most names that are remembered; a relay has no more symbols (``SymbolTable/capacity``).
    private static let capacity = SymbolTable.capacity

    /// Whether to get every trade of a break, and not only the newest price with the number of trades.
    let takesEveryTrade: Bool
    private var followsAll: Bool
    /// The symbols that were requested by name, in order.
    private(set) var symbols: [String]
    /// The symbols that are not wanted, although the reader follows all.
    private var excluded: Set<String> = []
    /// The position of the newest trade that this reader knows.
    private(set) var position: TapePosition?
    /// The epoch of the relay's tape.
    private var run: UInt64?
    /// The last price of each symbol that was passed on in this epoch.
    private var reported: [String: SymbolSummary] = [:]
    /// The symbols whose last price dates from before the tape's clock moved.
    private(set) var moved: Set<String> = []
    /// The symbols to which the relay has no subscription. A price of theirs was held back before the unsubscription,
    /// so it is not noted as the last one; a snapshot or a state ends that.
    private var released: Set<String> = []
    /// The symbols whose refusal has been passed on; never more than ``capacity``.
    private var refused: Set<String> = []
    /// Our wall clock at the relay's newest message, and at the last message before the break; ns since 1970.
    private var lastHeard: Int64?
    private var silentSince: Int64?
    /// Whether the relay was asked for the missed part and has not yet reported that it is complete.
    private(set) var isResuming = false
    /// How far our wall clock is ahead of the relay's, travel time included, according to its last snapshot; ns.
    private var clockLead: Int64 = 0
    /// The requests to send next.
    private var requests: [StreamRequest] = []

    /// - Parameter symbols: an empty list means all symbols of the relay.
    package init(symbols: [String], takesEveryTrade: Bool = false) {
        self.symbols = symbols
        self.takesEveryTrade = takesEveryTrade
        self.followsAll = symbols.isEmpty
    }

    /// A reader that wants no symbol. It gets the feed's status and gaps.
    static var ofNothing: StreamReading {
        var reading = StreamReading(symbols: [])
        reading.followsAll = false
        return reading
    }

    /// Returns the requests for a new connection.
    package mutating func opened() -> [StreamRequest] {
        // A connection that breaks before the reader has caught up does not end the silence.
        if !self.isResuming { self.silentSince = self.lastHeard }
        self.isResuming = self.position != nil && (self.followsAll || !self.symbols.isEmpty)
        self.requests = []
        self.released = []
        let everyTrade = self.isResuming && self.takesEveryTrade
        let requests = self.subscriptions(since: self.position, delivery: everyTrade ? .all : nil)
        // With this policy a slow reader learns how much it missed. With the other one the relay would close it.
        return everyTrade ? [.overflow(.latest)] + requests : requests
    }

    private func subscriptions(since: TapePosition?, delivery: StreamDelivery?) -> [StreamRequest] {
        var requests: [StreamRequest] = []
        if self.followsAll {
            requests.append(.subscribe([], delivery: delivery, since: since))
            if !self.symbols.isEmpty { requests.append(.subscribe(self.symbols)) }
            if !self.excluded.isEmpty { requests.append(.unsubscribe(self.excluded.sorted())) }
        } else if !self.symbols.isEmpty {
            requests.append(.subscribe(self.symbols, delivery: delivery, since: since))
        }
        return requests
    }

    /// Returns the requests that follow from the messages so far, once.
    package mutating func takeRequests() -> [StreamRequest] {
        guard !self.requests.isEmpty else { return [] }
        defer { self.requests = [] }
        return self.requests
    }

    /// Adds a symbol; returns the request for it, if one is needed.
    package mutating func subscribed(_ symbol: String) -> StreamRequest? {
        if self.followsAll {
            guard self.excluded.remove(symbol) != nil || !self.symbols.contains(symbol) else { return nil }
        } else if self.symbols.contains(symbol) {
            return nil
        }
        if !self.symbols.contains(symbol) {
            guard self.symbols.count < Self.capacity else { return nil }
            self.symbols.append(symbol)
        }
        return .subscribe([symbol])
    }

    /// Removes a symbol; returns the request for it, if one is needed.
    package mutating func unsubscribed(_ symbol: String) -> StreamRequest? {
        self.reported[symbol] = nil
        if self.followsAll {
            self.symbols.removeAll { $0 == symbol }
            guard self.excluded.count < Self.capacity, self.excluded.insert(symbol).inserted else { return nil }
        } else {
            guard let index = self.symbols.firstIndex(of: symbol) else { return nil }
            self.symbols.remove(at: index)
        }
        return .unsubscribe([symbol])
    }

    private func wants(_ symbol: String) -> Bool {
        self.followsAll ? !self.excluded.contains(symbol) : self.symbols.contains(symbol)
    }

    /// Takes a message; returns its meaning for this reader, or `nil` if it tells nothing new.
    ///
    /// - Parameter wall: our wall clock, ns since 1970.
    package mutating func took(_ message: StreamMessage, wall: Int64) -> StreamMessage? {
        defer { self.lastHeard = wall }
        switch message {
        case .hello(let epoch, let newest, _, _, _):
            if let epoch {
                // Trades of the earlier epoch may still follow; a gap then marks the beginning of the new one.
                if !(self.isResuming && self.takesEveryTrade) { self.began(epoch) }
                // A reader that continues from an earlier position gets its new position with `resumed`.
                if !self.isResuming { self.position = TapePosition(epoch: epoch, sequence: newest ?? 0) }
            }
            return message
        case .snapshot(let update, let age):
            guard self.wants(update.summary.symbol) else { return nil }
            self.released.remove(update.summary.symbol)
            if let age { self.clockLead = wall.subtractingCapped(age).subtractingCapped(update.summary.received) }
            return self.tookSnapshot(update, age: age)
        case .price(let update):
            guard self.wants(update.summary.symbol) else { return nil }
            if self.released.contains(update.summary.symbol) {
                self.reached(update.summary.sequence)
            } else {
                self.notify(update.summary)
            }
            return message
        case .trades(let summary):
            guard self.wants(summary.symbol) else { return nil }
            self.reached(summary.sequence)
            return message
        case .trade(let trade):
            guard self.takesEveryTrade else {
                self.reached(trade.sequence)
                return self.wants(trade.symbol) ? message : nil
            }
            return self.tookTrade(trade, wall: wall)
        case .symbol(let status):
            self.released.remove(status.symbol)
            self.note(status)
            return self.wants(status.symbol) ? message : nil
        case .released(let symbol, _):
            // The receiver of this message forgets the symbol, so any later price of it is new again.
            self.reported[symbol] = nil
            if self.released.count < Self.capacity { self.released.insert(symbol) }
            return self.wants(symbol) ? message : nil
        case .gap(let gap):
            return .gap(self.tookGap(gap, wall: wall))
        case .settled(let outcome):
            return self.wants(outcome.symbol) ? message : nil
        case .venueDay(var day):
            day.received = day.received.addingCapped(self.clockLead)
            return self.wants(day.symbol) ? .venueDay(day) : nil
        case .resumed(let resumed):
            self.isResuming = false
            self.began(resumed.position.epoch)
            self.position = resumed.position
            if self.takesEveryTrade { self.requests = self.settling() }
            return message
        case .error(let text):
            return self.tookError(text, wall: wall)
        case .status, .replay, .unknown, .malformed:
            return message
        }
    }

    /// Takes an error of the relay. The refusal of a symbol says nothing about the feed. It becomes the symbol's state,
    /// since the relay sends no state of a symbol that it refuses itself.
    private mutating func tookError(_ text: String, wall: Int64) -> StreamMessage? {
        guard let refusal = SymbolRefusalText(text), let symbol = refusal.symbol else { return .error(text) }
        guard !self.refused.contains(symbol) else { return nil }
        let status = SymbolStatus(
            symbol: symbol,
            state: .refused(refusal.kind, retryAt: wall),
            since: wall,
            reason: text
        )
        self.note(status)
        return .symbol(status)
    }

    private mutating func note(_ status: SymbolStatus) {
        if !status.isRefused {
            self.refused.remove(status.symbol)
        } else if self.refused.count < Self.capacity {
            self.refused.insert(status.symbol)
        }
    }

    private mutating func tookSnapshot(_ update: PriceUpdate, age: Int64?) -> StreamMessage {
        var update = update
        let summary = update.summary
        if let known = self.reported[summary.symbol], summary.trades >= known.trades {
            if summary.sequence == known.sequence { return .trades(summary) }
            // The relay counts from this reader's newest trade of any symbol; a symbol's own newest may be older.
            update.skipped = max(summary.trades - known.trades, 1) - 1
        } else if self.isResuming {
            // The relay's count includes the trade that is shown.
            update.skipped = max(update.skipped, 1) - 1
        }
        self.notify(summary)
        return .snapshot(update, age: age)
    }

    /// Takes a trade of a break, or one that came before the relay switched back to settled prices. A trade from before
    /// the position is not new.
    private mutating func tookTrade(_ trade: StreamTrade, wall: Int64) -> StreamMessage? {
        guard let position, trade.sequence > position.sequence else { return nil }
        self.position?.sequence = trade.sequence
        guard self.wants(trade.symbol) else { return nil }
        if trade.isFilled { return self.tookFilled(trade) }
        let isMoved = self.moved.contains(trade.symbol)
        let isFirst = self.reported[trade.symbol] == nil
        let summary = SymbolSummary(trade, following: self.reported[trade.symbol], isMoved: isMoved)
        let update = PriceUpdate(summary: summary, skipped: 0)
        // A trade from before the release. As a snapshot it would bring the symbol back.
        guard !self.released.contains(trade.symbol) else { return .price(update) }
        self.notify(summary)
        // A trade that is ahead sets no time that a later one could be late by, as on the relay's own board. A symbol
        // beyond the capacity is not in `reported`, and is not noted here either.
        if trade.isAhead, isFirst || isMoved, self.reported[trade.symbol] != nil { self.moved.insert(trade.symbol) }
        guard self.isResuming else { return .price(update) }
        let age = wall.subtractingCapped(self.clockLead).subtractingCapped(trade.received)
        // The age must not exceed the longest that a relay may send.
        return .snapshot(update, age: min(max(0, age), StreamMessage.longestSpan))
    }

    /// Takes a trade that was missing. It counts, and is no price; without a price that it could be beside it is left
    /// out, as on the relay's own board (``Board``).
    private mutating func tookFilled(_ trade: StreamTrade) -> StreamMessage? {
        guard var summary = self.reported[trade.symbol] else { return nil }
        summary.high = max(summary.high, trade.price)
        summary.low = min(summary.low, trade.price)
        summary.volume.add(trade.size)
        if !trade.size.isZero { summary.trades &+= 1 }
        self.reported[trade.symbol] = summary
        return .trades(summary)
    }

    /// Returns the requests that follow the trades of a break: settled prices from here on. The new subscription brings
    /// a snapshot, which corrects what was held back before the break or is no longer available.
    private func settling() -> [StreamRequest] {
        [.unsubscribe(self.followsAll ? [] : self.symbols)] + self.subscriptions(since: nil, delivery: .latest)
    }

    private mutating func tookGap(_ gap: Gap, wall: Int64) -> Gap {
        var gap = gap
        if gap.movesClock { self.moved = Set(self.reported.keys) }
        if self.isResuming {
            if self.takesEveryTrade, gap.symbol == nil, gap.epoch != 0 {
                self.began(gap.epoch)
                let before = max(gap.nextSequence, 1) - 1
                if self.position?.epoch != gap.epoch || self.position?.sequence ?? 0 < before {
                    self.position = TapePosition(epoch: gap.epoch, sequence: before)
                }
            }
            guard gap.from >= gap.to else { return gap }
            // The relay cannot know when this reader heard from it last.
            gap.from = min(self.silentSince ?? gap.to, gap.to)
            gap.reason = "the link to the relay was lost, and not all of what was missed can be had: \(gap.reason)"
        } else if gap.symbol == nil, gap.epoch != 0, gap.epoch != self.run {
            // The relay's tape has a new epoch.
            self.began(gap.epoch)
            self.position = TapePosition(epoch: gap.epoch, sequence: max(gap.nextSequence, 1) - 1)
        }
        return gap
    }

    private mutating func notify(_ summary: SymbolSummary) {
        if !self.moved.isEmpty { self.moved.remove(summary.symbol) }
        if self.reported.count < Self.capacity || self.reported[summary.symbol] != nil {
            self.reported[summary.symbol] = summary
        }
        self.reached(summary.sequence)
    }

    private mutating func reached(_ sequence: UInt64) {
        // The position stays the one before the break until `resumed`, so that another break loses nothing.
        guard !self.isResuming, let position, sequence > position.sequence else { return }
        self.position?.sequence = sequence
    }

    /// Starts a new epoch: earlier prices have other numbers and other counts.
    private mutating func began(_ epoch: UInt64) {
        guard epoch != self.run else { return }
        self.run = epoch
        self.reported = [:]
    }
}

extension SymbolSummary {
    /// Creates the summary of a symbol after one more trade. Its sums lack the trades that the debounce held back when
    /// the link broke, until the relay sends its own.
    ///
    /// - Parameter isMoved: whether the tape's clock has moved since `before`.
    fileprivate init(_ trade: StreamTrade, following before: SymbolSummary?, isMoved: Bool) {
        // A price update (`v = 0`) is not counted as a trade.
        let count: UInt64 = trade.size.isZero ? 0 : 1
        self = SymbolSummary(
            symbol: trade.symbol,
            price: trade.price,
            size: trade.size,
            exchangeTime: trade.exchangeTime,
            received: trade.received,
            sequence: trade.sequence,
            open: before?.open ?? trade.price,
            high: max(before?.high ?? trade.price, trade.price),
            low: min(before?.low ?? trade.price, trade.price),
            volume: before?.volume ?? ExactSum(),
            trades: (before?.trades ?? 0) &+ count,
            isAhead: trade.isAhead
        )
        self.volume.add(trade.size)
        if trade.isAhead {
            self.exchangeTime = before?.exchangeTime ?? trade.received
            return
        }
        guard let before, !isMoved else { return }
        // A late trade does not become the newest price, as on the relay's own board (``Board``).
        let lateness = before.exchangeTime &- trade.exchangeTime
        guard lateness > 0, lateness <= Board.reorderWindow else { return }
        self.price = before.price
        self.size = before.size
        self.exchangeTime = before.exchangeTime
        self.received = before.received
        self.sequence = before.sequence
        self.isAhead = before.isAhead
    }
}
