package import Market

/// One trade of a recording, with its number.
package struct RecordedTrade: Sendable, Equatable {
    package var trade: Trade
    package var sequence: UInt64

    package init(trade: Trade, sequence: UInt64) {
        self.trade = trade
        self.sequence = sequence
    }
}

extension RecordedNumbers {
    /// Marks possible repeats, early and filled trades among all trades of a frame's text, and removes those that are not on
    /// the tape.
    ///
    /// - Returns: `false`, without a change, where these numbers do not belong to that text.
    package func apply(to trades: inout [Trade]) -> Bool {
        guard self.apply(toAll: &trades) else { return false }
        for place in self.leftOut.reversed() { trades.remove(at: place) }
        return true
    }

    /// Marks as ``apply(to:)`` does, but keeps the trades that are not on the tape and marks them as repeats: the tape
    /// left them out because, as far as it could know, they had come before.
    package func apply(toAll trades: inout [Trade]) -> Bool {
        guard trades.count - self.leftOut.count == self.count else { return false }
        if let last = self.leftOut.last, last >= trades.count { return false }
        if let last = self.possibleRepeats.last, last >= trades.count { return false }
        if let last = self.ahead.last, last >= trades.count { return false }
        if let last = self.filled.last, last >= trades.count { return false }
        for place in self.possibleRepeats { trades[place].marks.insert(.possibleRepeat) }
        for place in self.leftOut { trades[place].marks.insert(.possibleRepeat) }
        for place in self.ahead { trades[place].marks.insert(.ahead) }
        for place in self.filled { trades[place].marks.insert(.filled) }
        return true
    }
}

extension RecordedFrame {
    /// Returns the frame's trades that are on the tape, with their numbers; `nil` where it has no numbers, or they do
    /// not match its text.
    package func numberedTrades(_ reader: inout FrameReader, symbols: inout SymbolTable) -> [RecordedTrade]? {
        guard let numbers = self.numbers else { return nil }
        var trades: [Trade] = []
        _ = reader.read(self.frame, of: self.dialect, symbols: &symbols, into: &trades)
        guard numbers.apply(to: &trades) else { return nil }
        return trades.enumerated().map {
            RecordedTrade(trade: $0.element, sequence: numbers.first &+ UInt64($0.offset))
        }
    }
}
