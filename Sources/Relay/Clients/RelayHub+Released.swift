import Market
import NIOCore
import Wire

/// Symbols that nobody asks for any more: what was known of them stays, and is no price of now.
extension RelayHub {
    /// Notes that the upstream is not asked for a symbol any more. Who follows all is told, for its price would stand there
    /// for ever as one of now.
    func released(_ symbol: String) {
        self.symbolStates[symbol] = nil
        let since = self.wallClock()
        let message = self.message()
        for session in self.index.allFollowers { session.symbolReleased(symbol, since: since, message) }
        self.freeRow(of: symbol)
        // One that never traded has no row now, and nothing is left of it; there are no more of the others than rows.
        if self.prices.knownRow(of: symbol) != nil { self.releasedSince[symbol] = since }
    }

    /// The state of a symbol that has traded, as a word.
    func word(of symbol: String) -> String {
        if let status = self.symbolStates[symbol] { return status.word }
        return self.releasedSince[symbol] == nil ? "live" : StreamEncoder.releasedState
    }
}
