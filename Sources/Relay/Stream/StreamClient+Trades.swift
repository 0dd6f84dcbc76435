import NIOCore

// Single trades for a client of `/v1/stream`, written while its backlog allows, and counted otherwise.
extension StreamClient {
    /// Sends wanted trades, the same bytes for all clients with the same subscriptions.
    ///
    /// - Parameter sent: how many of their bytes the direct send has taken.
    func deliver(_ content: TradeMessages.Content, behind sent: Int) {
        let messages = Int(content.trades)
        if !self.deliver(content.bytes, behind: sent, messages: messages, trades: content.trades) {
            self.missed(content.trades, in: content.sequences)
        }
    }

    private func missed(_ trades: UInt64, in range: ClosedRange<UInt64>) {
        self.missedCount += trades
        self.missedRange = min(self.missedRange?.lowerBound ?? .max, range.lowerBound)...range.upperBound
        self.missedSince = min(self.missedSince ?? .max, range.lowerBound)
    }

    /// Returns whether a price can be written. For a client that is closed when it is too slow, its trades count in the
    /// backlog.
    func mayWritePrice(bytes: Int, skipped: UInt64) -> Bool {
        self.overflow != .close || self.pace.offered(trades: skipped + 1, bytes: bytes, messages: 1) == .write
    }

    /// Returns how many of some trades the client wants singly.
    func wanted(of trades: RelayLoss) -> UInt64 {
        trades.count { symbol in
            guard let row = self.context.knownRow(of: symbol) else { return self.session.everything == .all }
            return self.session.delivery(of: row) == .all
        }
    }

    func tradesLost(_ loss: RelayLoss) {
        guard self.isOpen, self.session.wantsTrades else { return }
        let count = self.wanted(of: loss)
        guard count > 0 else { return }
        if self.closesWhenBehind { return self.closeTooSlow(missed: self.pace.missed + count) }
        let range = loss.firstSequence...max(loss.firstSequence, loss.nextSequence - 1)
        self.context.noteSkipped(count)
        self.notify(.skipped(count, range))
    }
}
