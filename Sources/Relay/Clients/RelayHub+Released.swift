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
        let frame = self.frame(.released(symbol, since: since))
        for client in self.streamClients.values { client.released(symbol, since: since, frame: frame) }
        self.freeRow(of: symbol)
        // One that never traded has no row now, and nothing is left of it; there are no more of the others than rows.
        if self.desk.knownRow(of: symbol) != nil { self.releasedSince[symbol] = since }
    }

    /// The state of a symbol that has traded, as a word.
    func word(of symbol: String) -> String {
        if let status = self.symbolStates[symbol] { return status.word }
        return self.releasedSince[symbol] == nil ? "live" : StreamEncoder.releasedState
    }
}

extension StreamClient {
    /// Nobody asks for a symbol any more. Who named it does ask, and hears what becomes of that instead.
    func released(_ symbol: String, since: Int64, frame: ByteBuffer? = nil) {
        guard !self.wished.contains(symbol), let row = self.hub.desk.knownRow(of: symbol), self.session.follows(row)
        else { return }
        self.tell(.released(symbol, since: since), frame: frame)
    }

    /// Somebody asks again for a symbol of which it was told that nobody does: it has forgotten the price.
    func recalled(_ symbol: String) {
        guard self.isOpen, !self.wished.contains(symbol), let row = self.hub.desk.knownRow(of: symbol),
            self.session.follows(row)
        else { return }
        self.showAgain(row)
    }
}
