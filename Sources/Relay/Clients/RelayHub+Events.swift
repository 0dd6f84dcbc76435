import Logging
import Market
import NIOCore
package import Wire

/// What the feed brings, on its way to the clients.
extension RelayHub {
    /// Batches that came together leave together, in pieces of about this many bytes, so that no client's queue grows
    /// with what it could take at once.
    private static let pieceBytes = 64 << 10

    /// Takes in what came from another loop, in order.
    func take(_ events: [RelayEvent]) {
        var piece: [TapeBatch] = []
        var bytes = 0
        for event in events {
            guard case .batch(let batch) = event else {
                self.deliver(piece)
                piece = []
                bytes = 0
                self.take(event)
                continue
            }
            piece.append(batch)
            bytes += batch.frames.reduce(0) { $0 + $1.bytes.readableBytes }
            if bytes >= Self.pieceBytes {
                self.deliver(piece)
                piece = []
                bytes = 0
            }
        }
        self.deliver(piece)
    }

    /// Takes in one read of the feed, on the loop where it happened.
    ///
    /// As ``deliver(_:)`` does for several; but a batch is many words and references, and each copy of one is felt.
    package func take(_ batch: TapeBatch) {
        guard !self.isStopped else { return }
        if self.restartGap != nil, !batch.trades.isEmpty { self.endRestartGap(at: batch.received) }
        let isDelivered = self.send([batch])
        self.keep(batch)
        let showings = self.prices.take(batch)
        self.finish(showings, delivered: isDelivered && !batch.trades.isEmpty ? batch.receivedMonotonic : nil)
        self.freeRowsOfEarlierEpochs()
    }

    private func deliver(_ batches: [TapeBatch]) {
        // Late, when everyone has been told that this is the end.
        guard !batches.isEmpty, !self.isStopped else { return }
        let first = batches.first { !$0.trades.isEmpty }
        if self.restartGap != nil, let first { self.endRestartGap(at: first.received) }
        let isDelivered = self.send(batches[...])
        for batch in batches { self.keep(batch) }
        var showings: [PriceTable.Showing] = []
        for batch in batches { showings += self.prices.take(batch) }
        self.finish(showings, delivered: isDelivered ? first?.receivedMonotonic : nil)
        self.freeRowsOfEarlierEpochs()
    }

    /// Sends every trade to those who want that; returns whether there were any.
    private func send(_ batches: ArraySlice<TapeBatch>) -> Bool {
        var isDelivered = false
        for fanout in self.fanouts where fanout.send(batches) { isDelivered = true }
        return isDelivered
    }

    /// Keeps a read for whoever asks later.
    private func keep(_ batch: TapeBatch) {
        guard !batch.trades.isEmpty else { return }
        if !self.resuming.isEmpty { self.makeRoom(for: batch) }
        self.ring.append(batch)
        self.lastArrival = (batch.received, batch.receivedMonotonic)
        self.countBars(batch)
    }

    /// Shows what is to be shown of the reads, and sends all that was written.
    ///
    /// - Parameter delivered: the arrival of the oldest of them that brought trades for somebody, monotonic ns: one figure a
    ///   flush, when the last of its clients has it.
    private func finish(_ showings: [PriceTable.Showing], delivered: Int64?) {
        for row in self.prices.takeAppeared() { self.appeared(row) }
        self.show(showings)
        self.flush()
        if let delivered {
            self.delivered.record(nanoseconds: self.monotonic - delivered)
        }
        self.armActivityTimer()
    }

    /// Lets those who are still on their way know which trades are about to leave the ring.
    private func makeRoom(for batch: TapeBatch) {
        let lower = max(
            self.ring.lowerBound(after: batch),
            self.ring.lowerBound(at: batch.receivedMonotonic)
        )
        for session in self.resuming.values { session.tradesEvicted(below: lower, by: batch) }
    }

    /// Forgets the trades that are too old by now, which those who are still on their way to them are told.
    func expireRing() {
        if !self.resuming.isEmpty {
            let lower = self.ring.lowerBound(at: self.monotonic)
            for session in self.resuming.values { session.tradesEvicted(below: lower, by: nil) }
        }
        self.ring.expire(now: self.monotonic)
    }

    /// Takes in one event, on the loop where it happened or behind those before it.
    package func take(_ event: RelayEvent) {
        guard !self.isStopped else { return }
        switch event {
        case .batch(let batch):
            self.take(batch)
            return
        case .epochBegan(let epoch):
            self.epochBegan(epoch)
        case .status(let status):
            self.changeStatus { $0.status = status }
        case .gap(let gap):
            self.gapFound(gap)
        case .symbol(let status):
            self.symbolChanged(status)
        case .unsubscribed(let symbol):
            self.released(symbol)
        case .lost(let loss):
            self.lost(loss)
        }
        self.flush()
    }

    /// Shows what was held back, and forgets what symbols' numbers meant.
    private func epochBegan(_ epoch: UInt64) {
        for fanout in self.fanouts { fanout.epochBegan() }
        self.bars.epochBegan()
        self.show(self.prices.epochBegan(epoch))
    }

    /// A refused symbol keeps its clients: each is told once, and a later recovery reaches them.
    private func symbolChanged(_ status: SymbolStatus) {
        // As many as the feed asks for.
        self.symbolStates[status.symbol] = status
        let isRecalled = self.releasedSince.removeValue(forKey: status.symbol) != nil
        // Who follows all is told of a symbol that never trades, too.
        _ = self.row(of: status.symbol)
        // Before the state, as ever: a price of then must make no symbol live that was just asked for. And before the state has
        // its number, for numbers grow.
        if isRecalled { for session in self.index.allFollowers { session.symbolRecalled(status.symbol) } }
        let message = self.message()
        for session in self.index.sessions(of: status.symbol) { session.symbolChanged(status, message) }
        let subscribers = self.index.subscribers(of: status.symbol)
        guard status.isRefused else {
            for session in subscribers { session.symbolAccepted(status.symbol) }
            return
        }
        let reason = self.refusal(of: status.symbol) ?? ""
        for session in subscribers { session.symbolRefused(status.symbol, reason: reason) }
    }

    /// What a client that wants the symbol is told, in the upstream's words, while the upstream does not send it.
    func refusal(of symbol: String) -> String? {
        guard let status = self.symbolStates[symbol], status.isRefused else { return nil }
        return status.reason ?? TradesSession.invalid(symbol)
    }

    func gapFound(_ gap: Gap) {
        if gap.movesClock { self.settled.clockMoved() }
        let marked = self.markBars(gap)
        let message = self.message()
        let sessions = gap.symbol.map { self.index.sessions(of: $0) } ?? Array(self.sessions.values)
        for session in sessions { session.gapFound(gap, message) }
        self.sendBars(marked: marked)
    }

    private func lost(_ loss: RelayLoss) {
        self.skipped.relay.increment(by: Int64(clamping: loss.count { _ in true }))
        self.logger.error(
            "the relay was too late to take all trades",
            metadata: ["lost": "\(loss.count { _ in true })"]
        )
        self.prices.lost(loss)
        for session in self.sessions.values { session.tradesLost(loss) }
        let reason = "the relay was too busy to take all trades"
        self.gapFound(Gap(from: loss.from, to: loss.to, reason: reason, nextSequence: loss.nextSequence))
    }
}
