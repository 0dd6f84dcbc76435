/// What is asked of one Finnhub connection and what it answered: a machine from the open WebSocket to its end.
///
/// Time is monotonic nanoseconds. It sends no ping: keepalive belongs to the WebSocket below. It watches two things that
/// keepalive cannot see: a connection on which nothing at all arrives, and one that answers pings but has no trades.
package struct FinnhubSession: Sendable {
    package struct Settings: Sendable, Equatable {
        /// Without a trade for so long the feed is `late`; nanoseconds.
        package var lateAfter: Int64 = 5_000_000_000
        /// Without any frame for so long the connection is given up; nanoseconds. Finnhub pings about every 60 s, and
        /// 45 s gave false alarms (reference, section 2).
        package var silentAfter: Int64? = 90_000_000_000
        /// For so long an error of the service is told beside trades that flow; nanoseconds.
        package var errorShownFor: Int64 = 60_000_000_000
        /// Symbols one connection may ask for.
        package var symbolLimit = 50

        package init() {}
    }

    /// What the trades of this connection are like right now.
    package enum Freshness: Sendable, Equatable {
        case waiting
        case live
        case late
    }

    /// What is to be done after a deadline.
    package enum DeadlineAction: Sendable, Equatable {
        case none
        /// The freshness changed.
        case report(Freshness)
        /// Nothing arrived for too long: end the connection.
        case drop(afterNanoseconds: Int64)
    }

    /// What became of a wish for a symbol.
    package enum Wish: Sendable, Equatable {
        /// Ask the service for it now.
        case subscribe
        /// It is asked for already.
        case known
        /// The limit is reached.
        case refused
    }

    package let settings: Settings
    /// All symbols asked for, in order; what a new connection asks for again.
    package private(set) var symbols: [String]
    /// Nanoseconds (monotonic) of the connection's first and newest trade.
    package private(set) var firstTrade: Int64?
    package private(set) var lastTrade: Int64?
    /// The newest error text of the service; while trades flow, it is forgotten after a while.
    package private(set) var lastError: String?
    private var errorUntil: Int64 = 0
    private var opened: Int64
    private var lastFrame: Int64
    private(set) package var freshness = Freshness.waiting

    /// A connection that opened at `now` and asks for `symbols`.
    package init(symbols: [String], settings: Settings, now: Int64) {
        self.settings = settings
        self.symbols = symbols
        self.opened = now
        self.lastFrame = now
    }

    /// Takes a wish for one more symbol.
    package mutating func wished(for symbol: String) -> Wish {
        if self.symbols.contains(symbol) { return .known }
        guard self.symbols.count < self.settings.symbolLimit else { return .refused }
        self.symbols.append(symbol)
        return .subscribe
    }

    /// Takes the end of a wish; answers whether the symbol was asked for.
    package mutating func unwished(_ symbol: String) -> Bool {
        guard let index = self.symbols.firstIndex(of: symbol) else { return false }
        self.symbols.remove(at: index)
        return true
    }

    /// Takes a read that brought frames, `trades` of them trades; answers with the freshness if it changed.
    package mutating func framesArrived(trades: Int, now: Int64) -> Freshness? {
        self.lastFrame = now
        guard trades > 0 else { return nil }
        self.firstTrade = self.firstTrade ?? now
        self.lastTrade = now
        return self.changed(to: .live)
    }

    /// Takes an error message of the service; answers whether it is another one than the last.
    package mutating func errorArrived(_ text: String, now: Int64) -> Bool {
        self.errorUntil = now + self.settings.errorShownFor
        defer { self.lastError = text }
        return self.lastError != text
    }

    /// Takes the sign of life of a ping or pong below.
    package mutating func signOfLifeArrived(now: Int64) {
        self.lastFrame = now
    }

    /// When ``deadlineReached(now:)`` wants to be called next.
    package var deadline: Int64? {
        let late = self.freshness == .late ? nil : (self.lastTrade ?? self.opened) + self.settings.lateAfter
        let silent = self.settings.silentAfter.map { self.lastFrame + $0 }
        // Without trades, the error may be the very reason, and stays.
        let forget = self.lastError != nil && self.freshness == .live ? self.errorUntil : nil
        return [late, silent, forget].compactMap(\.self).min()
    }

    /// Takes the passing of time.
    package mutating func deadlineReached(now: Int64) -> DeadlineAction {
        if let limit = self.settings.silentAfter, now - self.lastFrame >= limit {
            return .drop(afterNanoseconds: now - self.lastFrame)
        }
        if now - (self.lastTrade ?? self.opened) >= self.settings.lateAfter, let change = self.changed(to: .late) {
            return .report(change)
        }
        if self.freshness == .live, self.lastError != nil, now >= self.errorUntil {
            self.lastError = nil
            return .report(.live)
        }
        return .none
    }

    /// For how long the connection carried trades, in nanoseconds.
    package var tradedFor: Int64 {
        guard let firstTrade, let lastTrade else { return 0 }
        return lastTrade - firstTrade
    }

    private mutating func changed(to freshness: Freshness) -> Freshness? {
        guard self.freshness != freshness else { return nil }
        self.freshness = freshness
        return freshness
    }
}
