package import Market
package import NIOCore
package import Wire

/// The way onto the tape of trades that another program has judged and numbered, as the ingest of a cluster does. The
/// tape has the same numbers then.
///
/// Belongs to the tape's event loop. It decides nothing about repeats and gaps: the other program has. A tape with such
/// an input has no other one.
package final class NumberedInput {
    private let tape: TapeWriter
    private var reader = FrameReader()

    package init(_ tape: TapeWriter) { self.tape = tape }

    /// The position of the tape's newest trade.
    package var position: TapePosition {
        TapePosition(epoch: self.tape.epoch, sequence: self.tape.nextSequence - 1)
    }

    /// Continues the tape behind a trade of the other program's. With another epoch all symbols get new numbers.
    package func begin(after position: TapePosition) { self.tape.go(on: position) }

    /// Puts the trades of one read onto the tape.
    ///
    /// - Parameters:
    ///   - messages: one `trade` message of `/v1/stream` each, in the tape's order.
    ///   - received: when they arrived at the other program, by this program's wall clock, ns since 1970.
    ///   - now: monotonic, ns.
    /// - Returns: how many messages were no trades; they have no numbers.
    package func take(_ messages: [ByteBuffer], received: Int64, now: Int64) -> Int {
        var batch = TapeBatch(
            epoch: 0,
            firstSequence: 0,
            received: received,
            receivedMonotonic: now,
            trades: [],
            frames: [],
            symbols: SymbolTable()
        )
        var malformed = 0
        batch.trades.reserveCapacity(messages.count)
        batch.frames.reserveCapacity(messages.count)
        for message in messages {
            let first = batch.trades.count
            let content = self.reader.read(message, of: .tickertape, symbols: &self.tape.symbols, into: &batch.trades)
            let isWhole = content == .trades(skipped: 0)
            if !isWhole { malformed += 1 }
            batch.frames.append(
                TapeBatch.Frame(
                    bytes: message,
                    dialect: .tickertape,
                    trades: first..<batch.trades.count,
                    isWhole: isWhole,
                    isMalformed: !isWhole
                )
            )
        }
        batch.losses.malformedFrames = malformed
        batch.losses.possibleRepeats = batch.trades.count { $0.marks.contains(.possibleRepeat) }
        if batch.trades.contains(where: { $0.marks.contains(.ahead) }) { batch.aheadArrival = received }
        batch.symbols = self.tape.symbols
        self.tape.append(&batch)
        return malformed
    }

    // MARK: What is said between the trades

    package func statusChanged(_ status: FeedStatus) { self.tape.publish(status) }

    package func symbolChanged(_ status: SymbolStatus) { self.tape.symbolChanged(status) }

    package func symbolUnsubscribed(_ symbol: String) { self.tape.symbolUnsubscribed(symbol) }

    package func dayChanged(_ day: VenueDay) { self.tape.dayChanged(day) }

    package func gapSettled(_ outcome: GapOutcome) { self.tape.gapSettled(outcome) }

    /// Publishes a gap before the next trade.
    package func gapFound(_ gap: Gap) {
        var gap = gap
        gap.nextSequence = self.tape.nextSequence
        gap.epoch = self.tape.epoch
        self.tape.publish(gap)
    }
}
