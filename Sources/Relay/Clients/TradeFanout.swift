import Wire

/// The fan-out of trades to all sessions of one protocol; what several sessions share is encoded once.
protocol TradeFanout: AnyObject {
    associatedtype Session: RelayProtocol

    /// The sessions that want every trade of some symbols. Only ``SessionIndex`` changes them.
    var groups: SubscriberGroups<Session> { get set }
    /// Whether no session wants trades.
    var isEmpty: Bool { get }

    /// Sends trades to the sessions that want them; returns whether there are any such sessions.
    ///
    /// - Parameter present: the symbols of the trades.
    func send(_ batches: ArraySlice<TapeBatch>, of present: SymbolSet) -> Bool
    /// Forgets which symbol each number means; the next epoch assigns the numbers anew.
    func epochBegan()
    /// Notes that trades may be missing from here on; of one symbol, or of all if it is `nil`.
    func interrupted(_ symbol: String?)
}

extension TradeFanout {
    var isEmpty: Bool { self.groups.isEmpty }

    func remove(_ session: ObjectIdentifier) { self.groups.remove(session) }

    func epochBegan() { self.groups.epochBegan() }

    /// Does nothing: most protocols keep no frames.
    func interrupted(_ symbol: String?) {}
}
