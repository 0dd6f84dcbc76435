import NIOCore

// Single trades for a client of `/v1/stream`, written as long as its backlog allows, and counted where it does not.
extension StreamClient {
    /// Trades are there that it wants, the same bytes for all who want them.
    func deliver(_ content: StreamTradeEncoder.Content) {
        guard self.isOpen else { return }
        let bytes = self.compressed(content.bytes)
        switch self.output.offered(trades: content.trades, bytes: bytes.readableBytes, messages: Int(content.trades)) {
        case .write: self.write(asIs: bytes, messages: Int(content.trades))
        case .leaveOut: self.missed(content.trades, in: content.sequences)
        }
    }

    private func missed(_ trades: UInt64, in range: ClosedRange<UInt64>) {
        self.missedCount += trades
        self.missedRange = min(self.missedRange?.lowerBound ?? .max, range.lowerBound)...range.upperBound
        self.missedSince = min(self.missedSince ?? .max, range.lowerBound)
    }

    /// A price for a client that wants to be closed when it is too slow; returns whether it can be written.
    func mayWritePrice(bytes: Int, skipped: UInt64) -> Bool {
        self.overflow != .close || self.output.offered(trades: skipped + 1, bytes: bytes, messages: 1) == .write
    }

    /// How many of some trades it wants one by one.
    func wanted(of trades: RelayLoss) -> UInt64 {
        trades.count { symbol in
            guard let row = self.hub.prices.knownRow(of: symbol) else { return self.session.everything == .all }
            return self.session.delivery(of: row) == .all
        }
    }

    func tradesLost(_ loss: RelayLoss) {
        guard self.isOpen, self.session.wantsTrades else { return }
        let count = self.wanted(of: loss)
        guard count > 0 else { return }
        if self.closesWhenBehind { return self.closeTooSlow(missed: self.output.missed + count) }
        let range = loss.firstSequence...max(loss.firstSequence, loss.nextSequence - 1)
        self.hub.noteSkipped(count)
        self.notify(.skipped(count, range))
    }
}
