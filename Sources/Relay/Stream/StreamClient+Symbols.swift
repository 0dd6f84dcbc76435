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

    func gapSettled(_ outcome: GapOutcome, _ message: SharedMessage) {
        if self.follows(outcome.symbol) { self.notify(.settled(outcome), message) }
    }

    func dayChanged(_ day: VenueDay, _ message: SharedMessage) {
        guard self.isOpen, self.follows(day.symbol) else { return }
        self.show(day, message)
    }

    /// Sends the venue's own figures of a symbol, if there are any.
    func showDay(of symbol: String) {
        if let day = self.context.day(of: symbol) { self.show(day) }
    }

    /// Sends figures; a client that does not keep up gets the newest ones later.
    private func show(_ day: VenueDay, _ message: SharedMessage? = nil) {
        guard self.takesPrices, self.mayWriteMergeable else {
            self.dueDays.insert(day.symbol)
            return
        }
        let control = StreamControl.venueDay(day)
        let shared = message?.frame(for: StreamClient.self, encode: control.encoded)
        self.write(shared ?? self.context.frame(control), messages: 1)
    }

    /// Sends the figures that were held back, as many as may be written.
    func showDueDays() {
        let due = self.dueDays
        self.dueDays = []
        for symbol in due.sorted() where self.follows(symbol) { self.showDay(of: symbol) }
    }

    private func follows(_ symbol: String) -> Bool {
        self.context.knownRow(of: symbol).map { self.session.follows($0) } ?? false
    }
}
