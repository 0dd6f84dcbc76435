import NIOCore

/// The symbols without a subscriber that the feed still delivers, each for the linger time.
///
/// A page that is loaded again, or a program that restarts, gives a symbol up and wants it back a moment later. The upstream
/// shall not hear of that: neither request would change anything there, and Finnhub drops clients that ask too much.
///
/// The linger time is the same for all, so the symbol given up first is always the next; time is an argument.
struct LingeringSymbols: Equatable {
    private struct Waiting: Equatable {
        var symbol: String
        var until: NIODeadline
    }

    private let time: TimeAmount
    /// In the order in which they were given up; no more than the table has places.
    private var waiting: [Waiting] = []

    /// - Parameter time: how long a symbol lingers; 0 keeps none.
    init(time: TimeAmount) { self.time = time }

    var count: Int { self.waiting.count }

    /// When ``timePassed(now:)`` wants to be called.
    var deadline: NIODeadline? { self.waiting.first?.until }

    /// Takes a symbol that has lost its last subscriber and is not among them; returns whether it lingers.
    mutating func insert(_ symbol: String, now: NIODeadline) -> Bool {
        guard self.time > .zero else { return false }
        self.waiting.append(Waiting(symbol: symbol, until: now + self.time))
        return true
    }

    /// Removes a symbol that has a subscriber again or is not worth waiting for; returns whether it was there.
    mutating func remove(_ symbol: String) -> Bool {
        guard let place = self.waiting.firstIndex(where: { $0.symbol == symbol }) else { return false }
        self.waiting.remove(at: place)
        return true
    }

    /// Removes and returns the symbol that has lingered longest.
    mutating func removeOldest() -> String? { self.waiting.isEmpty ? nil : self.waiting.removeFirst().symbol }

    /// Removes and returns the symbols whose time is over.
    mutating func timePassed(now: NIODeadline) -> [String] {
        let over = self.waiting.prefix { $0.until <= now }.map(\.symbol)
        self.waiting.removeFirst(over.count)
        return over
    }
}
