import Market

/// The time that one symbol has been without a trade, and its usual time between trades. A small value, since every
/// read touches it.
struct SymbolClock: Sendable {
    /// When the symbol's newest trade on this connection arrived, or when the symbol was subscribed; monotonic ns.
    /// `nil` without a subscription.
    private(set) var since: Int64?
    /// Whether trades come. For a symbol that is known to be live, a trade needs no further work.
    var isLive = false
    /// The times between its trades.
    private var usual = UsualSilence()
    /// The start of the trades that have not paused for longer than the threshold since; monotonic ns.
    private(set) var runBegan: Int64 = 0

    /// Notes that the symbol was subscribed. Silence counts from now; the time before it is not measured.
    mutating func asked(now: Int64) { self.since = now }

    /// Moves the start of the silence, but not into the future.
    mutating func shift(by time: Int64, now: Int64) { self.since = self.since.map { min($0.addingCapped(time), now) } }

    mutating func disconnected() {
        self.since = nil
        self.isLive = false
    }

    /// Takes trades of the symbol.
    mutating func traded(now: Int64) {
        self.usual.ended(self.since.map { now - $0 }, now: now)
        self.since = now
    }

    /// Notes that a symbol that was not live trades.
    mutating func becameLive(now: Int64) {
        self.isLive = true
        self.runBegan = now
    }

    /// Returns the longest recent gap between two trades, or between the subscription and the first trade; ns.
    func longestGap(now: Int64) -> Int64 { self.usual.longest(now: now) }
}
