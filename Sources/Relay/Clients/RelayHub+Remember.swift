import Market
import NIOCore
import Wire

/// The trades of earlier runs, for clients that resume.
extension RelayHub {
    /// Takes in trades of earlier runs, the oldest run first. Called before the first trade of this run.
    func remember(_ runs: [RecordedTrades]) {
        let wall = self.wallClock()
        let now = self.monotonic
        // A run's epoch is the time of its beginning. A run with a later epoch did not precede this one.
        let earlier = runs.filter { $0.epoch < self.ring.epoch ?? .max && !$0.trades.isEmpty }
        for (index, run) in earlier.enumerated() {
            let next = index + 1 < earlier.count ? earlier[index + 1] : nil
            let gap = Gap(
                from: run.received.last ?? wall,
                to: next?.received.first ?? wall,
                reason: "tickertape was restarted",
                nextSequence: next?.first ?? 1,
                epoch: next?.epoch ?? self.ring.epoch ?? 0
            )
            self.ring.preload(Self.batches(of: run, wall: wall, now: now), gap: gap)
            if next == nil { self.restartGap = gap }
        }
    }

    /// Closes the gap of the restart when the first trades of this run have come. Its end is known only now, and the
    /// gap is reported to the clients that connected before.
    func endRestartGap(with batch: TapeBatch) {
        guard var gap = self.restartGap else { return }
        self.restartGap = nil
        gap.to = max(gap.to, batch.received)
        // An edge has the numbers of its ingest.
        if gap.epoch != batch.epoch { (gap.nextSequence, gap.epoch) = (batch.firstSequence, batch.epoch) }
        self.ring.closeEarlierGap(gap)
        self.gapFound(gap)
    }

    /// Returns the trades of a run as batches by arrival time, on this run's clock.
    private static func batches(of run: RecordedTrades, wall: Int64, now: Int64) -> some Sequence<TapeBatch> {
        var first = 0
        var arrivals = ArrivalCheck()
        return AnyIterator { () -> TapeBatch? in
            guard first < run.trades.count else { return nil }
            let received = run.received[first]
            var end = first + 1
            while end < run.trades.count, run.received[end] == received { end += 1 }
            defer { first = end }
            var trades = Array(run.trades[first..<end])
            if trades.allSatisfy(\.isFilled) {
                _ = arrivals.judgeEarlier(&trades, received: received)
            } else {
                _ = arrivals.judge(&trades, received: received)
            }
            return TapeBatch(
                epoch: run.epoch,
                firstSequence: run.first + UInt64(first),
                received: received,
                // If the wall clock was set back, no trade is younger than now.
                receivedMonotonic: now - max(0, wall - received),
                trades: trades,
                frames: [],
                symbols: run.symbols
            )
        }
    }
}
