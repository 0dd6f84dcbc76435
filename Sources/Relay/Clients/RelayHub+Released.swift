import Market
import NIOCore
import Wire

/// Symbols that are no longer subscribed upstream. Their last data stays, marked as not current.
extension RelayHub {
    /// Notes that a symbol was unsubscribed upstream. Sessions that follow all symbols get a report, since they would
    /// show its last price as current forever.
    func released(_ symbol: String) {
        self.symbolStates[symbol] = nil
        self.index.interrupted(symbol)
        let since = self.wallClock()
        let message = self.message()
        for session in self.index.allFollowers { session.symbolReleased(symbol, since: since, message) }
        self.freeRow(of: symbol)
        // A symbol that never traded has no row now and needs no entry. The others are bounded by the number of rows.
        if self.prices.knownRow(of: symbol) != nil { self.releasedSince[symbol] = since }
    }

    /// Returns the state of a symbol that has traded, as a word of the protocol.
    func word(of symbol: String) -> String {
        if let status = self.symbolStates[symbol] { return status.word }
        return self.releasedSince[symbol] == nil ? "live" : StreamEncoder.releasedState
    }
}
