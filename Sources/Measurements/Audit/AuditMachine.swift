package import Market
package import Wire

/// The side of an audit that a trade belongs to.
package enum AuditSide: Sendable, CaseIterable {
    case finnhub, venue
}

/// The comparison of Finnhub's trades with those of their venues, which have ids. A state machine; times are arguments,
/// in ns on a clock that both sides share.
package struct AuditMachine {
    /// Where the symbols of one side's tape are, by their numbers in its present epoch.
    private struct Places {
        var epoch: UInt64?
        var places: [Int?] = []
    }

    private let limits: AuditLimits
    private let measuresDelays: Bool
    private var symbols: [SymbolAudit] = []
    private var placeOfName: [String: Int] = [:]
    private var finnhub = Places()
    private var venue = Places()
    /// The newest times of a trade of any symbol, ms since 1970.
    private var newest: (finnhub: Int64, venue: Int64) = (.min, .min)

    /// - Parameter measuresDelays: whether the arrivals of both sides are comparable to the millisecond.
    package init(limits: AuditLimits = AuditLimits(), measuresDelays: Bool = true) {
        self.limits = limits
        self.measuresDelays = measuresDelays
    }

    /// Takes the trades of one read. Of the trades on Finnhub's side only those without an id are Finnhub's.
    package mutating func take(_ batch: TapeBatch, from side: AuditSide) {
        for trade in batch.trades where (trade.id == nil) == (side == .finnhub) && !trade.isPriceUpdate {
            guard let place = self.place(of: trade.symbol, in: batch, on: side) else { continue }
            // One that is ahead says nothing about the other symbols.
            let time = trade.marks.contains(.ahead) ? .min : AuditContent.milliseconds(trade.exchangeTime)
            switch side {
            case .finnhub:
                self.newest.finnhub = max(self.newest.finnhub, time)
                self.symbols[place].finnhubTraded(trade, at: batch.receivedMonotonic)
            case .venue:
                self.newest.venue = max(self.newest.venue, time)
                self.symbols[place].finnhubLived(until: self.newest.finnhub)
                self.symbols[place].venueTraded(trade, id: trade.id ?? 0, at: batch.receivedMonotonic)
            }
        }
    }

    private mutating func place(of symbol: SymbolID, in batch: TapeBatch, on side: AuditSide) -> Int? {
        var places = side == .finnhub ? self.finnhub : self.venue
        let index = Int(symbol.index)
        if places.epoch == batch.epoch, index < places.places.count, let place = places.places[index] { return place }
        if places.epoch != batch.epoch { places = Places(epoch: batch.epoch) }
        while places.places.count <= index { places.places.append(nil) }
        places.places[index] = self.place(of: batch.symbols.name(of: symbol))
        switch side {
        case .finnhub: self.finnhub = places
        case .venue: self.venue = places
        }
        return places.places[index]
    }

    /// Returns the place of a symbol, a new one for a new symbol of a known venue; `nil` beyond the limit.
    private mutating func place(of name: String) -> Int? {
        if let place = self.placeOfName[name] { return place }
        guard Venue(of: name) != nil, self.symbols.count < self.limits.symbols else { return nil }
        self.symbols.append(SymbolAudit(name, limits: self.limits, measuresDelays: self.measuresDelays))
        self.placeOfName[name] = self.symbols.count - 1
        return self.symbols.count - 1
    }

    /// Notes that one side's trades may be missing from its newest one on, until its next one.
    ///
    /// - Parameters:
    ///   - symbol: `nil` for all symbols.
    ///   - gap: the gap that was published, if there is one.
    package mutating func interrupted(
        _ side: AuditSide,
        _ kind: AuditInterruption,
        symbol: String? = nil,
        gap: Gap? = nil
    ) {
        for place in self.symbols.indices where symbol == nil || self.placeOfName[symbol ?? ""] == place {
            switch side {
            case .finnhub: self.symbols[place].finnhubInterrupted(kind, gap: gap)
            case .venue: self.symbols[place].venueInterrupted(kind, gap: gap)
            }
        }
    }

    /// Judges the trades that have waited for their partners for long enough.
    package mutating func timePassed(now: Int64) {
        for place in self.symbols.indices {
            // A symbol of which Finnhub sends nothing, while it sends others, has lost its trades.
            self.symbols[place].finnhubLived(until: self.newest.finnhub)
            self.symbols[place].timePassed(now: now)
        }
    }

    /// Takes the outcome of trades that the venue's connection lacked.
    package mutating func venueSettled(_ outcome: GapOutcome) {
        if let place = self.placeOfName[outcome.symbol] { self.symbols[place].venueSettled(outcome) }
    }

    /// Removes and returns Finnhub's gaps of which it is known by now which trades are missing, if any. Only with
    /// ``AuditLimits/gapWait``.
    package mutating func takeIdentifiedGaps(now: Int64) -> [IdentifiedGap] {
        self.symbols.indices.flatMap { self.symbols[$0].takeIdentifiedGaps(now: now) }
    }

    /// Judges all trades, because both streams are over: at the same moment for all symbols of a side.
    package mutating func finish() {
        for place in self.symbols.indices {
            self.symbols[place].finish(finnhub: self.newest.finnhub, venue: self.newest.venue)
        }
    }

    package var report: AuditReport {
        AuditReport(symbols: self.symbols.map(\.report), measuresDelays: self.measuresDelays)
    }
}
