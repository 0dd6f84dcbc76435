import Market

/// The owner of the decisions about a client's second connection. All methods are called on the client's loop.
protocol SecondConnectionOwner: AnyObject {
    /// Notes that the two connections may be ready for a change now. May be called within a read.
    func overlapAdvanced()
    /// Takes the end of the open second connection.
    func secondEnded(_ failure: UpstreamFailure)
    /// Takes the end of the first connection; returns whether the second one has taken its place.
    ///
    /// - Parameter complete: the last moment before which nothing is missing; wall clock, ns since 1970.
    func firstEnded(_ failure: UpstreamFailure, complete: Int64) -> Bool

    /// Notes that the first connection has opened, or has ended without another in its place.
    func connectionOpened()
    func connectionEnded()
    /// Takes the condition of the feed.
    func conditionChanged(_ condition: SymbolMonitor.Condition)
    /// Notes that the service is about to close the first or the second connection.
    func closingAnnounced()
    func secondClosingAnnounced()
}

extension SecondConnectionOwner {
    func connectionOpened() {}
    func connectionEnded() {}
    func conditionChanged(_ condition: SymbolMonitor.Condition) {}
    func closingAnnounced() {}
    func secondClosingAnnounced() {}
}
