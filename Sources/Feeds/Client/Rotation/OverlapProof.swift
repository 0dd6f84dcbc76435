/// The proof that two connections to a venue overlap: for each symbol, the second one's first trade follows directly on
/// a trade that the first one has brought, or repeats one.
///
/// A state machine. A symbol that does not trade on the second connection proves nothing.
struct OverlapProof {
    private struct Symbol {
        /// The smallest id on the second connection; `nil` before its first trade there.
        var first: UInt64?
        /// The newest id on the tape when the second connection's subscriptions had taken effect.
        var base: UInt64?
    }

    private var unproven: [String: Symbol] = [:]
    /// The number of the symbols that the second connection was asked for, and of those that are proven.
    private(set) var count = 0
    private(set) var provenCount = 0

    init(_ symbols: some Sequence<String>) { for symbol in symbols { self.subscribed(to: symbol) } }

    /// Whether every symbol is proven.
    var isComplete: Bool { self.unproven.isEmpty }

    /// Notes that the second connection is asked for another symbol.
    mutating func subscribed(to symbol: String) {
        guard self.unproven[symbol] == nil else { return }
        self.unproven[symbol] = Symbol()
        self.count += 1
    }

    /// Notes that a symbol is no longer wanted.
    mutating func unsubscribed(_ symbol: String) {
        guard self.unproven.removeValue(forKey: symbol) != nil else { return }
        self.count -= 1
    }

    /// Takes the smallest id of a symbol's trades in a frame of the second connection.
    ///
    /// - Parameter newest: the newest id on the tape, which the first connection has brought.
    mutating func arrived(_ id: UInt64, of symbol: String, newest: UInt64?) {
        guard var entry = self.unproven[symbol] else { return }
        entry.first = min(entry.first ?? id, id)
        self.unproven[symbol] = entry
        self.judge(symbol, entry, newest: newest)
    }

    /// Takes the newest ids on the tape, after the first connection has brought trades.
    mutating func firstAdvanced(_ newest: (String) -> UInt64?) {
        for (symbol, entry) in self.unproven where entry.first != nil {
            self.judge(symbol, entry, newest: newest(symbol))
        }
    }

    private mutating func judge(_ symbol: String, _ entry: Symbol, newest: UInt64?) {
        guard let first = entry.first, let newest, first <= newest || first - newest == 1 else { return }
        self.unproven[symbol] = nil
        self.provenCount += 1
    }

    /// Notes that the second connection's subscriptions have taken effect: it gets all later trades.
    mutating func subscriptionsTookEffect(_ newest: (String) -> UInt64?) {
        for symbol in self.unproven.keys { self.unproven[symbol]?.base = newest(symbol) ?? 0 }
    }

    /// Whether a symbol has traded on the first connection since then, and never on the second one.
    func hasMissed(_ newest: (String) -> UInt64?) -> Bool {
        self.unproven.contains { symbol, entry in
            guard entry.first == nil, let base = entry.base else { return false }
            return newest(symbol) ?? 0 > base
        }
    }
}
