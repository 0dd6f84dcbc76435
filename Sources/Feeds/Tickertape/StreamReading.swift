import Market
package import Wire

/// What a reader of a relay's `/v1/stream` wants and where it left off, over all connections.
///
/// After a break it asks with `since` for what it missed. What it is sent then is made into what it would have been sent
/// without the break: a price that it has is no news, and one that it has not says how many trades were left out. A reader
/// that draws charts (``takesEveryTrade``) asks for each single trade of the break instead, and for the settled prices again
/// once it has them.
package struct StreamReading: Sendable {
    /// The most names that are remembered; a relay has no more symbols (``SymbolTable/capacity``).
    private static let capacity = SymbolTable.capacity

    /// Whether every trade of a break is wanted, and not only the newest price with how many there were.
    let takesEveryTrade: Bool
    private var followsAll: Bool
    /// Symbols that were asked for by name, in order.
    private(set) var symbols: [String]
    /// Symbols that are not wanted although all are.
    private var excluded: Set<String> = []
    /// The newest trade that this reader knows of.
    private(set) var position: TapePosition?
    /// The run of numbers that the relay is in.
    private var run: UInt64?
    /// The last price of each symbol that was passed on, in that run.
    private var reported: [String: SymbolSummary] = [:]
    /// Those of them from before a place from which the tape went on at another time.
    private(set) var moved: Set<String> = []
    /// Symbols that nobody asks the relay for: what it held back till then is not what it tells when somebody asks again.
    private var released: Set<String> = []
    /// Symbols whose refusal has been told; no more than are asked for.
    private var refused: Set<String> = []
    /// Our wall clock when the relay was last heard, and when it was before the break; ns since 1970.
    private var lastHeard: Int64?
    private var silentSince: Int64?
    /// Whether the relay was asked for what was missed, and has not yet said that this was all.
    private(set) var isResuming = false
    /// How far our wall clock is ahead of the relay's, the way included, as its last snapshot told; ns.
    private var clockLead: Int64 = 0
    /// What is to be asked for next.
    private var requests: [StreamRequest] = []

    /// - Parameter symbols: none means all that the relay has.
    package init(symbols: [String], takesEveryTrade: Bool = false) {
        self.symbols = symbols
        self.takesEveryTrade = takesEveryTrade
        self.followsAll = symbols.isEmpty
    }

    /// A reader that wants no symbol: it is told what is true of the feed, and of gaps.
    static var ofNothing: StreamReading {
        var reading = StreamReading(symbols: [])
        reading.followsAll = false
        return reading
    }

    /// What is to be asked for on a new connection.
    package mutating func opened() -> [StreamRequest] {
        // A connection that breaks before it has caught up does not end the silence.
        if !self.isResuming { self.silentSince = self.lastHeard }
        self.isResuming = self.position != nil && (self.followsAll || !self.symbols.isEmpty)
        self.requests = []
        self.released = []
        let everyTrade = self.isResuming && self.takesEveryTrade
        let requests = self.subscriptions(since: self.position, delivery: everyTrade ? .all : nil)
        // Who reads too slowly is to be told how much that cost, and not to be closed and to begin again.
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

    /// What a message that was taken makes to be asked for; it is given once.
    package mutating func takeRequests() -> [StreamRequest] {
        guard !self.requests.isEmpty else { return [] }
        defer { self.requests = [] }
        return self.requests
    }

    /// Takes a wish for a symbol; returns what to ask for, if that is anything new.
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

    /// Notes that a symbol is not wanted any more; returns what to ask for, if that is anything new.
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

    /// Takes a message; returns what it says to this reader, `nil` for what is no news.
    ///
    /// - Parameter wall: our wall clock, ns since 1970.
    package mutating func took(_ message: StreamMessage, wall: Int64) -> StreamMessage? {
        defer { self.lastHeard = wall }
        switch message {
        case .hello(let epoch, let newest, _, _, _):
            if let epoch {
                // Trades of the run before may be still to come: a gap says where the next begins.
                if !(self.isResuming && self.takesEveryTrade) { self.began(epoch) }
                // Who goes on from an earlier place is told by `resumed` where it has come to.
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
            // Whoever hears that forgets it, and what comes of it later is news.
            self.reported[symbol] = nil
            if self.released.count < Self.capacity { self.released.insert(symbol) }
            return self.wants(symbol) ? message : nil
        case .gap(let gap):
            return .gap(self.tookGap(gap, wall: wall))
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

    /// Takes an error of the relay. The refusal of a symbol says nothing about the feed; it is the symbol's state, which the
    /// relay does not tell of what it refuses itself.
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
            // The relay counts from this reader's newest trade of all, and each symbol's own may be older than that.
            update.skipped = max(summary.trades - known.trades, 1) - 1
        } else if self.isResuming {
            // Its own count has the trade that is shown among them.
            update.skipped = max(update.skipped, 1) - 1
        }
        self.notify(summary)
        return .snapshot(update, age: age)
    }

    /// Takes one trade of a break, or one that came before the relay heard that settled prices are wanted again; those that
    /// came before another break are no news.
    private mutating func tookTrade(_ trade: StreamTrade, wall: Int64) -> StreamMessage? {
        guard let position, trade.sequence > position.sequence else { return nil }
        self.position?.sequence = trade.sequence
        guard self.wants(trade.symbol) else { return nil }
        let isMoved = self.moved.contains(trade.symbol)
        let isFirst = self.reported[trade.symbol] == nil
        let summary = SymbolSummary(trade, following: self.reported[trade.symbol], isMoved: isMoved)
        let update = PriceUpdate(summary: summary, skipped: 0)
        // From before it was given up, and no snapshot that would bring it back.
        guard !self.released.contains(trade.symbol) else { return .price(update) }
        self.notify(summary)
        // What was there before is of no time that another could be late by, as on the relay's own board.
        // A symbol that finds no room among those that were told is not kept here either.
        if trade.isAhead, isFirst || isMoved, self.reported[trade.symbol] != nil { self.moved.insert(trade.symbol) }
        guard self.isResuming else { return .price(update) }
        let age = wall.subtractingCapped(self.clockLead).subtractingCapped(trade.received)
        // No longer than an age that a relay sends may be.
        return .snapshot(update, age: min(max(0, age), StreamMessage.longestSpan))
    }

    /// What is asked for when the trades of a break have come: settled prices from here on. A snapshot puts right what was
    /// held back before the break or could not be had, and for that a symbol has to be asked for anew.
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
            // The relay cannot know since when this reader has not heard it.
            gap.from = min(self.silentSince ?? gap.to, gap.to)
            gap.reason = "the link to the relay was lost, and not all of what was missed can be had: \(gap.reason)"
        } else if gap.symbol == nil, gap.epoch != 0, gap.epoch != self.run {
            // The relay's tape has begun anew.
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
        // Until `resumed` the place is the one from before the break, so that another break loses nothing.
        guard !self.isResuming, let position, sequence > position.sequence else { return }
        self.position?.sequence = sequence
    }

    /// What was told in another run has other numbers and other counts.
    private mutating func began(_ epoch: UInt64) {
        guard epoch != self.run else { return }
        self.run = epoch
        self.reported = [:]
    }
}

extension SymbolSummary {
    /// What is true of a symbol after one more trade. What the debounce held back when the link broke is not among the sums,
    /// until the relay tells its own.
    ///
    /// - Parameter isMoved: whether the tape goes on at another time since then.
    fileprivate init(_ trade: StreamTrade, following before: SymbolSummary?, isMoved: Bool) {
        // A price update is no trade (`v = 0`).
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
        // A late one is not the newest, as the relay's own board has it (``Board``).
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
