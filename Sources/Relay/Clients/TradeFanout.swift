import Wire

/// The way of trades to all sessions of one protocol: what several want alike is encoded once.
protocol TradeFanout: AnyObject {
    /// Sends trades to the sessions that want them; returns whether there are any.
    func send(_ batches: ArraySlice<TapeBatch>) -> Bool
    /// Notes that symbols' numbers mean others from now on.
    func epochBegan()
}
