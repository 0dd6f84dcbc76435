package import Market

/// The decisions of a feed while one of its reads goes onto the tape. Its methods run on the feed's loop.
package protocol FeedInputDelegate: AnyObject {
    /// Takes the trades of a read that has ended, and changes the status that they change. The change precedes the
    /// trades, so that no reader receives a trade while the status says that none flow.
    ///
    /// - Returns: whether anything has changed. A deadline may have changed with it.
    func tradesArrived(_ trades: [Trade], symbols: SymbolTable, now: Moment) -> Bool
    /// Publishes the changed status of single symbols, after the gap that ends with the read.
    func publishChanges()
    /// Notes that a read with frames has ended.
    ///
    /// - Parameter hasChanges: whether a deadline may have moved nearer.
    func readEnded(hasTrades: Bool, hasChanges: Bool, now: Moment)
    /// Notes that a replay was paused, so that silence proves nothing, or that it continues.
    func pauseChanged(_ isPaused: Bool, now: Moment)
    /// Notes that ``FeedInput/missing`` of a live feed has grown: gaps with ids were published.
    func holesFound(now: Moment)
}

extension FeedInputDelegate {
    /// Does nothing: most services cannot be asked for earlier trades.
    package func holesFound(now: Moment) {}
}
