import NIOCore

/// The symbols that no reader wants any more and that the upstream still sends, for a while.
///
/// A page that is loaded again, or a program that restarts, gives a symbol up and wants it back a moment later. The upstream
/// is not to hear of that: neither request would change anything there, and Finnhub drops clients that ask too much.
///
/// Every symbol waits equally long, so the one given up first is always the next; time is an argument.
struct SymbolGrace: Equatable {
    private struct Waiting: Equatable {
        var symbol: String
        var until: NIODeadline
    }

    private let time: TimeAmount
    /// In the order in which they were given up; no more than the ledger has places.
    private var waiting: [Waiting] = []

    /// - Parameter time: how long a symbol is kept for whoever may want it back; 0 keeps none.
    init(time: TimeAmount) { self.time = time }

    var count: Int { self.waiting.count }

    /// When ``timePassed(now:)`` wants to be called.
    var deadline: NIODeadline? { self.waiting.first?.until }

    /// The last reader has given up the symbol, which is not among them; returns whether it is kept for now.
    mutating func gaveUp(_ symbol: String, now: NIODeadline) -> Bool {
        guard self.time > .zero else { return false }
        self.waiting.append(Waiting(symbol: symbol, until: now + self.time))
        return true
    }

    /// Takes the symbol out, as somebody wants it again or it is not worth waiting for; returns whether it was there.
    mutating func remove(_ symbol: String) -> Bool {
        guard let place = self.waiting.firstIndex(where: { $0.symbol == symbol }) else { return false }
        self.waiting.remove(at: place)
        return true
    }

    /// A place is needed for another symbol; returns the one that has waited longest, which is not kept any more.
    mutating func placeNeeded() -> String? { self.waiting.isEmpty ? nil : self.waiting.removeFirst().symbol }

    /// Time has passed; returns the symbols that nobody wanted back.
    mutating func timePassed(now: NIODeadline) -> [String] {
        let over = self.waiting.prefix { $0.until <= now }.map(\.symbol)
        self.waiting.removeFirst(over.count)
        return over
    }
}
