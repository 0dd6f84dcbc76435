import Market
import NIOCore
import Wire

/// The beat at which all clients with the same interval are told prices: one timer for all of them.
final class PriceBeat {
    var members: [ObjectIdentifier: any RelayProtocol] = [:]
    /// How many trades of each row had come at the last beat.
    var taken: [UInt64]
    var timer: Scheduled<Void>?

    init(taken: [UInt64]) { self.taken = taken }
}

extension RelayHub {
    func joinBeat(_ session: any RelayProtocol, every milliseconds: Int) {
        let beat: PriceBeat
        if let known = self.beats[milliseconds] {
            beat = known
        } else {
            beat = PriceBeat(taken: (0..<self.prices.rowCount).map { self.prices.taken(row: $0) })
            self.beats[milliseconds] = beat
            self.arm(beat, every: milliseconds)
        }
        beat.members[ObjectIdentifier(session)] = session
    }

    func leaveBeat(_ session: any RelayProtocol, every milliseconds: Int) {
        guard let beat = self.beats[milliseconds] else { return }
        beat.members[ObjectIdentifier(session)] = nil
        guard beat.members.isEmpty else { return }
        beat.timer?.cancel()
        self.beats[milliseconds] = nil
    }

    private func arm(_ beat: PriceBeat, every milliseconds: Int) {
        guard !self.isStopped else { return }
        beat.timer = self.loop.assumeIsolated().scheduleTask(in: .milliseconds(Int64(milliseconds))) {
            self.strike(beat, every: milliseconds)
            self.arm(beat, every: milliseconds)
            self.flush()
        }
    }

    /// Tells the newest price of each symbol that has traded since the last beat.
    func strike(_ beat: PriceBeat, every milliseconds: Int) {
        for row in 0..<self.prices.rowCount {
            if row == beat.taken.count { beat.taken.append(0) }
            let taken = self.prices.taken(row: row)
            let before = beat.taken[row]
            guard taken != before else { continue }
            beat.taken[row] = taken
            // A row that has become another symbol's has traded less than before.
            guard taken > before, let newest = self.prices.newest(row: row) else { continue }
            let update = PriceUpdate(summary: newest.summary, skipped: taken - before - 1)
            var price = EncodedPrice(update, ordinal: newest.ordinal)
            for session in Array(beat.members.values) { session.priceShown(&price, row: row, every: milliseconds) }
            self.noteShown(update)
        }
    }
}
