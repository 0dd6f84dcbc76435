import Logging
import Market
import NIOCore
package import Wire

/// The events of the feed, and their delivery to the clients.
extension RelayHub {
    /// Batches that arrive together are sent together, in pieces of about this many bytes. A larger piece would fill
    /// the queue of a client that could take it in parts.
    private static let pieceBytes = 64 << 10

    /// Takes in events from another loop, in order.
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

    /// Takes in one batch of the feed, on the loop where it was read.
    ///
    /// It does the same as ``deliver(_:)`` does for several. A batch is many words and references, and each copy of one
    /// costs measurable time.
    package func take(_ batch: TapeBatch) {
        guard !self.isStopped else { return }
        if self.restartGap != nil, batch.hasLiveTrade { self.endRestartGap(with: batch) }
        if self.sessions.isEmpty, self.index.needsNoTrades {
            return self.keepLater(self.settled.updates(of: batch), of: batch)
        }
        let isDelivered = self.index.send([batch])
        self.keep(batch)
        let showings = self.prices.take(batch)
        self.finish(showings, delivered: isDelivered && batch.hasLiveTrade ? batch.receivedMonotonic : nil)
        self.freeRowsOfEarlierEpochs()
    }

    private func deliver(_ batches: [TapeBatch]) {
        // Late: the end has been reported to all clients.
        guard !batches.isEmpty, !self.isStopped else { return }
        let first = batches.first(where: \.hasLiveTrade)
        if self.restartGap != nil, let first { self.endRestartGap(with: first) }
        let isDelivered = self.index.send(batches[...])
        for batch in batches { self.keep(batch) }
        var showings: [PriceTable.Showing] = []
        for batch in batches { showings += self.prices.take(batch) }
        self.finish(showings, delivered: isDelivered ? first?.receivedMonotonic : nil)
        self.freeRowsOfEarlierEpochs()
    }

    /// Keeps a batch for later requests.
    func keep(_ batch: TapeBatch) {
        guard !batch.trades.isEmpty else { return }
        if !self.resuming.isEmpty { self.makeRoom(for: batch) }
        self.ring.append(batch, behind: self.kept.seam?.epoch == batch.epoch ? self.kept.seam : nil)
        if batch.hasLiveTrade { self.lastArrival = (batch.received, batch.receivedMonotonic) }
        self.countBars(batch)
    }

    /// Shows the prices of the batches, and flushes what was written.
    ///
    /// - Parameter delivered: the arrival of the oldest batch with trades for a session, monotonic ns. One latency is
    ///   recorded per flush, once its last client is served.
    private func finish(_ showings: [PriceTable.Showing], delivered: Int64?) {
        for row in self.prices.takeAppeared() { self.appeared(row) }
        self.show(showings)
        self.flush()
        if let delivered {
            self.delivered.record(nanoseconds: self.monotonic - delivered)
        }
        self.armActivityTimer()
    }

    /// Reports to the resuming sessions which trades are about to leave the ring.
    private func makeRoom(for batch: TapeBatch) {
        let lower = max(
            self.ring.lowerBound(after: batch),
            self.ring.lowerBound(at: batch.receivedMonotonic)
        )
        for session in self.resuming.values { session.tradesEvicted(below: lower, by: batch) }
    }

    /// Drops the trades that are too old by now, and reports this to the resuming sessions.
    func expireRing() {
        if !self.resuming.isEmpty {
            let lower = self.ring.lowerBound(at: self.monotonic)
            for session in self.resuming.values { session.tradesEvicted(below: lower, by: nil) }
        }
        self.ring.expire(now: self.monotonic)
    }

    /// Takes in one event, after those before it.
    package func take(_ event: RelayEvent) {
        guard !self.isStopped else { return }
        switch event {
        case .batch(let batch):
            self.take(batch)
            return
        case .epochBegan(let epoch, let first):
            self.epochBegan(epoch, first: first)
        case .status(let status):
            self.changeStatus { $0.status = status }
        case .gap(let gap):
            self.gapFound(gap)
        case .settled(let outcome):
            self.gapSettled(outcome)
        case .symbol(let status):
            self.symbolChanged(status)
        case .day(let day):
            self.dayChanged(day)
        case .unsubscribed(let symbol):
            self.days[symbol] = nil
            self.released(symbol)
        case .lost(let loss):
            self.lost(loss)
        }
        self.flush()
    }

