import Market
import NIOCore
import Wire

// The reports to a client of `/v1/stream` about the feed and the followed symbols, besides their trades.
extension StreamClient {
    /// Reports a refusal. Clients that follow all symbols get the symbol's status instead.
    func symbolRefused(_ symbol: String, reason: String) {
        self.notify(.error(reason, code: self.context.status(of: symbol)?.word ?? "refused"))
    }

    func symbolChanged(_ status: SymbolStatus, _ message: SharedMessage) {
        guard self.follows(status.symbol) else { return }
        self.notify(.symbol(status), message)
    }

    /// Reports a released symbol. A client that has subscribed to the symbol by its name gets the symbol's status
    /// instead.
    func symbolReleased(_ symbol: String, since: Int64, _ message: SharedMessage) {
        self.released(symbol, since: since, message)
    }

    private func released(_ symbol: String, since: Int64, _ message: SharedMessage? = nil) {
        guard !self.context.index.isSubscribed(self, to: symbol), self.follows(symbol) else { return }
        self.notify(.released(symbol, since: since), message)
    }

    /// Reports that a symbol is released, if it is.
    func showReleased(_ symbol: String) {
        if let since = self.context.released(symbol) { self.released(symbol, since: since) }
    }

    /// Sends the price again, which the client has discarded when the symbol was released.
    func symbolRecalled(_ symbol: String) {
        guard self.isOpen, !self.context.index.isSubscribed(self, to: symbol),
            let row = self.context.knownRow(of: symbol), self.session.follows(row)
        else { return }
        self.showAgain(row)
    }

    func showState(of symbol: String) {
        if let status = self.context.status(of: symbol) { return self.notify(.symbol(status)) }
        self.showReleased(symbol)
    }

    func statusChanged(_ status: FeedStatus, _ message: SharedMessage) { self.notify(.status(status), message) }

    func replayChanged(_ position: ReplayPosition, _ message: SharedMessage) { self.notify(.replay(position), message) }

    func epochChanged(_ seam: Gap, _ message: SharedMessage) {
        self.session.epochBegan()
        self.notify(.gap(seam), message)
    }

    func gapFound(_ gap: Gap, _ message: SharedMessage) {
        if let symbol = gap.symbol, !self.follows(symbol) { return }
        self.notify(.gap(gap), message)
    }

    private func follows(_ symbol: String) -> Bool {
        self.context.knownRow(of: symbol).map { self.session.follows($0) } ?? false
    }
}
