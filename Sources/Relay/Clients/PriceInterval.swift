import Market
import NIOCore
import Wire

/// The timer of all clients that get prices at the same interval.
final class PriceInterval {
    var members: [ObjectIdentifier: any RelayProtocol] = [:]
    /// The number of trades of each row at the last tick of the timer.
    var taken: [UInt64]
    var timer: Scheduled<Void>?

    init(taken: [UInt64]) { self.taken = taken }
}

extension RelayHub {
    func joinInterval(_ session: any RelayProtocol, every milliseconds: Int) {
        let priceInterval: PriceInterval
        if let known = self.priceIntervals[milliseconds] {
            priceInterval = known
        } else {
            priceInterval = PriceInterval(taken: (0..<self.prices.rowCount).map { self.prices.taken(row: $0) })
            self.priceIntervals[milliseconds] = priceInterval
            self.arm(priceInterval, every: milliseconds)
        }
        priceInterval.members[ObjectIdentifier(session)] = session
    }

    func leaveInterval(_ session: any RelayProtocol, every milliseconds: Int) {
        guard let priceInterval = self.priceIntervals[milliseconds] else { return }
        priceInterval.members[ObjectIdentifier(session)] = nil
        guard priceInterval.members.isEmpty else { return }
        priceInterval.timer?.cancel()
        self.priceIntervals[milliseconds] = nil
    }

    private func arm(_ priceInterval: PriceInterval, every milliseconds: Int) {
        guard !self.isStopped else { return }
        priceInterval.timer = self.loop.assumeIsolated().scheduleTask(in: .milliseconds(Int64(milliseconds))) {
            self.fire(priceInterval, every: milliseconds)
            self.arm(priceInterval, every: milliseconds)
            self.flush()
        }
    }

    /// Sends the newest price of each symbol that has traded since the last tick.
    func fire(_ priceInterval: PriceInterval, every milliseconds: Int) {
        for row in 0..<self.prices.rowCount {
            if row == priceInterval.taken.count { priceInterval.taken.append(0) }
            let taken = self.prices.taken(row: row)
            let before = priceInterval.taken[row]
            guard taken != before else { continue }
            priceInterval.taken[row] = taken
            // A row that was given to another symbol has fewer trades than before.
            guard taken > before, let newest = self.prices.newest(row: row) else { continue }
            let update = PriceUpdate(summary: newest.summary, skipped: taken - before - 1)
            var price = EncodedPrice(update, ordinal: newest.ordinal)
            for session in Array(priceInterval.members.values) {
                session.priceShown(&price, row: row, every: milliseconds)
            }
            self.noteShown(update)
        }
    }
}
