import Market
import NIOCore
import Wire

/// What was before this run, for clients that come back.
extension RelayHub {
    /// Takes in trades of earlier runs, the oldest run first, before the first trade of this one.
    func remember(_ runs: [RecordedTrades]) {
        let wall = self.wallClock()
        let now = self.monotonic
        // Runs are named by when they began; one that began after this one is none that came before it.
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

    /// The first trades of this run have come: how long nothing was received over the restart is known only now, and who
    /// asked before is told.
    func endRestartGap(at received: Int64) {
        guard var gap = self.restartGap else { return }
        self.restartGap = nil
        gap.to = max(gap.to, received)
        self.ring.closeEarlierGap(to: gap.to)
        self.gapFound(gap)
    }

    /// The trades of a run as reads, each of those that came together, on this run's clock.
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
            _ = arrivals.judge(&trades, received: received)
            return TapeBatch(
                epoch: run.epoch,
                firstSequence: run.first + UInt64(first),
                received: received,
                // A wall clock that was set back makes nothing younger than now.
                receivedMonotonic: now - max(0, wall - received),
                trades: trades,
                frames: [],
                symbols: run.symbols
            )
        }
    }
}
