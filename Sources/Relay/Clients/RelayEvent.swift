package import Market
package import Wire

/// An event that is handed over from the ingest loop to the relay's loop.
package enum RelayEvent: Sendable {
    /// Another epoch begins with the trade of this number.
    case epochBegan(UInt64, first: UInt64)
    case batch(TapeBatch)
    case status(FeedStatus)
    case gap(Gap)
    /// The outcome of a gap with ids.
    case settled(GapOutcome)
    case symbol(SymbolStatus)
    case day(VenueDay)
    /// The upstream subscription to the symbol has ended.
    case unsubscribed(String)
    /// Trades were left out because the relay's loop was late.
    case lost(RelayLoss)
}

/// The trades that the relay left out because its loop was too late to take them.
package struct RelayLoss: Sendable {
    /// The number of trades of each symbol; all are of one epoch.
    private var trades: [SymbolID: UInt64] = [:]
    /// The number of filled ones among them.
    private var filled: [SymbolID: UInt64] = [:]
    /// The arrivals of the first and the last of them by the wall clock, ns since 1970.
    private(set) var from: Int64
    private(set) var to: Int64
    /// The sequence number of the first of them.
    private(set) var firstSequence: UInt64
    /// The sequence number of the first trade after them.
    private(set) var nextSequence: UInt64
    private(set) var symbols: SymbolTable

    init(_ batch: TapeBatch) {
        self.from = batch.received
        self.to = batch.received
        self.firstSequence = batch.firstSequence
        self.nextSequence = batch.firstSequence
        self.symbols = batch.symbols
        self.add(batch)
    }

    mutating func add(_ batch: TapeBatch) {
        for trade in batch.trades {
            self.trades[trade.symbol, default: 0] += 1
            if trade.isFilled { self.filled[trade.symbol, default: 0] += 1 }
        }
        self.to = batch.received
        self.nextSequence = batch.firstSequence + UInt64(batch.trades.count)
        self.symbols = batch.symbols
    }

    /// The number of trades of each symbol.
    var counts: [String: UInt64] {
        self.trades.reduce(into: [:]) { $0[self.symbols.name(of: $1.key), default: 0] += $1.value }
    }

    /// Returns how many of them are of wanted symbols.
    ///
    /// - Parameter takesFilled: whether filled trades are wanted, too.
    func count(takesFilled: Bool = true, where isWanted: (String) -> Bool) -> UInt64 {
        self.trades.reduce(0) { sum, next in
            guard isWanted(self.symbols.name(of: next.key)) else { return sum }
            return sum + next.value - (takesFilled ? 0 : self.filled[next.key] ?? 0)
        }
    }
}
