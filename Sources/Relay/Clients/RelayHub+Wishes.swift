import Market
import NIOCore
import Wire

/// The symbols that clients want, and what the upstream is told of that.
extension RelayHub {
    /// A client wants a symbol no more; some time after the last one the upstream need not send it.
    func gaveUp(_ symbol: String) {
        self.ledger.unwanted(symbol, now: self.now)
        self.sendReleases()
        self.armGraceTimer()
    }

    /// The program itself wants a symbol, as its screen does; no client has asked for it.
    func adopt(_ symbol: String) -> SymbolLedger.Answer {
        let answer = self.ledger.adopted(symbol)
        // A place that was taken from another symbol is free before it is asked for.
        self.sendReleases()
        if answer == .demand { self.demand(symbol) }
        return answer
    }

    /// The program itself wants a symbol no more.
    func disown(_ symbol: String) {
        self.ledger.disowned(symbol)
        self.sendReleases()
    }

    /// Tells the upstream what it need not send any more.
    func sendReleases() {
        for symbol in self.ledger.takeReleases() {
            self.release(symbol)
            self.freeRow(of: symbol)
        }
    }

    /// One timer for all symbols, at the earliest end of a grace. Where that symbol is wanted again, it looks anew.
    private func armGraceTimer() {
        guard !self.isStopped, let deadline = self.ledger.deadline else { return }
        if let timer = self.graceTimer, timer.at <= deadline { return }
        self.graceTimer?.task.cancel()
        let task = self.loop.assumeIsolated().scheduleTask(deadline: deadline) {
            self.graceTimer = nil
            self.ledger.timePassed(now: self.now)
            self.sendReleases()
            self.armGraceTimer()
        }
        self.graceTimer = (deadline, task)
    }

    /// The newest of a symbol, if it has traded.
    func newest(of symbol: String) -> SymbolSummary? {
        self.desk.knownRow(of: symbol).flatMap { self.desk.newest(row: $0)?.summary }
    }
}
