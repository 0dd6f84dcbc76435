import Market
import NIOCore
import Wire

// What a client of `/v1/stream` is told of the symbols that it follows, beside their trades.
extension StreamClient {
    /// The upstream does not send a symbol: a client who asked for it is told, once, and keeps following it. Who follows
    /// all is told by the symbol's state.
    func refused(_ symbol: String, message: String) {
        guard self.wished.contains(symbol), self.toldRefused.insert(symbol).inserted else { return }
        self.tell(.error(message, code: self.hub.symbolStates[symbol]?.word ?? "refused"))
    }

    /// The upstream sends a symbol again.
    func accepted(_ symbol: String) { self.toldRefused.remove(symbol) }

    /// The state of one symbol changed.
    func symbolChanged(_ status: SymbolStatus, frame: ByteBuffer) {
        guard let row = self.hub.desk.knownRow(of: status.symbol), self.session.follows(row) else { return }
        self.tell(.symbol(status), frame: frame)
    }

    func showState(of symbol: String) {
        if let status = self.hub.symbolStates[symbol] { return self.tell(.symbol(status)) }
        if let since = self.hub.releasedSince[symbol] { self.released(symbol, since: since) }
    }

    func gapFound(_ gap: Gap, frame: ByteBuffer) {
        if let symbol = gap.symbol {
            guard let row = self.hub.desk.knownRow(of: symbol), self.session.follows(row) else { return }
        }
        self.tell(.gap(gap), frame: frame)
    }
}
