import NIOCore

/// The symbols without a subscriber that the feed still delivers, each for the linger time.
///
/// A page that reloads, or a program that restarts, unsubscribes a symbol and subscribes to it again a moment later.
/// The upstream must not see these requests: they would change nothing, and Finnhub drops clients that send too many.
///
/// The linger time is the same for all, so symbols leave in the order in which they came. Time is an argument.
struct LingeringSymbols: Equatable {
    private struct Waiting: Equatable {
        var symbol: String
        var until: NIODeadline
    }

    private var time: TimeAmount
    /// In the order in which they lost their subscribers; never more than the table has places.
    private var waiting: [Waiting] = []

    /// - Parameter time: how long a symbol lingers; with 0 no symbol does.
    init(time: TimeAmount) { self.time = time }

    /// Changes how long symbols linger. Those that linger already do so no longer than a new one would.
    mutating func change(time: TimeAmount, now: NIODeadline) {
        self.time = time
        for index in self.waiting.indices { self.waiting[index].until = min(self.waiting[index].until, now + time) }
    }

    var count: Int { self.waiting.count }

    /// When ``timePassed(now:)`` is due.
    var deadline: NIODeadline? { self.waiting.first?.until }

    /// Takes a symbol that has lost its last subscriber and is not lingering yet; returns whether it lingers.
    mutating func insert(_ symbol: String, now: NIODeadline) -> Bool {
        guard self.time > .zero else { return false }
        self.waiting.append(Waiting(symbol: symbol, until: now + self.time))
        return true
    }

    /// Removes a symbol that has a subscriber again, or that the upstream refuses; returns whether it was lingering.
    mutating func remove(_ symbol: String) -> Bool {
        guard let place = self.waiting.firstIndex(where: { $0.symbol == symbol }) else { return false }
        self.waiting.remove(at: place)
        return true
    }

    /// Removes and returns the symbol that has lingered longest.
    mutating func removeOldest() -> String? { self.waiting.isEmpty ? nil : self.waiting.removeFirst().symbol }

    /// Removes and returns the symbols whose linger time has ended.
    mutating func timePassed(now: NIODeadline) -> [String] {
        let over = self.waiting.prefix { $0.until <= now }.map(\.symbol)
        self.waiting.removeFirst(over.count)
        return over
    }
}