    /// Shows the prices that were held back, forgets which symbol each number means, and reports a new epoch within
    /// the run: a client that knows trades by their numbers must learn that these begin anew.
    private func epochBegan(_ epoch: UInt64, first: UInt64) {
        let isSeam = self.ring.epoch.map { $0 != epoch } ?? false
        self.index.epochBegan()
        self.bars.epochBegan()
        self.show(self.prices.epochBegan(epoch))
        guard isSeam else { return }
        let now = self.wallClock()
        let seam = Gap(from: now, to: now, reason: "the numbers begin anew", nextSequence: first, epoch: epoch)
        let message = self.message()
        for session in Array(self.sessions.values) { session.epochChanged(seam, message) }
    }

    /// Reports a symbol's status. A refused symbol keeps its subscribers: each gets the refusal once, and a later
    /// acceptance as well.
    private func symbolChanged(_ status: SymbolStatus) {
        // No more than the feed subscribes to.
        self.symbolStates[status.symbol] = status
        let isRecalled = self.releasedSince.removeValue(forKey: status.symbol) != nil
        // A session that follows all symbols also learns of one that never trades.
        _ = self.row(of: status.symbol)
        // Before the status, because an earlier price must not make a symbol live that was just subscribed. Also before
        // the status takes its message number, since numbers grow.
        if isRecalled { for session in self.index.allFollowers { session.symbolRecalled(status.symbol) } }
        let message = self.message()
        for session in self.index.sessions(of: status.symbol) { session.symbolChanged(status, message) }
        guard status.isRefused else { return self.index.noteAccepted(status.symbol) }
        for session in self.index.subscribers(of: status.symbol) { self.reportRefusal(of: status.symbol, to: session) }
    }

    /// Reports to a session, once, that the upstream refuses a symbol to which it has subscribed.
    func reportRefusal(of symbol: String, to session: any RelayProtocol) {
        guard let reason = self.refusal(of: symbol), self.index.noteRefusal(of: symbol, to: session) else { return }
        session.symbolRefused(symbol, reason: reason)
    }

    /// Returns the upstream's refusal of a symbol, as it is reported to its subscribers; `nil` if it is not refused.
    func refusal(of symbol: String) -> String? {
        guard let status = self.symbolStates[symbol], status.isRefused else { return nil }
        return status.reason ?? SymbolErrors.invalid(symbol)
    }

    func gapFound(_ gap: Gap) {
        if gap.movesClock { self.settled.clockMoved() }
        self.index.interrupted(gap.symbol)
        if gap.symbol == nil { self.kept.seam = gap }
        let marked = self.markBars(gap)
        let message = self.message()
        let sessions = gap.symbol.map { self.index.sessions(of: $0) } ?? Array(self.sessions.values)
        for session in sessions { session.gapFound(gap, message) }
        self.sendBars(marked: marked)
    }

    /// Reports the outcome of a gap, and publishes again the bars that are complete now.
    private func gapSettled(_ outcome: GapOutcome) {
        let completed = self.completeBars(outcome)
        let message = self.message()
        for session in self.index.sessions(of: outcome.symbol) { session.gapSettled(outcome, message) }
        self.sendBars(marked: completed)
    }

    private func dayChanged(_ day: VenueDay) {
        // No more than the feed subscribes to.
        self.days[day.symbol] = day
        let message = self.message()
        for session in self.index.sessions(of: day.symbol) { session.dayChanged(day, message) }
    }

    private func lost(_ loss: RelayLoss) {
        self.counters.skipped.relay.increment(by: Int64(clamping: loss.count { _ in true }))
        self.logger.error(
            "The relay was too late to take all trades",
            metadata: ["lost": "\(loss.count { _ in true })"]
        )
        self.prices.lost(loss)
        for session in self.sessions.values { session.tradesLost(loss) }
        let reason = "the relay was too busy to take all trades"
        self.gapFound(Gap(from: loss.from, to: loss.to, reason: reason, nextSequence: loss.nextSequence))
    }
}
