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

    package init(_ tape: TapeWriter) { self.tape = tape }

    /// The position of the tape's newest trade.
    package var position: TapePosition {
        TapePosition(epoch: self.tape.epoch, sequence: self.tape.nextSequence - 1)
    }

    /// Continues the tape behind a trade of the other program's. With another epoch all symbols get new numbers.
    package func begin(after position: TapePosition) { self.tape.go(on: position) }

    /// Puts the trades of one read onto the tape, up to the first message that is not the trade with the tape's next
    /// number.
    ///
    /// - Parameters:
    ///   - messages: one `trade` message of `/v1/stream` each, in the tape's order.
    ///   - received: when they arrived at the other program, by this program's wall clock, ns since 1970.
    ///   - now: the monotonic clock at that moment, ns.
    ///   - mayRepeat: whether a trade may have been on the tape before; it is marked then.
    /// - Returns: what was put there; it has fewer trades than there are messages if some were left out.
    package func take(
        _ messages: [ByteBuffer],
        received: Int64,
        now: Int64,
        mayRepeat: (StreamTrade) -> Bool = { _ in false }
    ) -> TapeBatch {
        var batch = TapeBatch(
            epoch: 0,
            firstSequence: 0,
            received: received,
            receivedMonotonic: now,
            trades: [],
            frames: [],
            symbols: SymbolTable()
        )
        batch.trades.reserveCapacity(messages.count)
        batch.frames.reserveCapacity(messages.count)
        var next = self.tape.nextSequence
        for message in messages {
            let first = batch.trades.count
            let content = StreamMessage.parse(message)
            var isNext = false
            if case .trade(let trade) = content, trade.sequence == next, self.admits(trade.symbol) {
                isNext = content.appendTrade(to: &batch.trades, symbols: &self.tape.symbols) == .trades(skipped: 0)
                if isNext, mayRepeat(trade) { batch.trades[first].marks.insert(.possibleRepeat) }
            }
            batch.frames.append(
                TapeBatch.Frame(
                    bytes: message,
                    dialect: .tickertape,
                    trades: first..<batch.trades.count,
                    isWhole: isNext,
                    isMalformed: !isNext
                )
            )
            guard isNext else {
                batch.losses.malformedFrames = 1
                break
            }
            next += 1
        }
        batch.losses.possibleRepeats = batch.trades.count { $0.marks.contains(.possibleRepeat) }
        if batch.trades.contains(where: { $0.marks.contains(.ahead) }) { batch.aheadArrival = received }
        batch.symbols = self.tape.symbols
        self.tape.append(&batch)
        return batch
    }

    /// Whether a name has a number, or may have one.
    private func admits(_ symbol: String) -> Bool {
        self.tape.symbols.id(of: symbol) != nil || SymbolName.isValid(symbol)
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
