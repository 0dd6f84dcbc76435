import Market

/// Which symbols may come to the screen: what was held back of one that is gone does not bring it back.
///
/// Each set is bounded; what is forgotten comes back to the screen, and no harm is done.
struct SymbolAdmission: Sendable {
    /// Removed by the person at the screen, although others may still subscribe to them.
    private var removed: Set<String> = []
    /// Those of ``removed`` that are being asked for again.
    private var requested: Set<String> = []
    /// Symbols that no program subscribes to any more.
    private var unsubscribed: Set<String> = []

    func admits(_ symbol: String) -> Bool { !self.removed.contains(symbol) && !self.unsubscribed.contains(symbol) }
    func isRemoved(_ symbol: String) -> Bool { self.removed.contains(symbol) }
    func isUnsubscribed(_ symbol: String) -> Bool { self.unsubscribed.contains(symbol) }

    mutating func remove(_ symbol: String) { Self.insert(symbol, into: &self.removed) }
    mutating func unsubscribe(_ symbol: String) { Self.insert(symbol, into: &self.unsubscribed) }
    mutating func subscribe(_ symbol: String) { self.unsubscribed.remove(symbol) }

    /// Lets a symbol in that is being asked for, also one that was removed.
    mutating func request(_ symbol: String) {
        if self.removed.remove(symbol) != nil { self.requested.insert(symbol) }
        self.subscribe(symbol)
    }

    /// Notes that a symbol is on the screen from now on.
    mutating func accept(_ symbol: String) {
        self.removed.remove(symbol)
        self.requested.remove(symbol)
        self.subscribe(symbol)
    }

    /// Notes that a symbol cannot be had; says whether it had been removed before it was asked for.
    mutating func refuse(_ symbol: String) -> Bool { self.requested.remove(symbol) != nil }

    private static func insert(_ symbol: String, into set: inout Set<String>) {
        if set.count < SymbolTable.capacity { set.insert(symbol) }
    }
}
