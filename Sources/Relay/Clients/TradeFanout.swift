import Wire

/// The fan-out of trades to all sessions of one protocol; what several sessions share is encoded once.
protocol TradeFanout: AnyObject {
    /// Sends trades to the sessions that want them; returns whether there are any such sessions.
    func send(_ batches: ArraySlice<TapeBatch>) -> Bool
    /// Forgets which symbol each number means; the next epoch assigns the numbers anew.
    func epochBegan()
}
