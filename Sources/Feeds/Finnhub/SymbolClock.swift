import Market

/// How long one symbol has been without a trade, and how long it usually is: a few words, touched once a read.
struct SymbolClock: Sendable {
    /// When its newest trade on this connection arrived, or when it was asked for; monotonic ns. `nil` while no connection
    /// was asked for it.
    private(set) var since: Int64?
    /// Whether trades come; the way of a trade ends here for a symbol that is known to be live.
    var isLive = false
    /// The times between its trades.
    private var usual = UsualSilence()
    /// When the trades began that have not paused for longer than the threshold since; monotonic ns.
    private(set) var runBegan: Int64 = 0

    /// Notes that the connection was asked for the symbol. What passed without one is no gap of the symbol's.
    mutating func asked(now: Int64) { self.since = now }

    /// Moves the moment that silence counts from, but not into the future.
    mutating func shift(by time: Int64, now: Int64) { self.since = self.since.map { min($0.addingCapped(time), now) } }

    mutating func disconnected() {
        self.since = nil
        self.isLive = false
    }

    /// Takes a read with trades of the symbol.
    mutating func traded(now: Int64) {
        self.usual.ended(self.since.map { now - $0 }, now: now)
        self.since = now
    }

    /// Notes that a symbol that was not live trades.
    mutating func becameLive(now: Int64) {
        self.isLive = true
        self.runBegan = now
    }

    /// The longest recent gap between two trades, or between asking and the first; ns.
    func longestGap(now: Int64) -> Int64 { self.usual.longest(now: now) }
}
