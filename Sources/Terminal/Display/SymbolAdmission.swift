import Market

/// The symbols that the screen admits: a price held back for a symbol that is gone must not bring the symbol back.
///
/// Each set is bounded. A symbol that does not fit may reappear on the screen, without harm.
struct SymbolAdmission: Sendable {
    /// Symbols that the person at the screen removed, although others may still subscribe to them.
    private var removed: Set<String> = []
    /// Symbols of ``removed`` that are being subscribed again.
    private var requested: Set<String> = []
    /// Symbols that no program subscribes to any more.
    private var unsubscribed: Set<String> = []

    func admits(_ symbol: String) -> Bool { !self.removed.contains(symbol) && !self.unsubscribed.contains(symbol) }
    func isRemoved(_ symbol: String) -> Bool { self.removed.contains(symbol) }
    func isUnsubscribed(_ symbol: String) -> Bool { self.unsubscribed.contains(symbol) }

    mutating func remove(_ symbol: String) { Self.insert(symbol, into: &self.removed) }
    mutating func unsubscribe(_ symbol: String) { Self.insert(symbol, into: &self.unsubscribed) }
    mutating func subscribe(_ symbol: String) { self.unsubscribed.remove(symbol) }

    /// Admits a symbol that is being subscribed, even if it was removed before.
    mutating func request(_ symbol: String) {
        if self.removed.remove(symbol) != nil { self.requested.insert(symbol) }
        self.subscribe(symbol)
    }

    /// Records that a symbol is on the screen.
    mutating func accept(_ symbol: String) {
        self.removed.remove(symbol)
        self.requested.remove(symbol)
        self.subscribe(symbol)
    }

    /// Records that a subscription failed; returns whether the symbol had been removed before.
    mutating func refuse(_ symbol: String) -> Bool { self.requested.remove(symbol) != nil }

    private static func insert(_ symbol: String, into set: inout Set<String>) {
        if set.count < SymbolTable.capacity { set.insert(symbol) }
    }
}
